"""`show times`, `show partitions` and `memflow plot memorybench`: on a lake of a few rows."""

import json
from dataclasses import replace

import factories
import pytest

from memflow.records import Probe, Reply, TranscriptMessage
from resources.lake import Lake
from resources.settings import load

DOMAIN = "memorybench_siso"
NOT_READ = "only 0 of 4 probes have a score; see their verdicts"


@pytest.fixture
def timed(empty):
    """A home in which `rag` wrote a dialogue and answered a case, and `none` answered it."""
    lake = Lake(load(over={"home": empty.folder}).lake_root)
    of = {"domain": DOMAIN, "episode_id": "dialogues", "checkpoint": 0}
    probe = Probe(
        **of,
        probe_id="nfcats/1",
        kind="open",
        split="train",
        dataset="nfcats",
        metric="quality",
        question="?",
        options=[],
        variables=[],
        gold="{}",
        revealed="",
        evidence=[],
    )
    lake.write(
        "question.probes",
        DOMAIN,
        [probe, replace(probe, probe_id="nfcats/2", split="test")],
        fingerprint="test",
    )
    lake.write("utterance.turns", DOMAIN, [], fingerprint="test")
    for name, seconds in (("none", 0.0), ("rag", 0.5)):
        line = TranscriptMessage(
            **of,
            assistant=name,
            event=0,
            position=0,
            message_id="feedback/nfcats/1/0",
            role="user",
            text="?",
            sequence=0,
            origin="given",
            models_s=1.0,
            own_s=seconds,
        )
        reply = Reply(
            **of,
            assistant=name,
            probe_id="nfcats/2",
            recalled=[],
            recalled_sources=[],
            latency_s=2.0,
            models_s=0.0,
            own_s=seconds,
        )
        meta = {"scripted": "yes"}
        lake.write(
            "memory.transcripts", f"{DOMAIN}/{name}", [line] if seconds else [], fingerprint="test", meta=meta
        )
        lake.write("answer.replies", f"{DOMAIN}/{name}", [reply], fingerprint="test", meta=meta)
    figure = factories.score(
        domain=DOMAIN, assistant="rag", memory="rag", metric="min_max", value=0.75, low=0.5, high=1.0,
        deviation=0.125, n=4, scripted=True,
    )  # fmt: skip
    lost = replace(
        figure,
        assistant="none",
        value=None,
        low=None,
        high=None,
        deviation=None,
        n=0,
        coverage=0.0,
        reason=NOT_READ,
    )
    figures = [figure, replace(figure, metric="z_score", value=-0.5), lost, replace(lost, metric="z_score")]
    lake.write("score.leaderboard", "all", figures, fingerprint="test")
    return empty


def test_times_are_shown_by_memory_and_format(timed) -> None:
    told = json.loads(timed("show", "times", "--format", "json").stdout)
    assert told["label"] == "scripted, not a language model"
    none, rag = told["times"]
    assert (none["format"], none["dialogues"], none["memory_s"], none["predict_s"]) == ("SiSo", 0, None, 2.0)
    assert (rag["dialogues"], rag["memory_s"], rag["memory_own_s"]) == (1, 1.5, 0.5)
    assert (rag["cases"], rag["predict_s"], rag["recall_s"]) == (1, 2.5, 0.5)
    shown = timed("show", "times", "--domain", DOMAIN).stdout
    assert " 1.5 " in shown and " 2.5 " in shown and "scripted" in shown


def test_partitions_are_shown_with_the_reasons_of_empty_cells(timed) -> None:
    told = json.loads(timed("show", "partitions", "--format", "json").stdout)
    assert [(cell["assistant"], cell["reason"]) for cell in told["cells"]] == [
        ("none", NOT_READ),
        ("rag", None),
    ]
    shown = timed("show", "partitions").stdout
    assert "0.750" in shown and "-0.500" in shown and f"No score of none in SiSo: {NOT_READ}." in shown
    pooled = timed("show", "partitions", "--pooled")
    assert pooled.exit_code == 1 and "no partition of MemoryBench" in pooled.stderr


def test_the_deviation_is_shown_by_slices(timed) -> None:
    assert "0.125" in timed("show", "leaderboard", "--slices").stdout
    assert "deviation" not in timed("show", "leaderboard").stdout


def test_what_goes_over_several_domains_is_drawn_under_the_benchmarks_name(timed, tmp_path) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib (the extra `plots`) is not installed")
    out = tmp_path / "out"
    assert timed("plot", "memorybench", "--out", str(out)).exit_code == 0
    assert {path.stem for path in out.iterdir()} == {"partitions", "times"}
    assert timed("plot", DOMAIN, "--out", str(tmp_path / "own")).exit_code == 0
    assert {path.stem for path in (tmp_path / "own").iterdir()} == {"times"}
    result = timed("plot", "memorybench", "--metric", "beauty")
    assert result.exit_code == 1 and "Known: partitions, times" in result.stderr


def test_a_domain_that_was_not_measured_is_refused(timed) -> None:
    result = timed("show", "times", "--domain", "amemgym_demo")
    assert result.exit_code == 1 and f"measured: {DOMAIN}" in result.stderr


def test_an_empty_home_says_what_measures_one(empty) -> None:
    for command in ("times", "partitions"):
        result = empty("show", command)
        assert result.exit_code == 1 and "memflow run" in result.stderr
    assert "nothing was measured yet" in empty("plot", "memorybench").stderr
