"""Checks of noise: inserted noise passes, and each corruption fails its check."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest
from factories import entity, probe
from membench_noise import domain, said, units

from memflow.benchmarks.domains import Domain
from memflow.benchmarks.membench.checks.noise import EXPECTED
from memflow.benchmarks.membench.noise.insertion import insert_noise
from memflow.benchmarks.membench.turns import is_noise
from memflow.checks.evaluation import check_rows
from memflow.checks.rules import of_benchmark
from memflow.records import Turn

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
        expected = [each for each in of_benchmark("membench", EXPECTED) if each.table == table]
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
PUBLISHED_CONTRADICTS = "published_noise_contains_no_answer"


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


def test_conflict_is_error_in_inserted_noise_and_warning_in_published_noise() -> None:
    turns = noise(made(), "A firm in Boston, MA has closed.")
    published = replace(LONG, parameters={"scene": "observation"})
    assert failed(turns, published) == [PUBLISHED_CONTRADICTS]
    severity = {each.name: each.severity for each in EXPECTED}
    assert severity[CONTRADICTS] == "error" and severity[PUBLISHED_CONTRADICTS] == "warn"


def split_unit(turns: list[Turn]) -> list[Turn]:
    """Move the last message of a noise unit to the end."""
    last = next(turn for turn in turns if turn.message_id.endswith(".1u") and is_noise(turn.message_id))
    others = [turn for turn in turns if turn is not last]
    return [*others, replace(last, event=others[-1].event + 1)]


def reordered(turns: list[Turn]) -> list[Turn]:
    first, second = (next(t for t in turns if t.message_id == f"{NAME}/{name}") for name in ("0.0u", "1.5u"))
    events = {first.message_id: second.event, second.message_id: first.event}
    return [replace(turn, event=events.get(turn.message_id, turn.event)) for turn in turns]


def without_unit(turns: list[Turn]) -> list[Turn]:
    unit = next(turn.message_id for turn in turns if is_noise(turn.message_id)).rpartition(".")[0]
    return [turn for turn in turns if not turn.message_id.startswith(f"{unit}.")]


@pytest.mark.parametrize(
    ("corruption", "check"),
    [
        (
            lambda turns: noise(turns, "News of a bridge (place: a town; time: later)"),
            "noise_messages_have_no_time_and_place_stamp",
        ),
        (split_unit, "noise_units_and_sessions_are_contiguous"),
        (
            lambda turns: [turn for turn in turns if turn.message_id != f"{NAME}/0.2u"],
            "original_steps_complete_and_in_order",
        ),
        (reordered, "original_steps_complete_and_in_order"),
        (without_unit, "trajectories_reach_configured_token_count"),
    ],
)
def test_noise_checks_find_damaged_noise(corruption: Callable[[list[Turn]], list[Turn]], check: str) -> None:
    assert check in failed(corruption(made()))
