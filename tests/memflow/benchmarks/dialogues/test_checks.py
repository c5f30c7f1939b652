"""The checks of the benchmark find rows that do not fit together."""

from dataclasses import replace

import pytest
from factories import probe, turn

from memflow.benchmarks.dialogues.checks import EXPECTED, misplaced_probes
from memflow.benchmarks.dialogues.probes import OpenGold
from memflow.checks.rules import EachRow

TURNS = [
    turn(episode_id=name.partition("/")[0], message_id=name, checkpoint=checkpoint, event=event)
    for name, checkpoint, event in (("ana/1", 0, 0), ("ana/2", 0, 1), ("ana/3", 1, 2), ("ben/1", 0, 0))
]
PROBE = probe(episode_id="ana", kind="open", metric="answer_f1", evidence=["ana/2"])


@pytest.mark.parametrize(
    ("changes", "wrong"),
    [
        ({}, False),
        ({"after": "ana/2"}, False),
        ({"after": "ana/1"}, True),
        ({"after": "ana/9"}, True),
        ({"after": "ben/1", "evidence": []}, True),
        ({"evidence": ["ana/3"]}, True),
        ({"evidence": ["ana/3"], "checkpoint": 1}, False),
        ({"evidence": ["ana/3"], "reason": "invalid"}, False),
    ],
)
def test_evidence_and_place_of_a_probe_are_in_the_dialogue_before_it(
    changes: dict[str, object], wrong: bool
) -> None:
    assert misplaced_probes([replace(PROBE, **changes)], TURNS) == ([0] if wrong else [])


@pytest.mark.parametrize(
    ("gold", "options", "valid"),
    [
        ("x", [], True),
        (OpenGold(("a", "b")).packed(), [], True),
        (OpenGold(abstain=True).packed(), [], True),
        (OpenGold(("a",), "r", True).packed(), [], False),
        ("2", ["a", "b"], True),
        ("3", ["a", "b"], False),
        ("b", ["a", "b"], False),
    ],
)
def test_gold_is_an_option_or_answers_or_no_answer(gold: str, options: list[str], valid: bool) -> None:
    [rule] = [each.rule for each in EXPECTED if each.name == "gold_answers_are_valid"]
    assert isinstance(rule, EachRow)
    assert rule.holds(replace(PROBE, gold=gold, options=options)) is valid
