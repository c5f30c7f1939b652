"""The BERTScore encoder, with a tiny model of random weights."""

import asyncio
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memflow.errors import BadSettings, MissingData
from memflow.resources.metric_backends.encoder import BEST_LAYERS, FolderEncoder

WORDS = ("the", "cat", "sat", "on", "a", "mat", "dog", "ran", "home")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a BERT with 3 layers and random weights, as transformers writes it."""
    torch = pytest.importorskip("torch", reason="torch is not installed (the extra bert)")
    transformers = pytest.importorskip(
        "transformers", reason="transformers is not installed (the extra bert)"
    )
    folder = tmp_path_factory.mktemp("encoders") / "tiny"
    folder.mkdir()
    (folder / "vocab.txt").write_text(
        "\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS]) + "\n"
    )
    torch.manual_seed(7)
    config = transformers.BertConfig(
        vocab_size=5 + len(WORDS),
        hidden_size=16,
        num_hidden_layers=3,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=12,
    )
    transformers.BertModel(config).save_pretrained(folder)
    transformers.BertTokenizerFast(str(folder / "vocab.txt")).save_pretrained(folder)
    return folder


def states(folder: Path, text: str, layer: int) -> Any:
    """Return the hidden states of a layer, computed with the complete model."""
    import torch
    from transformers import AutoModel, AutoTokenizer

    batch = AutoTokenizer.from_pretrained(folder)(text, return_tensors="pt")
    with torch.inference_mode():
        model = AutoModel.from_pretrained(folder).eval()
        found = model(**batch, output_hidden_states=True).hidden_states[layer][0].numpy()
    return found / np.linalg.norm(found, axis=1, keepdims=True)


@pytest.mark.parametrize("layer", [1, 2, 3])
def test_encoder_returns_unit_vectors_of_the_configured_layer(folder: Path, layer: int) -> None:
    encoder = FolderEncoder(folder, layer=layer)
    texts = ["the cat sat on a mat", "a dog", " the cat ran home\n", ""]
    vectors = asyncio.run(encoder.encode(texts))
    assert [len(one) for one in vectors] == [8, 4, 6, 2]  # words, [CLS], [SEP]
    for text, one in zip(texts, vectors, strict=True):
        assert one.dtype == np.float32
        np.testing.assert_allclose(np.linalg.norm(one, axis=1), 1, rtol=1e-5)
        np.testing.assert_allclose(one, states(folder, text, layer), atol=1e-5)


def test_encoder_truncates_a_long_text_and_rejects_a_missing_layer(folder: Path) -> None:
    encoder = FolderEncoder(folder, layer=1)
    assert [len(one) for one in asyncio.run(encoder.encode(["cat " * 40, "cat"]))] == [12, 3]
    with pytest.raises(BadSettings, match="has 3 layers, but `layer` is 9"):
        asyncio.run(FolderEncoder(folder, name="bert-base-uncased", layer=9).encode(["cat"]))


def test_encoder_requires_a_layer_setting_except_for_published_models(tmp_path: Path) -> None:
    for name in BEST_LAYERS:
        (tmp_path / name).mkdir()
        assert FolderEncoder(tmp_path / name).layer == BEST_LAYERS[name]
    published = {"roberta-base": 10, "bert-base-chinese": 8, "deberta-xlarge-mnli": 40}
    assert published.items() <= BEST_LAYERS.items()
    assert FolderEncoder(tmp_path, name="roberta-base").name == "roberta-base"
    with pytest.raises(BadSettings, match="the BERTScore layer of"):
        FolderEncoder(tmp_path)
    with pytest.raises(MissingData, match=r"the folder .* does not exist"):
        FolderEncoder(tmp_path / "none")


def test_encoder_fingerprint_covers_weights_and_layer(tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").write_text("weights")
    one = FolderEncoder(tmp_path, layer=1).fingerprint
    assert FolderEncoder(tmp_path, name="renamed", layer=1).fingerprint == one
    assert FolderEncoder(tmp_path, layer=2).fingerprint != one
    (tmp_path / "model.safetensors").write_text("others")
    assert FolderEncoder(tmp_path, layer=1).fingerprint != one


async def test_missing_torch_error_names_bert_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(BadSettings, match=r"memflow-bench\[bert\]"):
        await FolderEncoder(tmp_path, layer=1).encode(["a"])
