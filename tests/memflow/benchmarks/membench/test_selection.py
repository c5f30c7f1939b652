"""Selection of published trajectories per domain."""

import json
from collections import Counter
from dataclasses import replace

import factories
import pytest
from membench_files import message_of, question

from memflow.benchmarks.domains import Domain
from memflow.benchmarks.membench.config import parameters_of
from memflow.benchmarks.membench.selection import select_trajectories
from memflow.benchmarks.registry import find_domain
from memflow.errors import BadSettings
from memflow.records import Record

DAILY = find_domain("membench_memdaily")
CONTENT = json.dumps(
    {"tid": 0, "message_list": [message_of(0, "My aunt is 61.")], "question_list": [question([0])]}
)


def record(kind: str, scenario: str, tid: int) -> Record:
    name = f"observation/{kind}/{scenario}/{tid}"
    return factories.record(dataset="memdaily", record_id=name, position=tid, content=CONTENT)


RECORDS = [
    record(kind, scenario, tid)
    for kind, scenario in (("simple", "roles"), ("simple", "events"), ("noisy", "places"))
    for tid in range(30)
]


def of(**parameters: object) -> Domain:
    return replace(DAILY, parameters={**DAILY.parameters, **parameters})


def drawn(domain: Domain) -> list[str]:
    return [each.trajectory_id for each in select_trajectories(domain, RECORDS)]


def test_selection_samples_given_number_of_trajectories_per_kind_and_scenario():
    first = drawn(of(factual=10))
    assert Counter(name.rsplit("/", 1)[0] for name in first) == {
        "observation/simple/roles": 10,
        "observation/simple/events": 10,
        "observation/noisy/places": 10,
    }
    assert drawn(of(factual=10)) == first
    assert drawn(replace(of(factual=10), seed=7)) != first
    assert drawn(of(factual=10, reflective=0)) == first


def test_limit_selects_trajectories_of_all_kinds_and_scenarios_in_turn():
    assert drawn(DAILY.limited(4)) == [
        "observation/simple/roles/0",
        "observation/simple/events/0",
        "observation/noisy/places/0",
        "observation/simple/roles/1",
    ]


@pytest.mark.parametrize(
    ("parameter", "value", "said"),
    [
        ("kinds", ("hard",), "unknown question kind hard"),
        ("scene", "dreaming", "parameter scene"),
        ("items", (5, 3), "items"),
        ("noise", 3, "parameter noise"),
    ],
)
def test_invalid_selection_parameter_is_rejected_with_specific_message(parameter, value, said):
    with pytest.raises(BadSettings, match=said):
        parameters_of(of(**{parameter: value}))
