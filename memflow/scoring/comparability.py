"""What every benchmark's board has: figures of the attribution by evidence, and the terms of a comparison.

A comparison is what stands in one domain under one chat model. Its terms are the answer prompts, the model's
fingerprint, k and the budget of tokens; where they are not the same for all, every row says in what they differ.
A benchmark's own figures are its own business (benchmarks/<name>/scores.py, figures.py).
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from memflow.fingerprint import seeded
from memflow.metrics.intervals import Interval, mean_interval
from memflow.records import BY_EVIDENCE, RECALL_AT_10, FailureAttribution, Reply, Score
from memflow.scoring.attribution import NO_EVIDENCE

COVERAGE = 0.9
"""Share of the probes with evidence that must be attributed for a figure to be shown."""
CHECKPOINTS = 30
"""Where there are more checkpoints, they are steps of episodes that have none in common: no figure is of one."""

Value = Callable[[FailureAttribution], float | None]

_MEASURES: Mapping[tuple[str, str], Value] = {
    ("evidence_recall", "standard"): lambda row: _share(row.recalled, row.evidence),
    ("evidence_precision", "standard"): lambda row: _share(row.relevant, row.entries),
    (RECALL_AT_10, "standard"): lambda row: _share(row.recalled_at_10, row.evidence),
    ("write_failure", BY_EVIDENCE): lambda row: row.write,
    ("read_failure", BY_EVIDENCE): lambda row: row.read,
    ("utilization_failure", BY_EVIDENCE): lambda row: row.utilization,
}
"""Metric and variant, and their value for one probe: None where it has none."""


@dataclass(frozen=True, slots=True)
class MeasuredSettings:
    """On what terms an assistant was measured."""

    fingerprint: str | None = None
    prompts: tuple[str, ...] = ()
    k: int | None = None
    budget: int | None = None
    injected_tokens: float | None = None

    @classmethod
    def of(
        cls, replies: Sequence[Reply], k: int | None = None, budget: int | None = None
    ) -> "MeasuredSettings":
        """The terms that show in an assistant's replies, with its memory's k and budget."""
        asked = [reply for reply in replies if reply.model is not None]
        return cls(
            fingerprint=next((reply.model for reply in asked), None),
            prompts=tuple(sorted({reply.prompt for reply in asked if reply.prompt is not None})),
            k=k,
            budget=budget,
            injected_tokens=sum(reply.injected_tokens for reply in asked) / len(asked) if asked else None,
        )


def compare_settings(figures: Iterable[Score], terms: Mapping[str, MeasuredSettings]) -> list[Score]:
    """The figures of one domain with the terms of their assistants, and in what these differ."""
    stamped = []
    for figure in figures:
        own = terms[figure.assistant]
        stamped.append(
            replace(
                figure,
                fingerprint=own.fingerprint,
                prompts=list(own.prompts),
                k=own.k,
                budget=own.budget,
                injected_tokens=own.injected_tokens,
            )
        )
    differing = differing_settings(stamped)
    return [replace(figure, differing_settings=said) for figure, said in zip(stamped, differing, strict=True)]


def differing_settings(figures: Sequence[Score]) -> list[str | None]:
    """For each figure: in what its terms differ from those of others in its comparison; None where in nothing.

    A term that a memory does not have (k of `full`, the budget of `rag`) is not compared.
    """
    seen: dict[tuple[str, str, str], set[str]] = defaultdict(set)
    for figure in figures:
        for term, value in _terms(figure):
            seen[figure.domain, figure.model, term].add(value)
    found = []
    for figure in figures:
        said = []
        for term, value in _terms(figure):
            others = sorted(seen[figure.domain, figure.model, term] - {value})
            if others:
                said.append(f"{term} {value}, others {', '.join(others)}")
        found.append("; ".join(said) or None)
    return found


def evidence_scores(
    rows: Sequence[FailureAttribution],
    like: Score,
    seed: int,
    parts: Mapping[str, frozenset[str]] | None = None,
) -> list[Score]:
    """Recall and precision of evidence and the failures by evidence, over all, by checkpoint, by category, and for the
    benchmark's own `parts` (Benchmark.parts).

    Recall: the mean over probes of the share of their evidence that recalled entries came from; recall@10, that the
    ten best entries found came from, whether a budget of tokens let them through or not. Precision: of the share of
    recalled entries that came from evidence. `like` is any figure of the same assistant and domain.
    """
    slices: dict[str, list[FailureAttribution]] = {"all": list(rows)}
    checkpoints = sorted({row.checkpoint for row in rows})
    if 1 < len(checkpoints) <= CHECKPOINTS:
        slices |= {f"checkpoint {at}": [row for row in rows if row.checkpoint == at] for at in checkpoints}
    for category in sorted({row.category for row in rows if row.category is not None}):
        slices[f"category {category}"] = [row for row in rows if row.category == category]
    for name, probes in (parts or {}).items():
        slices[name] = [row for row in rows if row.probe_id in probes]
    return [
        _figure(metric, variant, name, part, value, like, seed)
        for name, part in slices.items()
        for (metric, variant), value in _MEASURES.items()
    ]


def _figure(
    metric: str,
    variant: str,
    name: str,
    rows: Sequence[FailureAttribution],
    value: Value,
    like: Score,
    seed: int,
) -> Score:
    asked = [row for row in rows if row.reason != NO_EVIDENCE]
    if metric == "evidence_precision":  # where nothing was recalled, there is nothing to be precise
        asked = [row for row in asked if row.entries != 0]
    scored = [(row, found) for row in asked if (found := value(row)) is not None]
    by_episode: dict[str, list[float]] = defaultdict(list)
    for row, found in scored:
        by_episode[row.episode_id].append(found)
    # As for the benchmarks' figures: episodes are drawn, or probes where there is one episode only.
    drawn = [*by_episode.values()]
    if len(drawn) == 1:
        drawn = [[each] for each in drawn[0]]
    coverage = len(scored) / len(asked) if asked else 0.0
    reason = None
    if not asked:
        reason = "no probe here has evidence to follow"
    elif metric == RECALL_AT_10 and not scored and any(row.recalled is not None for row in asked):
        reason = f"{like.memory} does not rank what it recalls: it has no ten best"
    elif coverage < COVERAGE:
        first = next((row.reason for row in asked if value(row) is None), None)
        reason = f"{len(scored)} of {len(asked)} probes can be attributed: {first}" if scored else first
    interval = Interval(None, None, None)
    if reason is None:
        sums, counts = [sum(each) for each in drawn], [len(each) for each in drawn]
        interval = mean_interval(sums, counts, seed=seeded(seed, like.domain, metric, variant, name))
    return replace(
        like,
        metric=metric,
        variant=variant,
        slice=name,
        value=interval.value,
        low=interval.low,
        high=interval.high,
        n=len(scored),
        n_episodes=len(by_episode),
        coverage=coverage,
        reason=reason,
    )


def _share(part: int | None, whole: int | None) -> float | None:
    return None if part is None or not whole else part / whole


def _terms(figure: Score) -> list[tuple[str, str]]:
    """A figure's terms by name. Prompts are compared by name: memories with notes and without have different ones."""
    found = [
        (f"prompt {name}", digest) for name, _, digest in (each.partition("@") for each in figure.prompts)
    ]
    fingerprint = None if figure.fingerprint is None else figure.fingerprint[:8]
    for term, value in (("model", fingerprint), ("k", figure.k), ("budget", figure.budget)):
        if value is not None:
            found.append((term, str(value)))
    return found
