"""`show times` and `memflow plot memorybench`, on a lake with a few rows."""

from dataclasses import replace

import factories
import pytest

DOMAIN = "memorybench_siso"
NOT_READ = "only 0 of 4 probes have a score; see their verdicts"


@pytest.fixture
def timed(empty):
    """Return a home in which `rag` wrote a dialogue and answered a case, and `none` answered the same case."""
    of = {"domain": DOMAIN, "episode_id": "dialogues"}
    probe = factories.probe(**of, probe_id="nfcats/1", kind="open", split="train", dataset="nfcats")
    timed = [probe, replace(probe, probe_id="nfcats/2", split="test")]
    empty.write("question.probes", DOMAIN, timed)
    empty.write("utterance.turns", DOMAIN, [])
    for name, seconds in (("none", 0.0), ("rag", 0.5)):
        partition = f"{DOMAIN}/{name}"
        message = factories.transcript_message(
            **of,
            assistant=name,
            message_id="feedback/nfcats/1/0",
            origin="given",
            models_s=1.0,
            own_s=seconds,
        )
        reply = factories.reply(
            **of, assistant=name, probe_id="nfcats/2", latency_s=2.0, models_s=0.0, own_s=seconds
        )
        empty.write("memory.transcripts", partition, [message] if seconds else [], scripted="yes")
        empty.write("answer.replies", partition, [reply], scripted="yes")
    score = factories.score(
        domain=DOMAIN, assistant="rag", memory="rag", metric="min_max", value=0.75, low=0.5, high=1.0,
        deviation=0.125, n=4, scripted=True,
    )  # fmt: skip
    none = {"assistant": "none", "value": None, "low": None, "high": None, "deviation": None}
    lost = replace(score, **none, n=0, coverage=0.0, reason=NOT_READ)
    scores = [score, replace(score, metric="z_score", value=-0.5), lost, replace(lost, metric="z_score")]
    empty.write("score.leaderboard", "all", scores)
    return empty


def test_show_times_prints_times_by_memory_and_task_format(timed) -> None:
    told = timed.json("show", "times")
    assert told["label"] == "scripted, not a language model"
    none, rag = told["times"]
    assert (none["format"], none["dialogues"], none["memory_s"], none["predict_s"]) == ("SiSo", 0, None, 2.0)
    assert (rag["dialogues"], rag["memory_s"], rag["predict_s"]) == (1, 1.5, 2.5)
    shown = timed("show", "times", "--domain", DOMAIN).stdout
    assert "1.500" in shown and "2.500" in shown and "scripted" in shown


def test_leaderboard_shows_deviation_only_with_the_slices_option(timed) -> None:
    assert "0.125" in timed("show", "leaderboard", "--slices").stdout
    assert "deviation" not in timed("show", "leaderboard").stdout


def test_show_times_rejects_unmeasured_domain_and_lists_measured_domain(timed) -> None:
    assert f"Choose a domain that has: {DOMAIN}" in timed.error("show", "times", "--domain", "amemgym_demo~1")
