"""The encoder of BERTScore from a local folder of weights: implements memflow.metrics.bertscore.Encoder.

Transformers (the extra `bert`) loads the weights on first use; nothing is downloaded.
"""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from memflow.errors import BadSettings, MissingData
from memflow.fingerprint import digest
from memflow.metrics.bertscore import Vectors
from memflow.resources.files.checksums import checksums

BEST_LAYERS = {
    "roberta-base": 10,
    "roberta-large": 17,
    "bert-base-chinese": 8,
    "bert-base-uncased": 9,
    "deberta-xlarge-mnli": 40,
}
"""The layer of each model whose scores correlate best with human judgments, from the bert-score package."""
BATCH = 16
"""Texts per forward pass."""


class FolderEncoder:
    """A transformers encoder (BERT, RoBERTa, DeBERTa) in a local folder. Its output is that of one layer."""

    def __init__(self, folder: str | Path, name: str = "", layer: int | None = None) -> None:
        """Set the folder of weights, the model name (default: the folder's) and the layer (default: BEST_LAYERS).

        Raises MissingData if the folder is missing, BadSettings if BEST_LAYERS does not contain the model.
        """
        self.folder = Path(folder).expanduser()
        if not self.folder.is_dir():
            raise MissingData(
                f"the folder {self.folder} does not exist. Fix `folder` under [encoder] in memflow.toml."
            )
        self.name = name or self.folder.name
        if layer is None and self.name not in BEST_LAYERS:
            raise BadSettings(
                f"the BERTScore layer of {self.name} is unknown. Set `layer` under [encoder] in "
                f"memflow.toml, or set `name` to one of {', '.join(BEST_LAYERS)}."
            )
        self.layer = BEST_LAYERS[self.name] if layer is None else layer
        self.fingerprint = digest("encoder", self.layer, checksums(self.folder))
        self._loaded: tuple[Any, Any, int] | None = None

    async def encode(self, texts: Sequence[str]) -> list[Vectors]:
        """Return the unit vectors of each text's tokens, of shape (tokens, dimensions), computed in a thread.

        Longer texts are truncated to the model's maximum. Raises BadSettings if the extra `bert` is not installed, or
        if the model has no such layer.
        """
        return await asyncio.to_thread(self._encode, list(texts))

    def _encode(self, texts: list[str]) -> list[Vectors]:
        if self._loaded is None:
            self._loaded = self._load()
        import torch

        tokenizer, model, longest = self._loaded
        # RoBERTa's tokenizer marks the start of a word by the space before it.
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
                "BERTScore needs torch and transformers, which are not installed. Install memflow-bench[bert], "
                "or remove [encoder] from memflow.toml."
            ) from error
        config = AutoConfig.from_pretrained(self.folder, local_files_only=True)
        if not 1 <= self.layer <= config.num_hidden_layers:
            raise BadSettings(
                f"{self.name} has {config.num_hidden_layers} layers, but `layer` is {self.layer}. Fix "
                "`layer` under [encoder] in memflow.toml."
            )
        tokenizer = AutoTokenizer.from_pretrained(self.folder, local_files_only=True)
        model = AutoModel.from_pretrained(
            self.folder, local_files_only=True, num_hidden_layers=self.layer
        ).eval()
        model.to("cuda" if torch.cuda.is_available() else "cpu")
        # RoBERTa numbers positions from the one after its padding token.
        first = config.pad_token_id + 1 if config.model_type == "roberta" else 0
        return tokenizer, model, min(tokenizer.model_max_length, config.max_position_embeddings - first)
