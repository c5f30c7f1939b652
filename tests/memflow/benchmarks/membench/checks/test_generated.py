"""Every expectation of what is generated: it holds of the demo, and a damage to it is named."""

import json
from collections.abc import Callable
from dataclasses import replace

import pytest
from membench_generation import Made, make

from memflow.benchmarks.domains import find
from memflow.benchmarks.membench.checks.generated import EXPECTED
from memflow.checks.evaluation import RuleResult, check_rows

BY_NAME = {each.name: each for each in EXPECTED}
Damage = Callable[[list], list]


@pytest.fixture(scope="module")
def demo() -> Made:
    return make(find("membench_demo"))


def outcome(made: Made, name: str, domain=None) -> RuleResult:
    each = BY_NAME[name]
    world = {
        "state.entities": made.states.entities,
        "utterance.turns": made.turns,
        "question.probes": made.probes,
    }
    [found] = check_rows(each.table, world[each.table], [each], world.__getitem__, domain or made.domain)
    return found


def telling(rows):
    """The first message of a simple question that is evidence."""
    return next(at for at, row in enumerate(rows) if row.exposes and "/simple/" in row.episode_id)


def damaged(rows, at, **changes):
    return [replace(row, **changes) if number == at else row for number, row in enumerate(rows)]


def sent_earlier(rows):
    return damaged(rows, 40, sent_at=rows[0].sent_at)


def silent(rows):
    at = telling(rows)
    value = json.loads(rows[at].exposes)["value"]
    return damaged(rows, at, text=rows[at].text.replace(value, "something").replace(value.capitalize(), "It"))


def of_another_value(rows):
    at = telling(rows)
    told = {**json.loads(rows[at].exposes), "value": "nobody's"}
    return damaged(rows, at, exposes=json.dumps(told), text="nobody's")


def without_one(rows):
    return rows[1:]


def without_evidence(rows):
    return damaged(rows, 0, evidence=[])


def with_one_message_more(rows):
    return damaged(rows, 0, evidence=[*rows[0].evidence, "u0000/simple/roles/0/0.0u"])


def asked_at_the_start(rows):
    return damaged(rows, 0, asked_at="'2024-10-01 08:00' Tuesday")


def never_wrong(rows):
    at = next(at for at, row in enumerate(rows) if row.category == "knowledge_update")
    gold = rows[at].revealed
    return damaged(
        rows, at, options=[gold if option == gold else f"no {option}" for option in rows[at].options]
    )


DAMAGES: dict[str, tuple[str, Damage]] = {
    "generated_times_increasing": ("turns", sent_earlier),
    "generated_evidence_contains_value": ("turns", silent),
    "generated_evidence_in_user_graph": ("turns", of_another_value),
    "every_kind_per_user": ("probes", without_one),
    "generated_evidence_complete": ("probes", without_evidence),
    "generated_evidence_count_by_kind": ("probes", with_one_message_more),
    "generated_probes_after_history": ("probes", asked_at_the_start),
    "corrected_value_stated_before": ("probes", never_wrong),
}


def test_every_check_has_a_corruption():
    assert set(DAMAGES) == set(BY_NAME)


@pytest.mark.parametrize("name", DAMAGES)
def test_demo_passes_and_corruption_fails(demo, name):
    assert outcome(demo, name).passed
    rows, damage = DAMAGES[name]
    worse = replace(demo, **{rows: damage(getattr(demo, rows))})
    assert not outcome(worse, name).passed


def test_generated_checks_skip_published_domains(demo):
    worse = replace(demo, turns=sent_earlier(demo.turns))
    rule = BY_NAME["generated_times_increasing"]
    assert check_rows(rule.table, worse.turns, [rule], {}.__getitem__, find("membench_memdaily")) == []


def test_untimed_noise_passes_time_check(demo):
    noise = replace(
        demo.turns[0], message_id="u0000/simple/roles/0/noise/1.0u", event=10**6, sent_at=None, exposes=None
    )
    assert outcome(replace(demo, turns=[*demo.turns, noise]), "generated_times_increasing").passed
