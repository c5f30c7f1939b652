"""Notes below a leaderboard: failure table, faulty memories, replaced prompts, missing data, self-judged answers."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import RenderableType

from memflow.cli.output import Text, note, table
from memflow.cli.shortened import first_lines, first_names
from memflow.records import RECALL_AT_10, Score
from memflow.scoring.catalog import EVIDENCE, FAILURES, sort_key
from memflow.scoring.completeness import incomplete_results
from memflow.scoring.failure_attributions import NAMES, contradictions, failure_scores
from memflow.scoring.judges import STANDARD
from memflow.scoring.published_health import ADVICE, FAULTY, SUSPECT, flagged, health_alarms

TITLES = {each.name: each.title.lower().replace(" ", "\n", 1) for each in (*EVIDENCE, *FAILURES)}
"""The metrics of the table, in order, and their columns."""
OPTIONAL = ("budget", "k", "embedder", "tokens\nper probe", "probes", "reason")

FORGET = (
    "Each failed row has its reason. Answers that cannot be used stay in the ledger; to request them again, run "
    "`memflow ledger forget --kind retried` (not parsed) or `--kind cut` (cut), then `memflow run --force`."
)


def evidence(scores: Sequence[Score]) -> Iterator[RenderableType]:
    """Yield the failure table of a domain's assistants, best first, and a note on settings that differ.

    Yield nothing if the domain has no evidence scores.
    """
    from memflow.scoring.catalog import is_evidence_score

    whole = [score for score in scores if score.slice == "all" and is_evidence_score(score)]
    if not whole:
        return
    by_assistant: dict[str, dict[str, Score]] = {}
    for score in whole:
        by_assistant.setdefault(score.assistant, {})[score.metric] = score
    rows = [_row(assistant, found) for assistant, found in _best_first(by_assistant)]
    numbers = [*TITLES.values(), "probes", "tokens\nper probe", "k", "budget"]
    columns = ["assistant", *numbers, "embedder", "reason"]
    yield note("\nFailures by evidence: what happens to the messages that an answer rests on")
    yield table("", columns, rows, right=numbers, optional=OPTIONAL)
    differing = dict.fromkeys(
        f"{score.assistant}: {score.differing_settings}" for score in whole if score.differing_settings
    )
    if differing:
        yield note("Settings that differ: " + "; ".join(differing))


def state_probe_failures(scores: Sequence[Score]) -> Iterator[RenderableType]:
    """Yield the failure rates by state probes, and a line for each assistant where they contradict those by evidence.

    Yield nothing for a benchmark without state probes.
    """
    found: dict[str, dict[str, Score]] = {}
    for score in failure_scores(scores, STANDARD):
        found.setdefault(score.assistant, {})[score.metric] = score
    if not found:
        return
    columns = [TITLES[name] for name in NAMES]
    rows = [
        [
            flagged(assistant, rates.values()),
            *(rates[name].value if name in rates else None for name in NAMES),
        ]
        for assistant, rates in _best_first(found)
        if all(score.health != FAULTY for score in rates.values())
    ]
    if not rows:
        return
    yield note(
        "\nFailures by state probes: what the assistant states of the user when asked (AMemGym, section 3.3)"
    )
    yield table("", ["assistant", *columns], rows, right=columns)
    lines = contradictions(scores)
    if lines:
        yield Text("\nBoth attributions differ by more than noise:", style="yellow")
        yield from first_lines(lines, "yellow")


def _best_first(by_assistant: Mapping[str, dict[str, Score]]) -> list[tuple[str, dict[str, Score]]]:
    """Return the assistants with their scores by metric, sorted by the first metric of TITLES that any of them has."""
    first = next(metric for metric in TITLES if any(metric in scores for scores in by_assistant.values()))

    def rank(item: tuple[str, dict[str, Score]]) -> float:
        score = item[1].get(first)
        return sort_key(first, None if score is None else score.value)

    return sorted(by_assistant.items(), key=rank)


def warnings(scores: Sequence[Score]) -> Iterator[RenderableType]:
    """Yield all that qualifies scores: faulty memories, missing data, uncounted models, judges, replaced prompts."""
    for part in (health, gaps, uncounted_models, self_judges, replaced_prompts):
        yield from part(scores)


def health(scores: Sequence[Score]) -> Iterator[RenderableType]:
    """Yield warnings that list the faulty and suspect memories behind scores, and what to do next."""
    alarms = health_alarms(scores)
    titles = {
        FAULTY: ("Not measured, because the memory is faulty:", "red"),
        SUSPECT: ("Suspect: these scores may be those of a fault of the memory:", "yellow"),
    }
    for state, (title, style) in titles.items():
        of_state = [alarm for alarm in alarms if alarm.state == state]
        if of_state:
            lines = [alarm.line for alarm in of_state]
            command = f"memflow show health {of_state[0].domain} {of_state[0].assistant}"
            yield from _listed(title, lines, style)
            yield Text(f"  `{command}` shows examples. {ADVICE[state]}", style=style)


def replaced_prompts(scores: Sequence[Score]) -> Iterator[RenderableType]:
    """Yield a note that names the replaced prompts of scores; nothing without replaced prompts."""
    if names := dict.fromkeys(name for score in scores for name in score.replaced_prompts):
        yield note(f"\nReplaced prompts behind these scores: {', '.join(names)}")


def gaps(scores: Sequence[Score]) -> Iterator[RenderableType]:
    """Yield a warning that lists the data missing from the scores; nothing if the scores are complete."""
    if lines := incomplete_results(scores):
        yield from _listed("Incomplete:", lines)
        if any(line.endswith(" failed") for line in lines):
            yield Text(FORGET, style="yellow")


def uncounted_models(scores: Sequence[Score]) -> Iterator[RenderableType]:
    """Yield a warning that lists memory servers whose model requests are not counted; nothing without such servers."""
    found = {(score.domain, score.assistant): score.memory_models for score in scores if score.memory_models}
    if found:
        lines = [f"{domain}: {assistant}: {models}" for (domain, assistant), models in found.items()]
        advice = "These memory servers call models at their own addresses. Usage, costs and budgets are without them:"
        yield from _listed(advice, lines)


def self_judges(scores: Sequence[Score]) -> Iterator[RenderableType]:
    """Yield a warning that lists judges that judged answers of their own model; nothing without such judges."""
    found: dict[tuple[str, str], list[str]] = {}
    for score in scores:
        for judge in score.self_judges:
            found.setdefault((score.domain, judge), []).append(score.assistant)
    if found:
        lines = [
            f"{domain}: {judge} judged the answers of {first_names([*dict.fromkeys(names)])}"
            for (domain, judge), names in found.items()
        ]
        advice = "A judge whose model also answered may prefer its own answers. Use another judge in [roles]:"
        yield from _listed(advice, lines)


def _listed(title: str, lines: Sequence[str], style: str = "yellow") -> Iterator[RenderableType]:
    """Yield a warning: a title and the first lines of a list."""
    yield Text(f"\n{title}", style=style)
    yield from first_lines(lines, style)


def count(score: Score) -> str:
    """Return the number of values behind a score, such as `214 of 220` if some are missing, otherwise `220`."""
    if score.planned is None or score.n >= score.planned:
        return f"{score.n:,}"
    return f"{score.n:,} of {score.planned:,}"


def _row(assistant: str, found: dict[str, Score]) -> list[Any]:
    one = next(iter(found.values()))
    values = [found[metric].value if metric in found else None for metric in TITLES]
    tokens = None if one.injected_tokens is None else round(one.injected_tokens)
    # A memory that ranks nothing has an empty column, without a reason.
    shown = [score for score in found.values() if score.metric != RECALL_AT_10]
    reason = next((score.reason for score in shown if score.value is None), None)
    return [
        flagged(assistant, found.values()),
        *values,
        max(score.n for score in found.values()),
        tokens,
        one.k,
        one.budget,
        one.embedder,
        reason,
    ]
