"""Labels of results that are of no language model or of no embedding model."""

from dataclasses import replace

from factories import score

from memflow.chat.scripted import LABEL
from memflow.labels import HASHED, HASHED_CAVEAT, JUDGED, caveat_of, meta_label, score_label, score_notes
from memflow.labels import score_qualifiers as qualifiers

REAL = score(assistant="a", metric="accuracy", embedder="bge-m3", scripted=False)
HASHING = replace(REAL, embedder="hashing-256")
SCRIPTED = replace(HASHING, scripted=True)
HASHING_RECALL = replace(HASHING, metric="evidence_recall")


def test_score_label_is_none_without_scripted_chat_and_hashing_embedder() -> None:
    assert score_label([REAL, score(scripted=False)]) is None
    assert score_label([]) is None


def test_score_label_names_the_hashing_embedder_of_a_language_model() -> None:
    assert score_label([HASHING]) == HASHED


def test_score_label_of_the_scripted_chat_has_priority_over_the_hashed_embedder() -> None:
    assert score_label([SCRIPTED, HASHING_RECALL]) == LABEL


def test_score_label_names_the_assistants_for_which_it_holds() -> None:
    rag = replace(REAL, assistant="rag")
    assert score_label([rag, SCRIPTED, replace(HASHING, assistant="embed")]) == f"{LABEL}: a; {HASHED}: embed"
    assert score_label([rag, replace(SCRIPTED, domain="demo")]) == f"{LABEL}: demo/a"


def test_score_label_of_a_scripted_judge_differs_from_that_of_a_scripted_chat() -> None:
    judged = replace(SCRIPTED, metric="quality")
    assert score_label([REAL, judged]) == JUDGED
    assert "measure no model" in caveat_of(JUDGED, "text for the scripted chat")


def test_qualifiers_of_a_score_say_judged_where_a_real_model_answered() -> None:
    real = replace(REAL, value=0.5)
    judged = replace(real, metric="quality", scripted=True)
    assert qualifiers(judged, [real, judged]) == [JUDGED]
    assert qualifiers(real, [real, judged]) == []
    assert qualifiers(judged, [judged]) == [LABEL]


def test_meta_label_equals_the_label_of_the_scores() -> None:
    assert meta_label([{"scripted": "no", "embedder": "bge-m3"}, {"scripted": "no"}]) is None
    assert meta_label([{"scripted": "no", "embedder": "hashing-64"}]) == HASHED
    assert meta_label([{"scripted": "no", "scripted_judge": "yes"}]) == JUDGED
    assert meta_label([{"scripted": "yes", "embedder": "hashing-64"}]) == LABEL


def test_caveat_of_returns_the_given_text_only_for_the_scripted_label() -> None:
    assert caveat_of(LABEL, "text for the scripted chat") == "text for the scripted chat"
    assert caveat_of(HASHED, "text for the scripted chat") == HASHED_CAVEAT


def test_interval_notes_state_units_and_reasons_once() -> None:
    rows = [
        score(metric="accuracy", assistant=name, interval_reason="2 episodes", interval_units="cases")
        for name in ("a", "b")
    ]
    assert score_notes(rows) == [
        "95 % intervals are over episodes, but of accuracy over cases.",
        "No interval: accuracy (2 episodes).",
    ]
    assert score_notes([score(metric="accuracy", interval_units="episodes")]) == []


def test_score_notes_state_why_a_value_is_missing_unless_the_memory_is_faulty() -> None:
    missing = [
        score(metric="accuracy", assistant="a", value=None, reason="no verdict"),
        score(metric="accuracy", assistant="b", value=None, reason="not measured", health="faulty"),
    ]
    assert score_notes(missing) == ["No value: accuracy (no verdict)."]
