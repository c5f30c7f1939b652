"""Checks of noise: inserted noise passes, and noise with an answer fails."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from factories import entity, probe
from membench_noise import domain, said, units

from memflow.benchmarks.domains import Domain
from memflow.benchmarks.membench.checks import EXPECTED
from memflow.benchmarks.membench.noise.insertion import insert_noise
from memflow.benchmarks.membench.turns import is_noise
from memflow.benchmarks.registry import expectations
from memflow.checks.evaluation import check_rows
from memflow.records import Turn

NAMES = {rule.name for rule in EXPECTED}
NAME = "life-7/simple/roles/0"
LONG = domain(150)
PROBE = probe(
    domain="longer", probe_id=f"{NAME}/q0", episode_id=NAME, category="simple",
    options=["Boston, MA", "Miami, FL", "Reno, NV", "Utica, NY"], revealed="Boston, MA", evidence=[f"{NAME}/0.1u"],
)  # fmt: skip
AUNT = entity(domain="longer", user_id="life-7", name="Clara Jennings", attributes="{}")


def made(of: Domain = LONG) -> list[Turn]:
    before = said([3, 3], NAME)
    evidence = replace(before[1], exposes='{"entity": "aunt", "attribute": "hobby", "value": "rowing"}')
    return insert_noise(of, [before[0], evidence, *before[2:]], units(30))


def failed(turns: Sequence[Turn], of: Domain = LONG) -> list[str]:
    tables = {"utterance.turns": turns, "question.probes": [PROBE], "state.entities": [AUNT]}
    found = []
    for table in ("utterance.turns", "question.probes"):
        expected = [rule for rule in expectations("membench") if rule.table == table and rule.name in NAMES]
        found += check_rows(table, tables[table], expected, tables.__getitem__, of)
    return [outcome.name for outcome in found if not outcome.passed]


@pytest.mark.parametrize("between", ["sessions", "messages"])
def test_inserted_noise_passes_noise_checks(between: str) -> None:
    of = domain(150, between)
    assert failed(made(of), of) == []


def noise(turns: Sequence[Turn], text: str) -> list[Turn]:
    """Replace the text of the first noise message."""
    at = next(at for at, turn in enumerate(turns) if is_noise(turn.message_id))
    return [*turns[:at], replace(turns[at], text=text), *turns[at + 1 :]]


CONTRADICTS = "inserted_noise_contains_no_answer"


@pytest.mark.parametrize(
    "text",
    [
        "A firm in Boston, MA has closed.",  # The right option.
        "The road to Reno NV is shut.",  # A wrong one.
        "Rowing was on the news.",  # What evidence tells.
        "A certain Clara Jennings won.",  # A person of the user's life.
    ],
)
def test_noise_check_finds_noise_with_option_evidence_value_or_person_name(text: str) -> None:
    assert failed(noise(made(), text)) == [CONTRADICTS]
