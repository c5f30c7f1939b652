"""Generated states, and quarantined users where a generation step fails."""

import json
import re
from dataclasses import replace

import pytest
from amemgym_agents import SpyChat

from memflow.benchmarks.amemgym.benchmark import AMemGym
from memflow.benchmarks.amemgym.config import AMemGymConfig, parse_config
from memflow.benchmarks.amemgym.states import histories
from memflow.benchmarks.registry import find_domain
from memflow.chat.scripted import ScriptedChat
from memflow.errors import BadSettings


def test_parameters_of_amemgym_extra_match_paper():
    sizes = parse_config(find_domain("amemgym_extra"))
    assert (sizes.periods - 1, sizes.variables_per_question) == (20, 3)  # N_p, N_s
    assert 2 * sizes.rounds(1) == 10 and 2 * sizes.rounds(0) == 4  # N_i counts messages
    assert parse_config(find_domain("amemgym_base_generated")) == AMemGymConfig(draw="file")


async def test_update_request_contains_changes_of_all_earlier_periods(demo):
    chat = SpyChat()
    states = await AMemGym().states(demo.domain.limited(1), demo.records, chat)
    asked = [request.fields for request in chat.asked("updates")]
    assert [len(json.loads(fields["earlier"])) for fields in asked] == [0, 1, 2]
    first = [row for row in states.changes if row.period == 1]
    assert json.loads(asked[1]["earlier"]) == {
        "2021-01-01": [f"{row.variable}: {row.old} -> {row.value}" for row in first]
    }
    for fields in (request.fields for request in chat.asked("events")):
        assert json.loads(fields["unchanged"]).keys().isdisjoint(json.loads(fields["changes"]))
        assert len(json.loads(fields["unchanged"])) + len(json.loads(fields["changes"])) == 8


@pytest.mark.parametrize("limit", ["enforced", "advised"])
async def test_variable_at_its_change_limit_can_change_again_only_with_an_advisory_limit(demo, limit):
    parameters = {**demo.domain.parameters, "max_changes_per_variable": 1, "change_limit": limit}
    parameters |= {"changes_per_period": 2}
    chat = SpyChat()
    domain = replace(demo.domain, parameters=parameters).limited(1)
    states = await AMemGym().states(domain, demo.records, chat)
    asked = [len(json.loads(request.fields["schema"])) for request in chat.asked("updates")]
    moved = [len([row for row in states.changes if row.period == period]) for period in (1, 2)]
    if limit == "enforced":
        assert asked == [8, 8 - moved[0], 8 - sum(moved)]
    else:
        assert asked == [8, 8, 8]


async def test_generated_changes_per_variable_do_not_exceed_configured_maximum(demo):
    domain = replace(demo.domain, parameters={**demo.domain.parameters, "max_changes_per_variable": 2})
    states = await AMemGym().states(domain, demo.records, ScriptedChat(AMemGym().handlers()))
    for history in histories(states).values():
        counts = [
            sum(change.variable == name for rows in history.changes[1:] for change in rows)
            for name in history.schema
        ]
        assert max(counts) <= 2


WRONG = {
    "questions": ("{}", "questions: Field required"),
    "refine": ('{"hobby": "all"}', "Field required"),
    "initial_state": ('{"colour": "red"}', "Field required"),
    "updates": ("I would rather not say.", "not JSON"),
    "events": ('{"groups": [{"variables": [], "text": "x"}]}', "at least 1 item"),
}


@pytest.mark.parametrize("stage", WRONG)
async def test_failed_generation_step_quarantines_only_its_user(demo, stage):
    said, reason = WRONG[stage]
    chat = SpyChat({stage: said}, whom="Tomás")
    states = await AMemGym().states(demo.domain, demo.records, chat)
    lost = [profile for profile in states.profiles if profile.reason is not None]
    assert [profile.user_id for profile in lost] == ["tomas"]
    assert lost[0].reason.startswith(f"amemgym/{stage}: no usable answer in 3 attempts")
    assert re.search(reason, lost[0].reason)
    assert all(row.user_id != "tomas" for row in [*states.variables, *states.changes])
    assert [row for row in states.changes] == [row for row in demo.states.changes if row.user_id != "tomas"]
    turns = await AMemGym().turns(demo.domain, demo.records, states, chat)
    probes = await AMemGym().probes(demo.domain, demo.records, states, turns, chat)
    assert {probe.episode_id for probe in probes} == {"nora", "mei"}


async def test_reply_with_too_many_changes_is_retried_and_then_quarantines_user(demo):
    def everything_moves(request):
        schema = json.loads(request.fields["schema"])
        moves = [{"variable": name, "value": values[0]} for name, values in schema.items()]
        return {"summary": "Everything moves.", "moves": moves}

    chat = SpyChat({"updates": everything_moves})
    states = await AMemGym().states(demo.domain.limited(1), demo.records, chat)
    assert "at moves: List should have at most 4 items" in states.profiles[0].reason
    told = [request.messages[-1].content for request in chat.asked("updates")]
    assert len(told) == 3 and "at most 4 items" in told[1]


@pytest.mark.parametrize(
    ("name", "value", "wrong"),
    [
        ("periods", 0, "periods: "),
        ("colour", 1, "colour: "),
        ("start_date", "2020-10-31", "Use a day from 1 to 28"),
        ("min_variants", 12, "above the 9 possible variants"),
        ("language", "de", "language: "),
        ("draw", "lots", "draw: "),
    ],
)
async def test_invalid_domain_parameter_error_names_the_parameter(demo, name, value, wrong):
    domain = replace(find_domain("amemgym_demo"), parameters={**demo.domain.parameters, name: value})
    with pytest.raises(BadSettings, match=wrong):
        await AMemGym().states(domain, demo.records, ScriptedChat({}))
