"""Memory factual recall: its claims, requests and scores."""

from collections.abc import Sequence
from dataclasses import replace

import factories
import pytest
from factories import policy, score

from memflow.benchmarks.amemgym.answers import Findings
from memflow.benchmarks.amemgym.factual import judge_claims, make_claims
from memflow.benchmarks.amemgym.scoring import cycle_scores, factual_recall
from memflow.benchmarks.amemgym.scripted_reading import latest_statement_is
from memflow.benchmarks.api import AssistantResults
from memflow.chat.requests import ChatRequest
from memflow.chat.scripted import ScriptedChat
from memflow.records import Claim, Policy
from memflow.scoring.estimate import MetricContext


def claim(number: int, period: int = 0, text: str = "mood: high", **over: object) -> Claim:
    given = {"episode_id": "u", "checkpoint": period, "text": text, **over}
    return factories.claim(assistant="a", claim_id=f"{given['episode_id']}/{period}/{number}", **given)


def test_make_claims_returns_one_claim_per_state_change(demo):
    claims = make_claims(demo.domain, "a", demo.states, demo.turns)
    assert len(claims) == len(demo.states.changes) == len({one.claim_id for one in claims})
    by_user = {change.user_id for change in demo.states.changes}
    assert {one.episode_id for one in claims} == by_user
    changes = {(c.user_id, c.period, c.variable): c.value for c in demo.states.changes}
    for one in claims:
        user, period, variable = one.claim_id.rsplit("/", 2)
        value = changes[user, int(period[1:]), variable]
        assert one.text == f"{variable.replace('_', ' ')}: {value.replace('_', ' ')}"
        assert one.reason is None and one.value is None


def test_claim_is_quarantined_if_its_message_is_quarantined_or_missing(demo):
    lost, *rest = demo.turns
    claims = make_claims(demo.domain, "a", demo.states, [replace(lost, reason="unclear"), *rest])
    reasons = [one.reason for one in claims if one.reason]
    assert reasons and all(
        f"the message {lost.message_id}, which tells it, is quarantined" == r for r in reasons
    )
    unexposed_changes = make_claims(demo.domain, "a", demo.states, rest)
    assert {one.reason for one in unexposed_changes} == {None, "no message of the period tells it"}


def test_claim_is_valid_if_the_message_that_exposes_its_value_is_unknown(demo):
    turns = [replace(turn, exposes=None) for turn in demo.turns]
    assert not [one for one in make_claims(demo.domain, "a", demo.states, turns) if one.reason]


async def test_claim_judge_gets_one_request_per_period_and_none_for_empty_memory():
    asked: list[ChatRequest] = []

    def judge(request: ChatRequest) -> Findings:
        asked.append(request)
        return Findings(supported=["yes", "no"])

    claims = [
        claim(0),
        claim(1, text="pace: slow"),
        claim(2, period=1),
        claim(3, reason="no message of the period tells it"),
    ]
    held = {("u", 0): "- mood: high", ("u", 1): ""}
    found = await judge_claims(claims, held, ScriptedChat({"amemgym/claims": judge}))
    assert [one.value for one in found] == [1.0, 0.0, 0.0, None]
    assert [one.claim_id for one in found] == [one.claim_id for one in claims]
    [request] = asked
    assert request.fields["claims"] == "1: mood: high\n2: pace: slow"
    assert [one.model is None for one in found] == [False, False, True, True]
    assert [one.held_tokens for one in found] == [3, 3, 0, None]


async def test_unusable_judge_reply_gives_claim_without_value_but_with_reason():
    found = await judge_claims(
        [claim(0)], {("u", 0): "- mood: high"}, ScriptedChat({"amemgym/claims": lambda request: "perhaps"})
    )
    assert found[0].value is None and "no usable answer" in (found[0].reason or "")


@pytest.mark.parametrize(
    ("held", "found"),
    [
        ("- mood: My mood is high.", True),
        ("My mood is high.\nMy mood is no longer high but low.", False),
        ("My mood is low.\nMy mood is high.", True),
        ("My pace is high.", False),
        ("", False),
    ],
)
def test_scripted_judge_supports_claim_only_by_latest_statement_in_memory(held: str, found: bool):
    assert latest_statement_is(held, "mood", "high") == found


def scores(demo, claims: Sequence[Claim] = (), policies: Sequence[Policy] = (), script: bool = False):
    results = AssistantResults("d", "a", "a", "m", [], [], [], [], "", False, claims, script, policies)
    overall = score(value=0.5)
    context = MetricContext.from_results(demo.domain, results)
    found = [*factual_recall(context, results), *cycle_scores(context, results, overall)]
    return {(each.metric, each.slice): each for each in found}


def test_factual_recall_score_is_share_of_supported_claims(demo):
    claims = [
        *(claim(number, value=1.0) for number in range(3)),
        claim(3, value=0.0),
        claim(4, period=1, value=0.0, episode_id="v"),
    ]
    found = scores(demo, claims, script=True)
    assert {key: one.value for key, one in found.items()} == {
        ("factual_recall", "all"): pytest.approx(3 / 5),
        ("factual_recall", "period 0"): pytest.approx(3 / 4),
        ("factual_recall", "period 1"): 0,
    }
    whole = found["factual_recall", "all"]
    assert (whole.n, whole.n_episodes, whole.coverage, whole.scripted) == (5, 2, 1.0, True)
    assert (whole.low, whole.interval_reason) == (None, "2 episodes")


def step(user: str, cycle: int, asked: int, answered: int, correct: int) -> Policy:
    return policy(episode_id=user, step=cycle, cycle=cycle, asked=asked, answered=answered, correct=correct)


def test_accuracy_per_evolution_cycle_matches_hand_computed_values(demo):
    policies = [
        *(step("u", 0, 0, 0, 0), step("u", 1, 4, 4, 1), step("u", 2, 4, 4, 3)),
        *(step("v", 0, 0, 0, 0), step("v", 1, 4, 4, 2), step("v", 2, 4, 2, 2)),
    ]
    found = scores(demo, policies=policies)
    assert {key: one.value for key, one in found.items()} == {
        ("accuracy", "cycle 0"): pytest.approx(3 / 8),
        ("accuracy", "cycle 1"): None,
        ("accuracy", "cycle 2"): 0.5,
    }
    assert found["accuracy", "cycle 1"].reason == "6 of 8 probes have a value; a score needs 90%"
