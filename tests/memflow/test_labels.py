"""Labels of results that are of no language model or of no embedding model."""

from factories import score

from memflow.chat.scripted import LABEL
from memflow.labels import HASHED, HASHED_CAVEAT, caveat_of, meta_label, score_label

REAL, HASHING = score(embedder="bge-m3", scripted=False), score(embedder="hashing-256", scripted=False)
SCRIPTED = score(embedder="hashing-256", scripted=True)


def test_score_label_is_none_without_scripted_chat_and_hashing_embedder() -> None:
    assert score_label([REAL, score(scripted=False)]) is None
    assert score_label([]) is None


def test_score_label_names_the_hashing_embedder_of_a_language_model() -> None:
    assert score_label([REAL, HASHING]) == HASHED


def test_score_label_of_the_scripted_chat_has_priority_over_the_hashed_embedder() -> None:
    assert score_label([HASHING, SCRIPTED]) == LABEL


def test_meta_label_equals_the_label_of_the_scores() -> None:
    assert meta_label([{"scripted": "no", "embedder": "bge-m3"}, {"scripted": "no"}]) is None
    assert meta_label([{"scripted": "no", "embedder": "hashing-64"}]) == HASHED
    assert meta_label([{"scripted": "yes", "embedder": "hashing-64"}]) == LABEL


def test_caveat_of_returns_the_given_text_only_for_the_scripted_label() -> None:
    assert caveat_of(LABEL, "text for the scripted chat") == "text for the scripted chat"
    assert caveat_of(HASHED, "text for the scripted chat") == HASHED_CAVEAT
