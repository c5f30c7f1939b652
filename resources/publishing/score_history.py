"""The rows of score.history: those of earlier publications in the lake, and those that a publication adds."""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

from memflow.benchmarks import registry
from memflow.pipeline import partition_key
from memflow.records import PublishedScore, Score
from memflow.resources.lake.facts import RUN, Facts
from memflow.resources.lake.lake import Lake
from memflow.resources.settings.settings import Settings
from memflow.scoring.drift import INPUTS
from memflow.scoring.judges import JUDGES
from memflow.scoring.publications import Publication, ScoreInputs, rows_to_add

TABLE = "score.history"
PARTITION = "all"


def history_rows(settings: Settings, lake: Lake, run: str, scores: Sequence[Score]) -> list[PublishedScore]:
    """Return the whole history after a run publishes these scores."""
    return _extended(lake.accumulated(TABLE, PARTITION), settings, lake, run, scores)


def add_to_history(
    settings: Settings,
    lake: Lake,
    history: Sequence[PublishedScore],
    *,
    fingerprint: str,
    meta: Mapping[str, str],
) -> Facts:
    """Write the history that `history_rows` returned, after the leaderboard of the same run.

    Several runs may publish at the same time. A run whose leaderboard another run has replaced adds nothing, since that
    run adds its own scores, and rows that another run has added since `history_rows` stay. So the newest scores of the
    history are those of the leaderboard when the last of the runs ends.
    """

    def change(stored: list[PublishedScore]) -> Sequence[PublishedScore]:
        leaderboard = lake.facts("score.leaderboard", PARTITION)
        if leaderboard is None or leaderboard.meta.get(RUN) != meta[RUN]:
            return stored
        if stored == list(history[: len(stored)]):
            return history
        return _extended(stored, settings, lake, meta[RUN], lake.read("score.leaderboard", PARTITION))

    return lake.update(TABLE, PARTITION, change, fingerprint=fingerprint, meta=meta)


def publication_time(history: Sequence[PublishedScore], now: datetime) -> str:
    """Return the time of a new publication: now, or just after the last one if the clock has gone back since then."""
    last = max((row.published_at for row in history), default="")
    if last:
        now = max(now, datetime.fromisoformat(last) + timedelta.resolution)
    return now.isoformat(timespec="microseconds")


def _extended(
    history: list[PublishedScore], settings: Settings, lake: Lake, run: str, scores: Sequence[Score]
) -> list[PublishedScore]:
    pairs = dict.fromkeys((score.domain, score.assistant) for score in scores)
    inputs = {pair: _inputs(settings, lake, *pair) for pair in pairs}
    publication = Publication(publication_time(history, datetime.now(UTC)), run)
    return [*history, *rows_to_add(history, scores, inputs, publication)]


def _inputs(settings: Settings, lake: Lake, domain: str, assistant: str) -> ScoreInputs:
    key = partition_key(domain, assistant)
    probes, verdicts, claims = (
        lake.facts("question.probes", domain),
        lake.facts("score.verdicts", key),
        lake.facts("score.claims", key),
    )
    judges = [
        name for facts in (verdicts, claims) if facts for name in facts.meta.get(JUDGES, "").splitlines()
    ]
    benchmark = registry.benchmark(settings.domain(domain).benchmark)
    return ScoreInputs(
        [facts.digest for facts in (probes, verdicts) if facts is not None],
        [*dict.fromkeys(judges)],
        benchmark.judged_metrics,
        json.loads(verdicts.meta.get(INPUTS, "{}")).get("simulator") if verdicts else None,
    )
