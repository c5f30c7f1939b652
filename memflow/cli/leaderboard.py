"""`memflow show leaderboard`: the published scores of every metric."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import RenderableType

from memflow.cli.options import AssistantFilter, DomainFilter, MetricFilter, front_of, option
from memflow.cli.output import DOCUMENTS, Format, FormatOption, print_result
from memflow.errors import BadInput
from memflow.labels import no_interval, score_label, units_note
from memflow.operations.stored_names import stored_scores
from memflow.rendering.evidence import CAVEAT, count, evidence, label_note, state_probe_failures, warnings
from memflow.rendering.retrieval import retrieval_tables
from memflow.rendering.scores import leaderboard_parts
from memflow.rendering.tables import table_of
from memflow.rendering.texts import heading, interval_text, note, share_text
from memflow.scoring.catalog import EFFICIENCY_NAMES, find_metric, is_evidence_score, sort_key
from memflow.scoring.failure_attributions import is_state_probe_score, variant_text
from memflow.scoring.noise_labels import noise_notes, noise_text
from memflow.scoring.published_health import FAULTY, NOT_MEASURED, flagged

if TYPE_CHECKING:
    from memflow.records import Score

COMMON_RANKS = (
    "Assistants with a common rank cannot be told apart. `memflow compare A B` shows the difference of two."
)
DOCUMENT = (
    "In brackets: 95 % intervals. Bold: better than every other assistant of the table (paired, adjusted p at most "
    ".05, beyond the noise between repeats), without oracle and previous, which read the gold."
)
EVERY = "(every assistant)"
"""The name in the row of a bound that has the same value for all assistants."""


def leaderboard(
    ctx: typer.Context,
    domain: DomainFilter = None,
    assistant: AssistantFilter = None,
    metric: MetricFilter = None,
    slices: Annotated[
        bool, typer.Option("--slices", help="Show every slice: periods, categories, data sets.")
    ] = False,
    variants: Annotated[
        bool, typer.Option("--variants", help="Show named deviations from the paper's metric as well.")
    ] = False,
    limit: Annotated[
        int,
        option("--limit", "Show so many assistants of each domain and metric; 0 is all.", metavar="N", min=0),
    ] = 10,
    form: FormatOption = Format.table,
) -> None:
    """Show the scores of every metric, best first: value, 95 % interval, n, episodes and coverage.

    Markdown and LaTeX have the primary metrics, or those of `--metric`, with an assistant in each row.

    n is the number of probes with a value, and of how many planned ones if some have none; coverage is their share. A
    score without a value has a reason; a faulty memory is not measured. Below the tables stands what is suspect or
    incomplete: missing data sets, limits, quarantined rows and failed replies. docs/metrics.md describes each metric
    and its direction.
    """
    from memflow.resources.publishing.rankings import stored_retrieval

    settings, lake = front_of(ctx).load(), front_of(ctx).lake()
    retrieval = [
        row
        for row in stored_retrieval(settings, lake)
        if (not domain or row.domain in domain)
        and (not assistant or row.assistant in assistant)
        and not metric
    ]
    try:
        scores = stored_scores(settings, lake, domain, assistant, metric, slices=slices, variants=variants)
    except BadInput:
        if not retrieval:
            raise
        scores = []
    imported = {score.assistant: score.imported for score in scores if score.imported}
    label, rows = score_label(scores), [asdict(score) for score in scores]
    if form in DOCUMENTS and not (slices or variants):
        compared = lake.read_all("score.comparisons", lake.partitions("score.comparisons"))
        parts = [*leaderboard_parts(settings, scores, compared, is_chosen=bool(metric)), note(DOCUMENT)]
    else:
        parts = [
            *_tables(scores, slices=slices, variants=variants, limit=limit),
            *warnings(scores),
            *label_note(label, CAVEAT),
        ]
    print_result(
        form,
        {"label": label, "scores": rows, "retrieval": [asdict(row) for row in retrieval]},
        *parts,
        *(note(f"\n{name} is imported, not run by memflow: {source}.") for name, source in imported.items()),
        *(retrieval_tables(retrieval) if retrieval else ()),
        rows=rows,
    )


def _tables(
    scores: Sequence["Score"], *, slices: bool, variants: bool, limit: int
) -> Iterator[RenderableType]:
    """Yield the tables of each domain: metrics, best assistants first; failures by evidence, then by state probes."""
    for domain in dict.fromkeys(score.domain for score in scores):
        whole = of_domain = [score for score in scores if score.domain == domain]
        if not slices:  # the tables of failures have these
            of_domain = [
                score for score in whole if not is_evidence_score(score) and not is_state_probe_score(score)
            ]
        variants = variants or any(score.variant != "standard" for score in of_domain)
        groups = [*_groups(of_domain)]
        best = [group[: limit or None] for group in groups]
        rows = [
            _row(score, is_first=not at, slices=slices, variants=variants)
            for group in best
            for at, score in enumerate(group)
        ]
        yield heading(domain)
        if rows:
            yield table_of(rows, [*rows[0]])
        if text := units_note(of_domain):
            yield note(text)
        if any(row["rank"] for row in rows):
            yield note(COMMON_RANKS)
        yield from map(note, noise_notes(of_domain))
        if best != groups:
            yield note(f"The best {limit} assistants of each metric are shown. `--limit 0` shows all.")
        names = {score.assistant for group in best for score in group}
        shown = [score for score in whole if score.assistant in names] or whole
        yield from (*evidence(shown), *state_probe_failures(shown))


def _row(score: "Score", *, is_first: bool, slices: bool, variants: bool) -> dict[str, Any]:
    """Return the cells of a score by column; the metric, variant and slice stand in the first row of each group."""
    # Small seconds and calls have three significant digits.
    form = ".3g" if score.metric in EFFICIENCY_NAMES else ",.3f"
    value = "" if score.value is None else f"{score.value:{form}}"
    return {
        "metric": score.metric if is_first else "",
        "variant": variant_text(score.metric, score.variant) if is_first and variants else "",
        "slice": score.slice if is_first and slices else "",
        "assistant": flagged(score.assistant, [score]),
        "value": NOT_MEASURED if score.health == FAULTY else value,
        "deviation": score.deviation if slices else None,
        "judges": interval_text(score.judge_low, score.judge_high, form),
        "sensitivity": share_text(score, "judge_sensitivity"),
        "specificity": share_text(score, "judge_specificity"),
        "rank": " – ".join(str(rank) for rank in dict.fromkeys((score.rank_low, score.rank_high)) if rank),
        "95 % interval": interval_text(score.low, score.high, form)
        or no_interval(score).replace("no interval", "none"),
        "noise": noise_text(score, interval=True),
        "n": count(score),
        "episodes": score.n_episodes,
        "coverage": f"{score.coverage:.0%}",
        "model": score.model,
        "embedder": score.embedder,
        "reason": score.reason,
    }


def _groups(scores: Sequence["Score"]) -> Iterator[list["Score"]]:
    """Yield the scores by metric, variant and slice, in order of first occurrence; within each group, best first.

    A bound that is the same for all assistants has one row, for EVERY assistant, beside those of faulty memories.
    """
    groups: dict[tuple[str, str, str], list[Score]] = {}
    for score in scores:
        groups.setdefault((score.metric, score.variant, score.slice), []).append(score)
    metrics = [*dict.fromkeys(metric for metric, _, _ in groups)]
    slices = [*dict.fromkeys(name for _, _, name in groups)]
    for key in sorted(
        groups, key=lambda key: (metrics.index(key[0]), key[1] != "standard", key[1], slices.index(key[2]))
    ):
        group = sorted(groups[key], key=lambda score: (sort_key(score.metric, score.value), score.assistant))
        known = [score for score in group if score.health != FAULTY]
        values = {(score.value, score.low, score.high, score.n, score.model, score.reason) for score in known}
        if find_metric(key[0]).group == "bound" and len(known) > 1 and len(values) == 1:
            faulty = [score for score in group if score.health == FAULTY]
            group = [replace(known[0], assistant=EVERY, embedder=None, health=None), *faulty]
        yield group
