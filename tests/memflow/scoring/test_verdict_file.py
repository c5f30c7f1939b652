"""Files of verdicts: content, damage, and values for a comparison."""

import numpy as np
import pytest
from factories import probe, verdict

from memflow.errors import BadInput
from memflow.scoring.measures import VerdictValues
from memflow.scoring.verdict_file import Evaluated, parse_verdicts, probes_digest, verdict_text, with_file

PROBES = [
    probe(probe_id=f"q{at}", episode_id=f"e{at % 2}", question=f"question {at}", gold=f"gold {at}")
    for at in range(4)
]
SLICES = {"all": frozenset(each.probe_id for each in PROBES), "first": frozenset({"q0"})}


def text(**changes: object) -> str:
    verdicts = [
        verdict(
            probe_id=each.probe_id, episode_id=each.episode_id, metric=metric, variant=variant, value=value
        )
        for each, value in zip(PROBES, (1.0, 0.0, None, 0.25), strict=True)
        for metric, variant in (("accuracy", "standard"), ("accuracy", "judge_x"))
    ]
    evaluated = Evaluated(
        memflow="1", benchmark="comem", domain="d", assistant="full", model="m", scripted=False, inputs={},
        settings={}, probes=probes_digest(PROBES), health=None,
    )  # fmt: skip
    return verdict_text(evaluated.model_copy(update=changes), verdicts, SLICES)


def test_file_has_verdicts_with_slices_and_no_text_of_the_data_set() -> None:
    file = parse_verdicts(text(), "f")
    assert file.header.domain == "d"
    assert [(line.probe_id, line.variant, line.value) for line in file.lines][:4] == [
        ("q0", "judge_x", 1.0), ("q0", "standard", 1.0), ("q1", "judge_x", 0.0), ("q1", "standard", 0.0),
    ]  # fmt: skip
    assert sorted(file.lines[0].slices) == ["all", "first"]
    assert "question 0" not in text() and "gold 0" not in text()


def test_file_is_the_same_for_the_same_verdicts_and_survives_other_line_ends() -> None:
    assert text() == text()
    assert parse_verdicts(text().replace("\n", "\r\n"), "f") == parse_verdicts(text(), "f")


def test_digest_of_probes_changes_with_gold_and_not_with_order() -> None:
    assert probes_digest(PROBES) == probes_digest(PROBES[::-1])
    changed = [probe(probe_id="q0", episode_id="e0", question="question 0", gold="other"), *PROBES[1:]]
    assert probes_digest(PROBES) != probes_digest(changed)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda whole: "", "f is no file of verdicts: line 1"),
        (lambda whole: "{}\n", "f is no file of verdicts: line 1, memflow"),
        (lambda whole: whole.replace("memflow verdicts", "memflow transcript"), "line 1, format"),
        (lambda whole: whole.replace('"version": 1', '"version": 2'), "line 1, version"),
        (lambda whole: whole[: len(whole) // 2], "it has 3 verdicts, but its first line states 8"),
        (lambda whole: whole.replace('"value": 0.25', '"value": 0.75'), "do not match the content hash"),
    ],
)
def test_damaged_file_is_refused_with_the_reason(damage, message: str) -> None:
    with pytest.raises(BadInput, match="`memflow export verdicts") as refused:
        parse_verdicts(damage(text()), "f")
    assert message in str(refused.value)


def test_values_of_a_file_are_those_of_a_further_assistant() -> None:
    stored = VerdictValues(PROBES, ["new"], ["m"], [None], {"f1": np.array([[1.0, 1.0, 1.0, 1.0]])})
    values = with_file(stored, parse_verdicts(text(), "f"), "old", "standard")
    assert values.assistants == ["new", "old"] and values.oracles == [None, None]
    np.testing.assert_array_equal(values.values["accuracy"][1], [1.0, 0.0, np.nan, 0.25])
    assert np.isnan(values.values["accuracy"][0]).all() and np.isnan(values.values["f1"][1]).all()
    assert set(with_file(stored, parse_verdicts(text(), "f"), "old", "judge_y").values) == {"f1"}
