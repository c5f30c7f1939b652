"""Verdicts on the answers of constant policies, and on the store."""

import json
from dataclasses import replace

import pytest

from memflow.benchmarks.retraction.answers import mentions
from memflow.benchmarks.retraction.plans import TOLD
from memflow.benchmarks.retraction.policies import policy_replies
from memflow.benchmarks.retraction.store import find_store_leaks, store_verdicts
from memflow.benchmarks.retraction.verdicts import question_verdicts
from memflow.memories.forgetting import ForgetRequest
from memflow.records import STORED, Reply
from tests.memflow.benchmarks.retraction.conftest import generate


def _means(generated, policy: str) -> dict[str, float]:
    verdicts = question_verdicts(
        generated.domain, generated.probes, policy_replies(policy, generated.probes, generated.turns)
    )
    values: dict[str, list[float]] = {}
    for row in verdicts:
        assert row.value is not None
        values.setdefault(row.metric, []).append(row.value)
    return {metric: sum(found) / len(found) for metric, found in values.items()}


def test_assistant_that_never_says_anything_has_no_figure_of_known_facts(generated) -> None:
    means = _means(generated, 'always "I can\'t answer that"')
    assert means["known_before"] == 0 and means["invention_rate"] == 0
    assert not {"leak_rate", "collateral_loss", "restoration", "poison_rate"} & set(means)


def test_assistant_that_deletes_everything_leaks_nothing_and_loses_the_rest(generated) -> None:
    means = _means(generated, "delete everything at a request")
    assert means["known_before"] == 1 and means["leak_rate"] == means["cascade_leak"] == 0
    assert means["collateral_loss"] == 1 and means["over_forgetting"] > 0.8


def test_assistant_that_obeys_nothing_leaks_and_is_stale(generated) -> None:
    means = _means(generated, "obey nothing")
    assert means["breach_rate"] == means["leak_rate"] == means["cascade_leak"] == means["stale_rate"] == 1
    assert means["collateral_loss"] == means["invention_rate"] == means["restoration"] == 0


def test_same_users_talk_on_policy_and_off_policy() -> None:
    off, on = (generate(languages=("en",), users=2, policy=policy) for policy in ("off", "on"))
    told = {turn.message_id: turn.text for turn in off.turns if turn.role == "user"}
    assert told == {turn.message_id: turn.text for turn in on.turns if turn.role == "user"}
    assert {turn.kind for turn in on.turns if turn.role == "assistant"} == {"given"}
    golds = [[(probe.probe_id, probe.gold, probe.options) for probe in rows.probes] for rows in (off, on)]
    assert golds[0] == golds[1]


def test_requests_are_valid_and_name_messages_before_them(generated) -> None:
    events = {turn.message_id: turn.event for turn in generated.turns}
    requests = [turn for turn in generated.turns if turn.forgets is not None]
    assert {ForgetRequest.from_json(turn.forgets).by for turn in requests} == {"message", "text", "time"}
    for turn in requests:
        assert all(events[name] < turn.event for name in ForgetRequest.from_json(turn.forgets).message_ids)


@pytest.mark.parametrize(
    ("text", "share"),
    [("My X is {value}.", 1.0), ("She likes {value} now.", 1.0), ("Nothing of it is left.", 0.0)],
)
async def test_fact_in_an_entry_after_its_retraction_is_a_leak(generated, text: str, share: float) -> None:
    looks = [probe for probe in generated.probes if probe.kind == STORED]
    replies = {}
    for probe in looks:
        values = [fact["value"] for fact in json.loads(probe.gold).values()]
        template = "{value}" if probe.checkpoint == TOLD else text
        texts = [template.format(value=value) for value in values]
        replies[probe.probe_id] = Reply(
            domain="d",
            assistant="a",
            probe_id=probe.probe_id,
            episode_id=probe.episode_id,
            checkpoint=probe.checkpoint,
            text=json.dumps(texts),
            recalled=[f"e{at}" for at in range(len(texts))],
            recalled_sources=[],
        )
    leaks = await find_store_leaks(looks, replies, None)
    rows = list(store_verdicts(generated.domain, "a", looks, replies, leaks))
    values = {row.value for row in rows if (row.metric, row.variant) == ("store_leak", "standard")}
    assert values == {share}
    assert all(row.reason for row in rows if row.variant == "paraphrase")


async def test_store_that_contained_nothing_before_has_no_leak_figure(generated) -> None:
    looks = [replace(probe, reason=None) for probe in generated.probes if probe.kind == STORED]
    rows = store_verdicts(generated.domain, "a", looks, {}, {})
    assert all(row.value is None and row.reason for row in rows)


def test_value_is_no_part_of_a_longer_word() -> None:
    assert mentions("It is the Cello!", "cello") and not mentions("violoncello", "cello")
    assert mentions("about 3140 euros", "3,140") and mentions("房东是卢敬文。", "卢敬文")
