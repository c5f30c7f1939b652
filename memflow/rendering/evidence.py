"""Notes below a leaderboard: failure table, faulty memories, replaced prompts, missing data, self-judged answers."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from rich.console import RenderableType

from memflow.labels import caveat_of
from memflow.records import RECALL_AT_10, Score
from memflow.rendering.tables import Text, table_of
from memflow.rendering.texts import first_lines, note
from memflow.scoring.calibrations import withheld_lines
from memflow.scoring.catalog import EVIDENCE, FAILURES, is_evidence_score, sort_key
from memflow.scoring.completeness import incomplete_results
from memflow.scoring.failure_attributions import NAMES, contradictions, failure_scores
from memflow.scoring.judges import STANDARD
from memflow.scoring.published_health import ADVICE, FAULTY, SUSPECT, flagged, health_alarms

TITLES = {metric.name: metric.title.lower().replace(" ", "\n", 1) for metric in (*EVIDENCE, *FAILURES)}
"""The metrics of the failure tables, in order, and their columns."""
UNCOUNTED = (
    "These memory servers call models at their own addresses. Usage, costs and budgets are without them:"
)
SELF_JUDGED = "A judge whose model also answered may prefer its own answers. Use another judge in [roles]:"
JUDGES = "Judges that failed or were not tried on known answers (`memflow judges calibrate` shows them):"
CAVEAT = "these scores show that the pipeline works; they measure no model."
"""What the label of scores without a language model means."""
FORGET = (
    "Each failed row has its reason. Answers that cannot be used stay in the ledger; to request them again, run "
    "`memflow ledger forget --kind retried` (not parsed) or `--kind cut` (cut), then `memflow run --force`."
)


def evidence(scores: Sequence[Score]) -> Iterator[RenderableType]:
    """Yield the failure table of a domain's assistants, best first, and a note on settings that differ.

    Yield nothing if the domain has no evidence scores.
    """
    whole = [score for score in scores if score.slice == "all" and is_evidence_score(score)]
    if whole:
        yield note("\nFailures by evidence: what happens to the messages that an answer rests on")
        yield table_of([{**row, **_recall(by_metric)} for row, by_metric in _rows(whole, TITLES)])
    differing = dict.fromkeys(
        f"{score.assistant}: {score.differing_settings}" for score in whole if score.differing_settings
    )
    if differing:
        yield note("Settings that differ: " + "; ".join(differing))


def state_probe_failures(scores: Sequence[Score]) -> Iterator[RenderableType]:
    """Yield the failure rates by state probes, and a line for each assistant where they contradict those by evidence.

    Yield nothing for a benchmark without state probes.
    """
    rates = [score for score in failure_scores(scores, STANDARD) if score.health != FAULTY]
    if not rates:
        return
    yield note(
        "\nFailures by state probes: what the assistant states of the user when asked (AMemGym, section 3.3)"
    )
    yield table_of([row for row, _ in _rows(rates, NAMES)])
    yield from _listed("Both attributions differ by more than noise:", contradictions(scores))


def _rows(
    scores: Iterable[Score], metrics: Iterable[str]
) -> Iterator[tuple[dict[str, Any], Mapping[str, Score]]]:
    """Yield the values of each assistant by column, with its scores by metric, best first by the first metric."""
    by_assistant: dict[str, dict[str, Score]] = {}
    for score in scores:
        by_assistant.setdefault(score.assistant, {})[score.metric] = score
    first = next(
        metric for metric in TITLES if any(metric in by_metric for by_metric in by_assistant.values())
    )

    def rank(by_metric: Mapping[str, Score]) -> float:
        return sort_key(first, by_metric[first].value if first in by_metric else None)

    for assistant, by_metric in sorted(by_assistant.items(), key=lambda item: rank(item[1])):
        values = {TITLES[name]: by_metric[name].value if name in by_metric else None for name in metrics}
        yield {"assistant": flagged(assistant, by_metric.values()), **values}, by_metric


def _recall(scores: Mapping[str, Score]) -> dict[str, Any]:
    """Return the cells on what an assistant recalled, beside its failures by evidence."""
    score = next(iter(scores.values()))
    # A memory that ranks nothing has an empty column, without a reason.
    reasons = [row.reason for row in scores.values() if row.metric != RECALL_AT_10 and row.value is None]
    return {
        "probes": max(row.n for row in scores.values()),
        "tokens\nper probe": None if score.injected_tokens is None else round(score.injected_tokens),
        "k": score.k,
        "budget": score.budget,
        "embedder": score.embedder,
        "reason": next(iter(reasons), None),
    }


def warnings(scores: Sequence[Score]) -> Iterator[RenderableType]:
    """Yield all that qualifies scores: faulty memories, missing data, uncounted models, judges, replaced prompts."""
    yield from health(scores)
    yield from _listed(JUDGES, withheld_lines(scores))
    yield from gaps(scores)
    uncounted = (
        f"{score.domain}: {score.assistant}: {score.memory_models}" for score in scores if score.memory_models
    )
    yield from _listed(UNCOUNTED, [*dict.fromkeys(uncounted)])
    judged: dict[tuple[str, str], list[str]] = {}
    for score in scores:
        for judge in score.self_judges:
            judged.setdefault((score.domain, judge), []).append(score.assistant)
    lines = [
        f"{domain}: {judge} judged the answers of {', '.join(dict.fromkeys(names))}"
        for (domain, judge), names in judged.items()
    ]
    yield from _listed(SELF_JUDGED, lines)
    if names := dict.fromkeys(name for score in scores for name in score.replaced_prompts):
        yield note(f"\nReplaced prompts behind these scores: {', '.join(names)}")


def health(scores: Sequence[Score]) -> Iterator[RenderableType]:
    """Yield warnings that list the faulty and suspect memories behind scores, and what to do next."""
    titles = {
        FAULTY: ("Not measured, because the memory is faulty:", "red"),
        SUSPECT: ("Suspect: these scores may be those of a fault of the memory:", "yellow"),
    }
    for state, (title, style) in titles.items():
        alarms = [alarm for alarm in health_alarms(scores) if alarm.state == state]
        yield from _listed(title, [alarm.line for alarm in alarms], style)
        if alarms:
            command = f"memflow show health {alarms[0].domain} {alarms[0].assistant}"
            yield Text(f"  `{command}` shows examples. {ADVICE[state]}", style=style)


def gaps(scores: Sequence[Score]) -> Iterator[RenderableType]:
    """Yield a warning that lists the data missing from the scores; nothing if the scores are complete."""
    lines = incomplete_results(scores)
    yield from _listed("Incomplete:", lines)
    if any(line.endswith(" failed") for line in lines):
        yield Text(FORGET, style="yellow")


def _listed(title: str, lines: Sequence[str], style: str = "yellow") -> Iterator[RenderableType]:
    """Yield a warning: a title and the first lines of a list. Yield nothing for an empty list."""
    if lines:
        yield Text(f"\n{title}", style=style)
        yield from first_lines(lines, style)


def label_note(label: str | None, caveat: str) -> list[Text]:
    """Return the label of results, such as of the scripted chat, with what it means; empty for results without one."""
    return [Text(f"\n{label}: {caveat_of(label, caveat)}", style="yellow")] if label else []


def metric_name(metric: str, variant: str) -> str:
    """Return a metric with its variant, such as `quality (judge_a)`; the variant `standard` is not named."""
    return metric if variant == STANDARD else f"{metric} ({variant})"


def count(score: Score) -> str:
    """Return the number of values behind a score, such as `214 of 220` if some are missing, otherwise `220`."""
    if score.planned is None or score.n >= score.planned:
        return f"{score.n:,}"
    return f"{score.n:,} of {score.planned:,}"
