"""No shipped memory raises an alarm, and a domain that shows too little is not measurable, in a sentence each."""

from dataclasses import replace
from typing import Any

import pytest
from generated import generate
from health_domain import HealthDomain, health_domain
from memory_helpers import case
from server_evaluation import evaluate

from memflow.errors import BadSettings
from memflow.memories.registry import find
from memflow.memories.systems import SYSTEMS
from memflow.records import HealthMeasure
from memflow.scoring.health import overall_state
from memflow.scoring.health.measures import NAMES
from memflow.scoring.health.states import FAULTY, NOT_MEASURABLE, OK, SUSPECT

DOMAINS = ("amemgym_demo", "memorybench_demo", "dialogues_demo")
DESCRIBED = {"write_latency", "read_latency"}


def health_of(domain: Any, name: str) -> list[HealthMeasure]:
    rows: list[HealthMeasure] = evaluate(domain, find(name))["score.health"]
    return rows


@pytest.mark.parametrize("domain", DOMAINS)
@pytest.mark.parametrize("system", [case(system) for system in SYSTEMS.values()])
def test_shipped_memory_raises_no_alarm(system: Any, domain: str) -> None:
    try:
        rows = health_of(generate(domain), system.default_name)
    except BadSettings:
        assert system.name == "previous"  # it cannot be asked in this domain
        return
    assert [row.measure for row in rows] == list(NAMES)
    assert [row for row in rows if row.state in (SUSPECT, FAULTY)] == []


@pytest.mark.parametrize("name", ["none", "oracle"])
def test_memory_that_stores_nothing_by_design_is_not_measurable(name: str) -> None:
    rows = health_of(generate("amemgym_demo"), name)
    assert {row.state for row in rows} == {NOT_MEASURABLE}
    state, statement = overall_state(rows)
    assert (state, statement) == (
        NOT_MEASURABLE,
        f"not measurable: the memory {name} stores nothing by design",
    )


def part_of_domain(*, messages: int, probes: int, evidence: bool = True) -> HealthDomain:
    """Return the first messages and probes of one episode."""
    whole = health_domain()
    asked = [probe for probe in whole.probes if probe.episode_id == "user0"][:probes]
    if not evidence:
        asked = [replace(probe, evidence=[]) for probe in asked]
    return HealthDomain(whole.base, whole.turns[:messages], asked)


def test_domain_of_one_message_and_one_probe_is_not_measurable() -> None:
    rows = health_of(part_of_domain(messages=2, probes=1), "bm25_message_10")
    measurable = {row.measure for row in rows if row.state != NOT_MEASURABLE}
    assert measurable <= {"foreign_entries", "future_entries", "retired_reads", *DESCRIBED}
    assert all(row.reason and row.statement.startswith("not measurable: ") for row in rows if row.reason)
    assert all(row.state == OK for row in rows if row.measure in measurable)


def test_one_episode_is_measured_where_its_messages_and_reads_suffice() -> None:
    rows = {row.measure: row for row in health_of(part_of_domain(messages=84, probes=40), "bm25_message_10")}
    assert rows["unstored_messages"].statement == "0 of 84 messages are in no entry"
    assert rows["empty_reads"].state == OK
    assert overall_state(rows.values())[0] == OK


def test_probes_without_evidence_leave_missed_reads_not_measurable() -> None:
    domain = part_of_domain(messages=84, probes=40, evidence=False)
    rows = {row.measure: row for row in health_of(domain, "bm25_message_10")}
    assert rows["missed_reads"].state == NOT_MEASURABLE
    assert rows["missed_reads"].reason == "stored evidence is known for only 0 reads"


def test_verdicts_without_values_change_no_measure() -> None:
    domain: Any = health_domain()
    tables = evaluate(domain, find("bm25_message_10"))
    null = [replace(row, value=None, reason="the judge was not reached") for row in tables["score.verdicts"]]
    steps = ("attributions", "health")
    again = evaluate(
        domain,
        find("bm25_message_10"),
        steps=steps,
        before={name: rows for name, rows in {**tables, "score.verdicts": null}.items()},
    )
    assert again["score.health"] == tables["score.health"]


def test_overall_state_is_the_worst_and_states_its_first_measure() -> None:
    from factories import health_measure

    rows = [
        health_measure(measure="a", state=OK, statement="fine"),
        health_measure(measure="b", state=SUSPECT, statement="odd"),
        health_measure(measure="c", state=FAULTY, statement="broken"),
        health_measure(measure="d", state=FAULTY, statement="a consequence"),
        health_measure(measure="e", state=NOT_MEASURABLE, statement="not measurable: unknown"),
    ]
    assert overall_state(rows) == (FAULTY, "broken")
    assert overall_state(rows[:2]) == (SUSPECT, "odd")
    assert overall_state([rows[0], rows[4]]) == (OK, "none of 1 measures shows a fault")
    assert overall_state([rows[4]])[0] == NOT_MEASURABLE
    assert overall_state([])[0] == NOT_MEASURABLE
