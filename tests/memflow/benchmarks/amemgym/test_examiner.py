"""The examiner finds planted wrong golds in generated users, none in intact users, and reads texts without a plan."""

import json
import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from amemgym_agents import failed_checks, run_checks, tables

from memflow.benchmarks.amemgym.checks import EXPECTED
from memflow.benchmarks.amemgym.checks.examiner import (
    examine_golds,
    examine_messages,
    read_text,
)
from memflow.benchmarks.amemgym.checks.reading import stated_values
from memflow.benchmarks.registry import find_domain

PROBES, TURNS, VARIABLES = "question.probes", "utterance.turns", "state.variables"
EXAMINER = [
    each
    for each in EXPECTED
    if each.name.startswith(("gold_equals_answer_from_", "generated_messages_state_only_"))
]
PLANTS = 10
"""Number of planted faults of each kind and language."""

World = dict[str, list[Any]]
Plant = Callable[[World, random.Random], tuple[str, int]]
"""Plants one fault in a world. Returns the table and position of a row with it."""


@pytest.fixture(scope="module", params=["amemgym_demo", "amemgym_demo_zh"])
def made(request, making, package):
    return making(find_domain(request.param), package)


def test_examiner_finds_no_fault_in_generated_users_and_examines_every_probe(made):
    results = run_checks(made, EXAMINER)
    assert [each.name for each in results if not each.passed] == []
    assert {each.severity for each in results} == {"error"}
    assert all("not examined: 0.0%" in each.note for each in results)


@pytest.mark.parametrize(
    ("name", "personas"), [("amemgym_demo", "personas_en"), ("amemgym_demo_zh", "personas_zh")]
)
def test_examiner_finds_no_fault_in_20_generated_users_of_a_language(making, package, name, personas):
    domain = find_domain(name)
    parameters = {**domain.parameters, "draw": "seed", "users": 20}
    made = making(replace(domain, datasets=(personas,), parameters=parameters), package)
    assert len(made.states.profiles) == 20
    assert failed_checks(made, EXAMINER) == set()


def test_examiner_finds_no_fault_in_published_users(base):
    [result] = run_checks(base, EXAMINER)  # the others read the texts of generated users
    assert result.name == "gold_equals_answer_from_exposed_values"
    assert (result.unexpected, result.total) == (0, len(base.probes))


# Plants. Each picks one of the rows for which it is possible.


def pick(rows: list[Any], chance: random.Random, fits: Callable[[Any], bool]) -> tuple[int, Any]:
    at = chance.choice([at for at, row in enumerate(rows) if fits(row)])
    return at, rows[at]


def edit_probe(world: World, chance: random.Random, kind: str, edit: Callable[..., Any]) -> tuple[str, int]:
    at, probe = pick(world[PROBES], chance, lambda row: row.kind == kind and row.checkpoint > 0)
    world[PROBES][at] = replace(probe, **edit(world, probe, chance))
    return PROBES, at


def other_values(world: World, text: str, user: str, chance: random.Random) -> str:
    """Return state values as JSON of which one is replaced by another choice."""
    values = json.loads(text)
    name = chance.choice(list(values))
    schema = {row.variable: row.choices for row in world[VARIABLES] if row.user_id == user}
    values[name] = chance.choice([value for value in schema[name] if value != values[name]])
    return json.dumps(values, ensure_ascii=False)


def another_option_is_gold(world: World, probe: Any, chance: random.Random) -> dict[str, Any]:
    others = [str(n) for n in range(1, 1 + len(probe.options)) if str(n) != probe.gold]
    return {"gold": chance.choice(others)}


def another_value_in(column: str) -> Callable[..., dict[str, Any]]:
    def edit(world: World, probe: Any, chance: random.Random) -> dict[str, Any]:
        return {column: other_values(world, getattr(probe, column), probe.episode_id, chance)}

    return edit


def evidence_is_another_message(world: World, probe: Any, chance: random.Random) -> dict[str, Any]:
    ids = [turn.message_id for turn in world[TURNS] if turn.episode_id == probe.episode_id]
    return {"evidence": [chance.choice([each for each in ids if each not in probe.evidence])]}


def gold_option_is_for_other_values(world: World, probe: Any, chance: random.Random) -> dict[str, Any]:
    at = int(probe.gold) - 1
    variants = list(probe.variants)
    variants[at] = json.dumps(["none_of_these"] * len(probe.variables))
    return {"variants": variants}


def edit_turn(world: World, chance: random.Random, edit: Callable[..., Any]) -> tuple[str, int]:
    at, turn = pick(world[TURNS], chance, lambda row: row.checkpoint > 0)
    world[TURNS][at] = replace(turn, **edit(world, turn, chance))
    return TURNS, at


def another_value_in_text(world: World, turn: Any, chance: random.Random) -> dict[str, Any]:
    """Word a message, of which one variable is exposed, with a value that it does not have."""
    name, value = chance.choice(list(json.loads(turn.exposes).items()))
    [schema] = [row for row in world[VARIABLES] if (row.user_id, row.variable) == (turn.episode_id, name)]
    past = [state[name] for state in exposed_until(world, turn) if name in state]
    other = [each for each in schema.choices if each not in (value, past[-1])]
    text = " ".join((turn.text, "My", name, "is", other[0], "."))
    return {"text": text.replace("_", " ")}


def exposed_until(world: World, turn: Any) -> Iterator[dict[str, str]]:
    """Yield the exposed values of the user's messages before this one."""
    for row in world[TURNS]:
        if row.episode_id == turn.episode_id and row.event < turn.event:
            yield json.loads(row.exposes)


def value_of_later_period(world: World, turn: Any, chance: random.Random) -> dict[str, Any]:
    """Let a message also state a value that a variable has not had so far."""
    held: dict[str, set[str]] = {}
    for state in (*exposed_until(world, turn), json.loads(turn.exposes)):
        for name, value in state.items():
            held.setdefault(name, set()).add(value)
    later = [
        (row.variable, value)
        for row in world[VARIABLES]
        if row.user_id == turn.episode_id
        for value in row.choices
        if value not in held.get(row.variable, row.choices)
    ]
    return {"text": f"{turn.text} My {' is '.join(chance.choice(later))}.".replace("_", " ")}


def sent_in_period_before(world: World, turn: Any, chance: random.Random) -> dict[str, Any]:
    first = min(row.sent_at for row in world[TURNS] if row.episode_id == turn.episode_id)
    return {"sent_at": first}


def lost_message(world: World, chance: random.Random) -> tuple[str, int]:
    """Remove the message that states the value of a probe. Returns that probe."""
    latest = {}
    for at, row in enumerate(world[PROBES]):
        if row.kind == "choice" and row.checkpoint > 0:
            for message in row.evidence:
                latest.setdefault(message, at)
    late = [turn for turn in world[TURNS] if turn.checkpoint > 0 and turn.message_id in latest]
    lost = chance.choice(late)
    world[TURNS].remove(lost)
    return PROBES, latest[lost.message_id]


GOLD_PLANTS: dict[str, Plant] = {
    "another option is gold": partial(edit_probe, kind="choice", edit=another_option_is_gold),
    "gold context of other values": partial(edit_probe, kind="choice", edit=another_value_in("revealed")),
    "previous state of other values": partial(edit_probe, kind="choice", edit=another_value_in("previous")),
    "state gold of other values": partial(edit_probe, kind="state", edit=another_value_in("gold")),
    "evidence is another message": partial(edit_probe, kind="choice", edit=evidence_is_another_message),
    "no option is gold": partial(edit_probe, kind="choice", edit=gold_option_is_for_other_values),
    "message lost": lost_message,
}
MESSAGE_PLANTS: dict[str, Plant] = {
    "text states another value": partial(edit_turn, edit=another_value_in_text),
    "value of a later period": partial(edit_turn, edit=value_of_later_period),
    "sent in the period before": partial(edit_turn, edit=sent_in_period_before),
}


@pytest.mark.parametrize("kind", [*GOLD_PLANTS, *MESSAGE_PLANTS])
def test_examiner_finds_every_planted_fault(made, kind):
    plant = (GOLD_PLANTS | MESSAGE_PLANTS)[kind]
    for number in range(PLANTS):
        world = {table: list(rows) for table, rows in tables(made).items()}
        table, at = plant(world, random.Random(f"{kind} {number}"))
        found = (
            examine_golds(read_text, world[PROBES], world[TURNS], world[VARIABLES])
            if table == PROBES
            else examine_messages(world[TURNS], world[VARIABLES])
        )
        assert found.get(at), (kind, number)
        assert failed_checks(made, EXAMINER, world)


def test_examiner_counts_a_freely_worded_message_as_not_examined(made):
    world = {table: list(rows) for table, rows in tables(made).items()}
    world[TURNS][0] = replace(world[TURNS][0], text="Things are as they are.")
    results = {each.name: each for each in run_checks(made, EXAMINER, world)}
    texts = results["gold_equals_answer_from_message_texts"]
    assert texts.passed and "not examined: 0.0%" not in texts.note
    assert "not examined: 0.0%" in results["gold_equals_answer_from_exposed_values"].note


SCHEMA = {
    "cooking_company": ["alone", "a_club", "two_colleagues"],
    "cooking_and_running_time": ["late_evenings", "evenings"],
    "running_time": ["lunch_breaks", "rainy_days"],
}


@pytest.mark.parametrize(
    ("text", "stated"),
    [
        ("These days my cooking company is a club.", {"cooking_company": ("a_club",)}),
        ("My cooking company is no longer alone but a club.", {"cooking_company": ("a_club",)}),
        ("From alone to a club went my Cooking_Company!", {"cooking_company": ("alone", "a_club")}),
        ("My cooking and running time is late evenings.", {"cooking_and_running_time": ("late_evenings",)}),
        (
            "Since your running time is rainy days and your cooking company is alone, rest.",
            {"running_time": ("rainy_days",), "cooking_company": ("alone",)},
        ),
        ("I cook alone. My cooking company is fine.", {}),
        ("My cooking company is a clubhouse.", {}),
        ("Back then my cooking company was a club. These days I cook with two colleagues.", {}),
        ("My cooking company isn't a club anymore; two colleagues joined me.", {}),
        ("I considered making my cooking company a club.", {}),
        ("My sister's cooking company is a club.", {}),
        ("Should my cooking company be a club? I wish my cooking company were a club!", {}),
    ],
)
def test_stated_values_returns_a_value_only_if_its_sentence_names_the_variable(text, stated):
    assert stated_values(text, SCHEMA) == stated
