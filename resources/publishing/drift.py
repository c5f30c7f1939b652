"""The rows of score.drift: each assistant's current evaluation, compared with the one before its inputs last changed.

A publication is a version of the leaderboard. The evaluation before is that of the last publication with other inputs,
so partitions that one regeneration wrote several times are compared with what was published before all of it. The rows
depend only on what the lake keeps: publishing twice, or after an interruption, gives the same ones. Rows of earlier
changes are carried over. memflow/scoring/drift.py computes the rows.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache, partial
from logging import getLogger

from memflow.benchmarks import registry
from memflow.benchmarks.domains import Domain
from memflow.errors import BadInput, DamagedFile, MissingData
from memflow.fingerprint import digest
from memflow.pipeline import partition_key
from memflow.records import Drift
from memflow.resources.lake.facts import Facts
from memflow.resources.lake.lake import Lake
from memflow.resources.lake.past import PastLake
from memflow.resources.lake.versions import Version
from memflow.resources.publishing.comparisons import VerdictSource, valid_test_probes, verdict_values
from memflow.resources.publishing.health import stored_health
from memflow.resources.settings.settings import Settings
from memflow.scoring.drift import (
    INPUTS,
    Evaluation,
    MetricValues,
    adjust_drifts,
    changed_inputs,
    drift_rows,
)
from memflow.scoring.measures import STANDARD, MeanMeasure
from memflow.scoring.published_health import AssistantHealth
from memflow.scoring.stages import EvaluationRows

VERDICTS, PROBES, DRIFT, ALL = "score.verdicts", "question.probes", "score.drift", "all"
ASKED = "probes"
"""The metadata key of the content hash of the probes that verdicts are on."""


@dataclass(frozen=True)
class InputChange:
    """The last change of an assistant's inputs: when both states were first published, and their verdicts."""

    partition: str
    before_at: datetime
    published_at: datetime
    before: Facts
    after: Facts

    @property
    def evaluations(self) -> str:
        """The content hash of both evaluations."""
        return digest(
            *((each.digest, each.meta[ASKED], each.meta[INPUTS]) for each in (self.before, self.after))
        )

    @property
    def times(self) -> tuple[str, str]:
        """The times of the publications before and after the change, as ISO 8601."""
        before, after = (
            each.isoformat(timespec="milliseconds") for each in (self.before_at, self.published_at)
        )
        return before, after


def drift_table(settings: Settings, lake: Lake) -> list[Drift]:
    """Return the rows of score.drift after the leaderboard was written: those of the last changes, and former ones."""
    former = _stored(lake)
    kept = {(row.domain, row.assistant, row.published_at): row.evaluations for row in former}
    past = cache(partial(PastLake, lake))
    found: dict[tuple[str, str, str], list[Drift]] = {}
    for change in _input_changes(settings, lake):
        domain, _, assistant = change.partition.partition("/")
        key = (domain, assistant, change.times[1])
        if kept.get(key) != change.evaluations:
            rows = _compare(settings.domain(domain), assistant, change, past(change.before_at), lake)
            if rows is not None:
                found[key] = rows
    rows = [row for row in former if (row.domain, row.assistant, row.published_at) not in found]
    return _adjust_by_publication([*rows, *(row for each in found.values() for row in each)])


def new_drift(lake: Lake) -> list[Drift]:
    """Return the drift after the changes that the current leaderboard is the first to publish."""
    published = lake.facts("score.leaderboard", ALL)
    if published is None:
        return []
    time = published.since.isoformat(timespec="milliseconds")
    return [row for row in _stored(lake) if row.published_at == time]


def _stored(lake: Lake) -> list[Drift]:
    return lake.accumulated(DRIFT, ALL)


def _adjust_by_publication(rows: Sequence[Drift]) -> list[Drift]:
    """Adjust p values over the rows of each publication. Return the rows, newest publication first."""
    times = sorted({row.published_at for row in rows}, reverse=True)
    return [
        each for time in times for each in adjust_drifts([row for row in rows if row.published_at == time])
    ]


def _input_changes(settings: Settings, lake: Lake) -> Iterator[InputChange]:
    moments = [each.since for each in lake.versions("score.leaderboard", ALL)]
    probes = cache(lambda domain: lake.versions(PROBES, domain))
    for partition in lake.current_partitions(VERDICTS):
        domain = partition.partition("/")[0]
        if settings.has_domain(domain) and lake.damage(PROBES, domain) is None:
            try:
                change = _last_change(partition, lake.versions(VERDICTS, partition), probes(domain), moments)
            except DamagedFile as wrong:  # the record of an earlier version
                getLogger("memflow").warning("The drift of %s is not computed: %s", partition, wrong)
                continue
            if change is not None:
                yield change


def _last_change(
    partition: str, verdicts: Sequence[Version], probes: Sequence[Version], moments: Sequence[datetime]
) -> InputChange | None:
    """Return the last change of inputs between two publications (`moments`, newest first); None if there is none."""
    current, published = verdicts[0].facts, None
    if INPUTS not in current.meta:
        return None
    for moment in moments:
        found, asked = _current_at(verdicts, moment), _current_at(probes, moment)
        if found is None or INPUTS not in found.meta:
            return None
        if asked is None or found.meta.get(ASKED) != asked.digest:
            continue  # the verdicts were outdated, so the leaderboard left them out
        if found.meta[INPUTS] == current.meta[INPUTS]:
            published = moment
        elif published is not None:
            return InputChange(partition, moment, published, found, current)
    return None


def _current_at(versions: Sequence[Version], moment: datetime) -> Facts | None:
    return next((each.facts for each in versions if each.was_current(moment)), None)


def _compare(
    domain: Domain, assistant: str, change: InputChange, past: Lake, lake: Lake
) -> list[Drift] | None:
    """Return the drift of a change; None if the rows before it were removed or cannot be read."""
    inputs = [json.loads(each.meta[INPUTS]) for each in (change.before, change.after)]
    if not changed_inputs(*inputs):
        return []
    try:
        before = _evaluation(past, domain, assistant, inputs[0], change.times[0])
        after = _evaluation(lake, domain, assistant, inputs[1], change.times[1])
    except (MissingData, BadInput):
        return None
    rows = drift_rows(domain.name, assistant, before, after, seed=domain.seed)
    return [replace(row, evaluations=change.evaluations) for row in rows]


def _evaluation(
    lake: Lake, domain: Domain, assistant: str, inputs: Mapping[str, str], published_at: str
) -> Evaluation:
    key = partition_key(domain.name, assistant)
    probes = [probe for probe in lake.read(PROBES, domain.name) if probe.split == "test"]
    health = stored_health(lake, domain.name, assistant)
    starts = lake.columns("utterance.turns", domain.name, ("episode_id", "base"))
    return Evaluation(
        EvaluationRows(
            probes=probes,
            messages=lake.read("memory.transcripts", key),
            replies=lake.read("answer.replies", key),
            bases={episode: base for episode, base in starts if base is not None},
        ),
        inputs,
        dict(_metric_values(lake, domain, assistant, health)),
        published_at,
        health.statement if health is not None and health.is_faulty else None,
    )


def _metric_values(
    lake: Lake, domain: Domain, assistant: str, health: AssistantHealth | None
) -> Iterator[tuple[tuple[str, str], MetricValues]]:
    """Yield the values of each metric that is compared and is a mean over probes."""
    valid = valid_test_probes(lake, domain.name)
    source = VerdictSource(lake, domain.name, assistant, {"model": ""}, health=health)
    values = verdict_values([assistant], [source], [None], valid)
    for measure in registry.benchmark(domain.benchmark).measures(domain, values):
        if (
            isinstance(measure, MeanMeasure)
            and measure.variant == STANDARD
            and len(measure.episodes) == len(valid)
        ):
            yield (measure.metric, measure.variant), MetricValues.from_measure(measure, valid)
