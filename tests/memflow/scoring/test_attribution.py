"""Attribution of lost evidence to write, read and utilization failures, with three hand-calculated probes."""

from dataclasses import replace

import factories
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memflow.errors import BadInput
from memflow.memories.memory import FAILURE
from memflow.memories.systems import SYSTEMS
from memflow.metrics.diagnosis import attribute_by_evidence
from memflow.records import Entry, FailureAttribution, Probe, Reply, TranscriptMessage, Verdict
from memflow.scoring.attribution import NO_EVIDENCE, attribute, sequence_numbers

MESSAGES = ["m0", "m1", "m2", "m3"]


def said(message: str, sequence: int, checkpoint: int) -> TranscriptMessage:
    return factories.transcript_message(
        assistant="a", episode_id="e", checkpoint=checkpoint, event=sequence, message_id=message, text=message,
        sequence=sequence, origin="given",
    )  # fmt: skip


def entry(number: int, sources: list[str], since: int, until: int | None = None, kind: str = "note") -> Entry:
    return factories.entry(
        assistant="a", episode_id="e", entry_id=f"{kind}-{number}", kind=kind, text="", sources=sources, since=since,
        until=until,
    )  # fmt: skip


def probe(name: str, evidence: list[str], checkpoint: int = 1, kind: str = "open") -> Probe:
    return factories.probe(
        probe_id=name, episode_id="e", checkpoint=checkpoint, kind=kind, metric="locomo_f1", gold="g",
        evidence=evidence,
    )  # fmt: skip


def reply(name: str, recalled: dict[str, list[str]], checkpoint: int = 1, model: str | None = "m") -> Reply:
    return factories.reply(
        assistant="a", probe_id=name, episode_id="e", checkpoint=checkpoint, model=model, recalled=[*recalled],
        recalled_sources=[each for sources in recalled.values() for each in sources], ranked=[*recalled][:10],
    )  # fmt: skip


def verdict(name: str, value: float | None, reason: str | None = None) -> Verdict:
    return factories.verdict(
        assistant="a", probe_id=name, episode_id="e", checkpoint=1, metric="locomo_f1", value=value, reason=reason,
    )  # fmt: skip


# m0 and m1 before checkpoint 0, m2 and m3 before checkpoint 1. m0's entry is retired at the third message.
SAID = [said(message, sequence, sequence // 2) for sequence, message in enumerate(MESSAGES)]
ENTRIES = [
    entry(0, ["m0"], 1, 3),
    entry(1, ["m1", "m2"], 3),
    entry(2, ["m3"], 4, kind=FAILURE),
]


def attributed(
    probes: list[Probe], replies: list[Reply], verdicts: list[Verdict], system: str = "rag"
) -> list[FailureAttribution]:
    return attribute(
        "d",
        "a",
        SYSTEMS[system],
        sequence_by_message=sequence_numbers(SAID),
        transcript=SAID,
        entries=ENTRIES,
        probes=probes,
        replies=replies,
        verdicts=verdicts,
    )


def test_attribution_divides_loss_into_write_read_and_utilization_failure() -> None:
    rows = attributed(
        [probe("lost", ["m0", "m3"]), probe("unread", ["m1", "m0"]), probe("unused", ["m2"])],
        [
            reply("lost", {"note-1": ["m1", "m2"]}),
            reply("unread", {}),
            reply("unused", {"note-1": ["m1", "m2"]}),
        ],
        [verdict("lost", 0.0), verdict("unread", 0.5), verdict("unused", 0.25)],
    )
    assert [(row.evidence, row.stored, row.recalled, row.entries, row.relevant) for row in rows] == [
        (2, 0, 0, 1, 0),  # m0 is retired, and of m3 there is only an entry that says why it was not written
        (2, 1, 0, 0, 0),
        (1, 1, 1, 1, 1),
    ]
    assert [(row.loss, row.write, row.read, row.utilization) for row in rows] == [
        (1.0, 1.0, 0.0, 0.0),
        (0.5, 0.25, 0.25, 0.0),
        (0.75, 0.0, 0.0, 0.75),
    ]
    assert all(row.reason is None for row in rows)


def test_attribution_ignores_evidence_after_the_checkpoint_of_the_probe() -> None:
    early = probe("early", ["m0", "m3"], checkpoint=0)
    future = probe("future", ["m3"], checkpoint=0)
    rows = attributed(
        [early, future],
        [reply("early", {}, 0), reply("future", {}, 0)],
        [verdict("early", 0.0), verdict("future", 0.0)],
    )
    assert (rows[0].evidence, rows[0].stored, rows[0].read) == (1, 1, 1.0)
    assert (rows[1].evidence, rows[1].reason) == (0, NO_EVIDENCE)


def test_probe_that_cannot_be_attributed_has_a_reason() -> None:
    probes = [probe("p", ["m1"])]
    [unasked] = attributed(probes, [reply("p", {}, model=None)], [verdict("p", None, "nobody there")])
    assert unasked.reason == "the probe has no reply" and unasked.stored is None
    [unread] = attributed(
        probes, [reply("p", {"note-1": ["m1", "m2"]})], [verdict("p", None, "no answer in it")]
    )
    assert (unread.reason, unread.recalled, unread.loss) == ("no answer in it", 1, None)
    [bound] = attributed(probes, [reply("p", {})], [verdict("p", 0.0)], system="oracle")
    assert bound.reason is not None and "oracle recalls nothing" in bound.reason
    assert attributed([probe("p", ["m1"], kind="state")], [], [verdict("p", 0.0)]) == []


def test_recall_at_10_counts_the_ten_best_entries_before_the_budget() -> None:
    probes, verdicts = [probe("p", ["m0", "m1"])], [verdict("p", 0.0)]
    best = [f"other-{at}" for at in range(9)]
    through = replace(reply("p", {}), ranked=[*best, "note-1"])
    [row] = attributed(probes, [through], verdicts)
    assert (row.evidence, row.recalled, row.recalled_at_10) == (2, 0, 1)
    behind = replace(reply("p", {"note-1": ["m1", "m2"]}), ranked=[*best, "other-9"])
    [row] = attributed(probes, [behind], verdicts)
    assert (row.recalled, row.recalled_at_10) == (1, 0)


@given(
    evidence=st.frozensets(st.sampled_from(MESSAGES), min_size=1),
    held=st.frozensets(st.sampled_from(MESSAGES)),
    recalled=st.frozensets(st.sampled_from(MESSAGES)),
    loss=st.floats(0, 1),
)
def test_attribute_by_evidence_returns_shares_that_sum_to_the_loss(
    evidence: frozenset[str], held: frozenset[str], recalled: frozenset[str], loss: float
) -> None:
    shares = attribute_by_evidence(evidence, held, recalled & held, loss)
    assert shares.write + shares.read + shares.utilization == pytest.approx(loss, abs=1e-12)
    if evidence <= held:
        assert shares.write == 0


def test_attribute_by_evidence_rejects_a_probe_without_evidence() -> None:
    with pytest.raises(BadInput, match="without evidence"):
        attribute_by_evidence(frozenset(), frozenset(), frozenset(), 1.0)


def test_loss_is_the_distance_to_the_best_value_as_share_of_the_metric_range() -> None:
    """A score of 4 on the range 1 to 10 is a loss of two thirds."""
    [row] = attributed(
        [replace(probe("judged", ["m2"]), metric="criteria")],
        [reply("judged", {"note-1": ["m1", "m2"]})],
        [replace(verdict("judged", 4.0), metric="criteria")],
    )
    assert row.loss == pytest.approx(2 / 3) and row.utilization == pytest.approx(2 / 3)


def test_attribution_of_a_probe_asked_after_a_message_ignores_later_messages() -> None:
    """After m1, the entry of m0 is not yet retired and m2 is not yet played."""
    at_end = probe("end", ["m0", "m2"])
    early = replace(at_end, probe_id="early", after="m1")
    rows = attributed(
        [at_end, early],
        [reply("end", {}), reply("early", {})],
        [verdict("end", 0.0), verdict("early", 0.0)],
    )
    assert [(row.evidence, row.stored, row.write, row.read) for row in rows] == [
        (2, 1, 0.5, 0.5),
        (1, 1, 0.0, 1.0),
    ]


def test_attribution_of_memory_without_ranking_has_no_recall_at_10() -> None:
    [row] = attributed([probe("p", ["m1"])], [reply("p", {"note-1": ["m1"]})], [verdict("p", 0.0)], "full")
    assert (row.recalled, row.recalled_at_10, row.reason) == (1, None, None)


def test_probe_asked_after_a_message_missing_in_the_transcript_has_a_reason() -> None:
    lost = replace(probe("lost", ["m1"]), after="m7")
    rows = attributed(
        [lost, probe("p", ["m1"])],
        [reply("lost", {}, model=None), reply("p", {})],
        [verdict("lost", None, "it was not asked"), verdict("p", 0.0)],
    )
    assert rows[0].reason == "the probe lost follows the message m7, which was not played. Rerun the episode."
    assert (rows[0].stored, rows[1].stored, rows[1].reason) == (None, 1, None)
