"""The encoder of BERTScore from a local folder of weights, keeping memflow.metrics.bertscore.Encoder.

It is loaded at the first use, by transformers (the extra `bert`), and never downloaded.
"""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from memflow.errors import BadSettings, MissingData
from memflow.fingerprint import digest
from memflow.metrics.bertscore import Vectors
from resources.checksums import checksums

BEST_LAYERS = {
    "roberta-base": 10,
    "roberta-large": 17,
    "bert-base-chinese": 8,
    "bert-base-uncased": 9,
    "deberta-xlarge-mnli": 40,
}
"""The layer of each model whose scores agree best with people's, from bert-score's table."""
BATCH = 16
"""Texts of one pass through the model."""


class FolderEncoder:
    """A transformers encoder (BERT, RoBERTa, DeBERTa) in a local folder, cut off above one of its layers."""

    def __init__(self, folder: str | Path, name: str = "", layer: int | None = None) -> None:
        """`name` is the folder's where it is empty, `layer` that of LAYERS where it is None.

        Raises MissingData where the folder is not there, BadSettings for a model that LAYERS does not have.
        """
        self.folder = Path(folder).expanduser()
        if not self.folder.is_dir():
            raise MissingData(f"{self.folder} is not there; [encoder] names folders of transformers weights")
        self.name = name or self.folder.name
        if layer is None and self.name not in BEST_LAYERS:
            raise BadSettings(
                f"which layer of {self.name} is to be used? Set `layer`, or `name` to one of {', '.join(BEST_LAYERS)}"
            )
        self.layer = BEST_LAYERS[self.name] if layer is None else layer
        self.fingerprint = digest("encoder", self.layer, checksums(self.folder))
        self._loaded: tuple[Any, Any, int] | None = None

    async def encode(self, texts: Sequence[str]) -> list[Vectors]:
        """A unit vector for each token of each text, made in a thread beside the event loop. A text that is longer than
        the model takes is cut at its end. Raises BadSettings without the extra, or for a layer that is not there."""
        return await asyncio.to_thread(self._encode, list(texts))

    def _encode(self, texts: list[str]) -> list[Vectors]:
        if self._loaded is None:
            self._loaded = self._load()
        import torch

        tokenizer, model, longest = self._loaded
        # Byte-pair models of RoBERTa's kind know a word by the space before it.
        before = " " if model.config.model_type == "roberta" else ""
        stripped = [before + text.strip() if text.strip() else "" for text in texts]
        vectors: dict[int, Vectors] = {}
        by_length = sorted(range(len(texts)), key=lambda place: len(stripped[place]))
        for start in range(0, len(texts), BATCH):
            places = by_length[start : start + BATCH]
            batch = tokenizer(
                [stripped[place] for place in places],
                padding=True,
                truncation=True,
                max_length=longest,
                return_tensors="pt",
            ).to(model.device)
            with torch.inference_mode():
                states = model(**batch).last_hidden_state.float()
            states = torch.nn.functional.normalize(states, dim=-1).cpu().numpy()
            there = batch["attention_mask"].bool().cpu().numpy()
            vectors.update((place, states[row][there[row]]) for row, place in enumerate(places))
        return [vectors[place] for place in range(len(texts))]

    def _load(self) -> tuple[Any, Any, int]:
        try:
            import torch
            from transformers import AutoConfig, AutoModel, AutoTokenizer
        except ImportError as error:
            raise BadSettings(
                "BERTScore needs torch and transformers; install memflow[bert], or take [encoder] out of memflow.toml"
            ) from error
        config = AutoConfig.from_pretrained(self.folder, local_files_only=True)
        if not 1 <= self.layer <= config.num_hidden_layers:
            raise BadSettings(f"{self.name} has {config.num_hidden_layers} layers, not {self.layer}")
        tokenizer = AutoTokenizer.from_pretrained(self.folder, local_files_only=True)
        model = AutoModel.from_pretrained(
            self.folder, local_files_only=True, num_hidden_layers=self.layer
        ).eval()
        model.to("cuda" if torch.cuda.is_available() else "cpu")
        # RoBERTa numbers positions from behind its padding token.
        first = config.pad_token_id + 1 if config.model_type == "roberta" else 0
        return tokenizer, model, min(tokenizer.model_max_length, config.max_position_embeddings - first)
