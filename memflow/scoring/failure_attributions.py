"""The two attributions of failures: by evidence, which leads in every table, and by state probes.

By evidence (attribution.py), a failure is where the messages that an answer rests on were lost. By state probes, it is
where the assistant's own statements of the user's state were wrong, if the benchmark asks for them. Stored variants
are `by_evidence` and `standard`.
"""

from collections.abc import Iterable, Sequence

from memflow.records import BY_EVIDENCE, Score
from memflow.scoring.catalog import FAILURES, NamedScore
from memflow.scoring.judges import STANDARD

BY_STATE_PROBES = "by state probes"
NAMES = tuple(metric.name for metric in FAILURES)
WRITE, READ, _ = NAMES
READ_AS_WRITE = (
    "a read path that always fails counts as write failure by state probes, which read the state through it"
)
LOST_LATER = (
    "by state probes, a state that was known once and is lost later is a read failure; by evidence, a message without "
    "a live entry is a write failure"
)
ANSWERED = (
    "by state probes, the assistant's own statements decide; by evidence, the entries that were recalled"
)


def is_state_probe_score(score: NamedScore) -> bool:
    """Return whether a score is a failure rate by state probes."""
    return score.metric in NAMES and score.variant == STANDARD


def metric_text(metric: str) -> str:
    """Return the name of the standard variant of a metric in a text, such as `write_failure by state probes`."""
    return f"{metric} {BY_STATE_PROBES}" if metric in NAMES else metric


def variant_text(metric: str, variant: str) -> str:
    """Return the name of a variant in a table: `by state probes` for the standard variant of failure rates."""
    return BY_STATE_PROBES if metric in NAMES and variant == STANDARD else variant


def failure_scores(scores: Iterable[Score], variant: str) -> list[Score]:
    """Return the failure rates over all probes of one attribution: `by_evidence`, or `standard` for state probes."""
    return [
        score
        for score in scores
        if score.slice == "all" and score.metric in NAMES and score.variant == variant
    ]


def contradictions(scores: Sequence[Score]) -> list[str]:
    """Return a sentence for each assistant whose failures differ between both attributions by more than noise.

    A failure rate differs if the 95 % intervals of its two attributions do not overlap. That is a strict rule, since
    both are of the same probes. The rate that differs most is named. Without intervals, nothing is said.
    """
    rates: dict[tuple[str, str], dict[tuple[str, str], Score]] = {}
    for variant in (BY_EVIDENCE, STANDARD):
        for score in failure_scores(scores, variant):
            rates.setdefault((score.domain, score.assistant), {})[score.metric, variant] = score
    sentences = [
        _contradiction(assistant, assistant_rates) for (_, assistant), assistant_rates in rates.items()
    ]
    return [sentence for sentence in sentences if sentence is not None]


def _contradiction(assistant: str, rates: dict[tuple[str, str], Score]) -> str | None:
    """Return the sentence on the failure rate that differs most between both attributions; None if none does."""
    differences = {}
    for metric in NAMES:
        score_by_evidence, score_by_probes = rates.get((metric, BY_EVIDENCE)), rates.get((metric, STANDARD))
        if (
            score_by_evidence
            and score_by_probes
            and _have_disjoint_intervals(score_by_evidence, score_by_probes)
        ):
            differences[metric] = (score_by_probes.value or 0.0) - (score_by_evidence.value or 0.0)
    if not differences:
        return None
    metric = max(differences, key=lambda name: abs(differences[name]))
    higher_by_probes = differences[metric] > 0
    # State probes read through the memory: a broken read path raises their write failures and lowers their read
    # failures. A state that is lost later does the opposite.
    if (metric == WRITE and higher_by_probes) or (metric == READ and not higher_by_probes):
        reason = READ_AS_WRITE
    elif metric in (WRITE, READ):
        reason = LOST_LATER
    else:
        reason = ANSWERED
    by_evidence, by_probes = (rates[metric, variant].value for variant in (BY_EVIDENCE, STANDARD))
    name = metric.replace("_", " ")
    return (
        f"{assistant}: {name} is {by_evidence:.3f} by evidence and {by_probes:.3f} by state probes: {reason}."
    )


def _have_disjoint_intervals(score: Score, other: Score) -> bool:
    """Return whether the intervals of two scores do not overlap; False if one has no interval."""
    if score.low is None or score.high is None or other.low is None or other.high is None:
        return False
    return score.high < other.low or other.high < score.low
