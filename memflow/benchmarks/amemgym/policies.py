"""Comparison of on-policy and off-policy evaluation: the score and the rank of every memory in both (section 4.2).

Both domains must have the same users and probes, and each assistant the same chat model and prompts.
memflow/metrics/policies.py computes the statistics.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Any

import numpy as np

from memflow.benchmarks.amemgym.config import parse_config
from memflow.benchmarks.amemgym.scoring import NO_ORACLE
from memflow.benchmarks.domains import Domain
from memflow.errors import BadInput
from memflow.memories.bounds import BOUNDS
from memflow.metrics.intervals import Interval, proportion_interval
from memflow.metrics.policies import PairedIntervals, PolicyCounts, paired_intervals, rank_changes, ranks
from memflow.records import Probe, Reply, Verdict
from memflow.scoring.estimate import Sample

METRICS = ("accuracy", "memory_score")
NO_VALUE = Interval(None, None, None)
NO_SCALE = "in some period the upper bound does not lie above chance, so there is no scale"


@dataclass(frozen=True)
class AssistantAnswers:
    """The replies of one assistant in one domain, and the verdicts on them."""

    replies: Sequence[Reply]
    verdicts: Sequence[Verdict]

    def settings(self) -> dict[str, set[str]]:
        """Return the fingerprints of the chat model and the digests of the prompts, by the name of the setting."""
        settings: dict[str, set[str]] = {}
        for reply in self.replies:
            if reply.model is not None and reply.prompt is not None:
                settings.setdefault("the chat model", set()).add(reply.model)
                name, _, digest = reply.prompt.partition("@")
                settings.setdefault(f"the prompt {name}", set()).add(digest)
        return settings


@dataclass(frozen=True)
class Side:
    """One of the two compared domains, with its probes and the replies of its assistants."""

    domain: Domain
    probes: Sequence[Probe]
    answered: Mapping[str, AssistantAnswers]


@dataclass(frozen=True)
class PolicyComparison:
    """The on-policy and off-policy score of one assistant under one metric, with the ranks.

    `rise` is the number of ranks gained off-policy; it is negative for a loss. `n` is the number of probes.
    """

    metric: str
    assistant: str
    on: Interval
    off: Interval
    difference: Interval
    n: int
    n_users: int
    coverage: float
    rank_on: int | None = None
    rank_off: int | None = None
    rise: int | None = None
    reason: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return the comparison as a dict of numbers and texts."""
        plain = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {
            name: value._asdict() if isinstance(value, Interval) else value for name, value in plain.items()
        }


def compare(on: Side, off: Side) -> list[PolicyComparison]:
    """Return a comparison for each metric and each assistant that was measured in both domains.

    Rows are sorted by on-policy score, best first, with the bounds last. Raises BadInput if users, probes, models or
    prompts differ.
    """
    _check_comparable(on, off)
    assistants = [assistant for assistant in on.answered if assistant in off.answered]
    comparisons = []
    for metric in METRICS:
        comparisons += _add_ranks([_compare_assistant(on, off, name, metric) for name in assistants])
    return comparisons


def _check_comparable(on: Side, off: Side) -> None:
    """Raise BadInput if both domains differ in users, probes, models or prompts, or share no assistant."""
    for side, policy in ((on, "on"), (off, "off")):
        if parse_config(side.domain).policy != policy:
            raise BadInput(
                f"{side.domain.name} is not {policy}-policy. Give the on-policy domain first and the "
                "off-policy domain second."
            )
    domains = f"{on.domain.name} and {off.domain.name}"
    on_users, off_users = ({probe.episode_id for probe in side.probes} for side in (on, off))
    if on_users != off_users:
        raise BadInput(
            f"{domains} do not have the same users ({len(on_users)} users and {len(off_users)} users): "
            f"only one domain has user {min(on_users ^ off_users)}. Rerun both with the same data and the same --limit."
        )
    on_probes, off_probes = ({probe.probe_id: _content(probe) for probe in side.probes} for side in (on, off))
    probe_ids = sorted(on_probes.keys() | off_probes.keys())
    differing = [probe_id for probe_id in probe_ids if on_probes.get(probe_id) != off_probes.get(probe_id)]
    if differing:
        raise BadInput(
            f"{domains} do not have the same probes: {len(differing)} probes differ, for example {differing[0]}. "
            "Give both domains the same data set of users and the same parameters."
        )
    common_assistants = [assistant for assistant in on.answered if assistant in off.answered]
    for assistant in common_assistants:
        on_settings, off_settings = on.answered[assistant].settings(), off.answered[assistant].settings()
        for name in sorted(on_settings.keys() & off_settings.keys()):
            if on_settings[name] != off_settings[name]:
                raise BadInput(
                    f"{assistant} has different settings in {domains}: {name} is {_short_digests(on_settings[name])} "
                    f"on-policy and {_short_digests(off_settings[name])} off-policy. Rerun both with the same "
                    "settings, or select other assistants with --assistant."
                )
    if not common_assistants:
        measured = "; ".join(
            f"{side.domain.name}: {', '.join(side.answered) or 'nothing'}" for side in (on, off)
        )
        raise BadInput(
            f"the two domains have no measured assistant in common ({measured}). Measure the same "
            "assistant in both domains."
        )


_content = attrgetter(
    "episode_id", "checkpoint", "kind", "metric", "question", "options", "gold", "revealed", "reason"
)
"""The columns of a probe that must be equal in both domains: not its domain, data set and evidence."""


def _short_digests(digests: set[str]) -> str:
    return ", ".join(sorted(digest[:8] for digest in digests))


def _compare_assistant(on: Side, off: Side, assistant: str, metric: str) -> PolicyComparison:
    """Return the comparison of one assistant over the probes that are scored in both domains."""
    choices = [probe for probe in on.probes if probe.kind == "choice"]
    _, separator, model = assistant.partition("@")

    def accuracies(side: Side, name: str) -> Mapping[str, float]:
        answers = side.answered.get(name)
        return {} if answers is None else _accuracies(answers)

    oracle = f"oracle{separator}{model}"
    on_values, off_values = accuracies(on, assistant), accuracies(off, assistant)
    on_bounds, off_bounds = accuracies(on, oracle), accuracies(off, oracle)
    required = [on_values, off_values]
    if metric == "memory_score":
        required += [on_bounds, off_bounds]
    lacks_oracle = metric == "memory_score" and not (on_bounds and off_bounds)
    scored = [probe for probe in choices if all(probe.probe_id in values for values in required)]
    users = list(dict.fromkeys(probe.episode_id for probe in scored))
    sample = Sample(len(choices), len(scored), len(users))
    intervals = PairedIntervals(NO_VALUE, NO_VALUE, NO_VALUE)
    reason = NO_ORACLE if lacks_oracle else sample.shortage("probes of both domains")
    if reason is None:
        on_counts = _counts(scored, users, on_values, on_bounds)
        off_counts = _counts(scored, users, off_values, off_bounds)
        if metric == "memory_score":
            statistics = on_counts.memory_score, off_counts.memory_score
        else:
            statistics = on_counts.accuracy, off_counts.accuracy
        intervals = paired_intervals(*statistics, len(users), seed=on.domain.seed)
        if metric == "accuracy":
            intervals = intervals._replace(
                on=proportion_interval(on_counts.units()), off=proportion_interval(off_counts.units())
            )
        if intervals.difference.value is None:
            intervals, reason = PairedIntervals(NO_VALUE, NO_VALUE, NO_VALUE), NO_SCALE
    return PolicyComparison(
        metric, assistant, *intervals, sample.n, sample.episodes, sample.coverage, reason=reason
    )


def _accuracies(results: AssistantAnswers) -> dict[str, float]:
    return {
        row.probe_id: row.value
        for row in results.verdicts
        if row.metric == "accuracy" and row.variant == "standard" and row.value is not None
    }


def _counts(
    probes: Sequence[Probe], users: Sequence[str], correct: Mapping[str, float], bound: Mapping[str, float]
) -> PolicyCounts:
    """Return sums by user and period: correct answers, those of the upper bound, chance, and probes."""
    periods = sorted({probe.checkpoint for probe in probes})
    rows = {user: index for index, user in enumerate(users)}
    columns = {period: index for index, period in enumerate(periods)}
    sums = np.zeros((4, len(users), len(periods)))
    for probe in probes:
        key = probe.probe_id
        numbers = (correct[key], bound.get(key, np.nan), 1 / len(probe.options), 1.0)
        sums[:, rows[probe.episode_id], columns[probe.checkpoint]] += numbers
    return PolicyCounts(*sums)


def _add_ranks(rows: Sequence[PolicyComparison]) -> list[PolicyComparison]:
    """Return the rows with their ranks. Bounds get no rank."""
    systems = [row for row in rows if row.assistant.partition("@")[0] not in BOUNDS]
    on_ranks = ranks([row.on.value for row in systems])
    off_ranks = ranks([row.off.value for row in systems])
    ranked = [
        replace(row, rank_on=on_rank, rank_off=off_rank, rise=rise)
        for row, on_rank, off_rank, rise in zip(
            systems, on_ranks, off_ranks, rank_changes(on_ranks, off_ranks), strict=True
        )
    ]
    ranked.sort(key=lambda row: (row.rank_on is None, row.rank_on or 0, row.assistant))
    return [*ranked, *(row for row in rows if row not in systems)]
