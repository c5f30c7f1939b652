"""`memflow show`: the leaderboard and the verdicts. probe.py shows a probe, memory.py the content of a memory."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer
from rich.console import RenderableType

from memflow.cli.damage import note_left_out
from memflow.cli.evidence import (
    count,
    evidence,
    state_probe_failures,
    warnings,
)
from memflow.cli.front import front_of
from memflow.cli.lazy_commands import CommandReference
from memflow.cli.options import AssistantFilter, DomainFilter
from memflow.cli.output import Format, FormatOption, Text, answer, cut, heading, note, table
from memflow.cli.profiles import variant_chooser
from memflow.cli.stored_names import check_names
from memflow.cli.views import ViewGroup
from memflow.labels import caveat_of, no_interval, score_label, units_note
from memflow.scoring.catalog import EFFICIENCY_NAMES, sort_key
from memflow.scoring.failure_attributions import variant_text
from memflow.scoring.noise_labels import noise_notes, noise_text
from memflow.scoring.published_health import FAULTY, NOT_MEASURED, flagged

if TYPE_CHECKING:
    from memflow.records import Score

LONGEST_ANSWER = 30
COMMON_RANKS = (
    "Assistants with a common rank cannot be told apart. `memflow compare A B` shows the difference of two."
)
EVERY = "(every assistant)"
"""The name in the row of a bound that has the same value for all assistants."""


class ShowGroup(ViewGroup):
    """The command group `memflow show`."""

    without_moment = frozenset({"metrics", "usage"})

    references: ClassVar = {
        "probe": CommandReference("memflow.cli.probe:probe"),
        "deviations": CommandReference("memflow.cli.deviations:deviations"),
        "made": CommandReference("memflow.cli.made:made"),
        "headroom": CommandReference("memflow.cli.show_headroom:headroom"),
        "health": CommandReference("memflow.cli.show_health:health"),
        "drift": CommandReference("memflow.cli.show_drift:drift"),
        "judges": CommandReference("memflow.cli.show_judges:judges"),
        "memory": CommandReference("memflow.cli.memory:memory"),
        "metrics": CommandReference("memflow.cli.metrics:metrics"),
        "noise": CommandReference("memflow.cli.show_noise:noise"),
        "history": CommandReference("memflow.cli.history:history"),
        "usage": CommandReference("memflow.cli.usage:usage"),
    }


show = typer.Typer(
    cls=ShowGroup,
    no_args_is_help=True,
    help="Show results: the leaderboard, verdicts, a probe, a memory, and the views of each benchmark.",
)

MetricFilter = Annotated[
    list[str] | None, typer.Option("--metric", metavar="NAME", help="Under this metric; may be repeated.")
]


@show.command()
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
        int, typer.Option(min=0, help="Show so many assistants of each domain and metric as text; 0 is all.")
    ] = 10,
    form: FormatOption = Format.text,
) -> None:
    """Show the scores of every metric, best first: value, 95 % interval, n, episodes and coverage.

    n is the number of probes with a value, and of how many planned ones if some have none; coverage is their share. A
    score without a value has a reason; a faulty memory is not measured. Below the tables stands what is suspect or
    incomplete: missing data sets, limits, quarantined rows and failed replies. `memflow show metrics` describes each
    metric and its direction.
    """
    from memflow.cli.published_scores import best, published_scores
    from memflow.scoring.catalog import is_evidence_score

    shown_variant = variant_chooser(front_of(ctx).load())
    published, whole = published_scores(front_of(ctx).lake(), slices=slices)
    for option, chosen in (("domain", domain), ("assistant", assistant), ("metric", metric)):
        if chosen:
            command = "memflow show metrics" if option == "metric" else ""
            known = {getattr(score, option) for score in published}
            check_names("the leaderboard", option, chosen, known, command)
    found = [
        score
        for score in whole
        if (not domain or score.domain in domain)
        and (not metric or score.metric in metric)
        and (not assistant or score.assistant in assistant)
        and (
            variants or score.variant == shown_variant(score.domain, score.metric) or is_evidence_score(score)
        )
    ]
    scores = best(found, limit if form is Format.text else 0)
    more = f"\nThe best {limit} assistants of each metric are shown. `--limit 0` shows all."
    imported = [
        note(f"\n{assistant} is imported, not run by memflow: {source}.")
        for assistant, source in dict.fromkeys((score.assistant, score.imported) for score in scores)
        if source
    ]
    label = score_label(scores)
    caveat = caveat_of(label or "", "these scores show that the pipeline works; they measure no model.")
    answer(
        form,
        {"label": label, "scores": [asdict(score) for score in scores]},
        *_tables(scores, slices=slices, variants=variants),
        *warnings(scores),
        *imported,
        *([note(more)] if len(scores) < len(found) else []),
        *([Text(f"\n{label}: {caveat}", "yellow")] if label else []),
    )


@show.command()
def verdicts(
    ctx: typer.Context,
    domain: Annotated[str | None, typer.Option(metavar="NAME", help="Of this domain.")] = None,
    assistant: Annotated[str | None, typer.Option(metavar="NAME", help="Of this assistant.")] = None,
    metric: Annotated[str | None, typer.Option(metavar="NAME", help="Under this metric.")] = None,
    episode: Annotated[str | None, typer.Option(metavar="ID", help="Of this episode.")] = None,
    checkpoint: Annotated[int | None, typer.Option(min=0, help="At this checkpoint.")] = None,
    lost: Annotated[
        bool, typer.Option("--lost", help="Only those without a value: what was lost, and why.")
    ] = False,
    limit: Annotated[int, typer.Option(min=0, help="Show so many at most; 0 is all.")] = 50,
    form: FormatOption = Format.text,
) -> None:
    """Show the verdict of each metric on each reply, with the gold and the parsed answer.

    A verdict without a value has a reason.
    """
    from resources.publishing.warehouse import Warehouse

    settings = front_of(ctx).load()
    found = Warehouse(front_of(ctx).lake(), settings.warehouse_path).query(
        "verdicts",
        domain=domain,
        assistant=assistant,
        metric=metric,
        episode=episode,
        checkpoint=checkpoint,
        quarantined=True if lost else None,
    )
    note_left_out(found.left_out)
    shown = found[:limit] if limit else list(found)
    columns = ("domain", "assistant", "probe", "gold", "answer", "metric", "value", "reason")
    rows = [
        (
            row["domain"],
            row["assistant"],
            row["probe_id"],
            cut(row["gold"] or "", LONGEST_ANSWER),
            cut(row["parsed"] or "", LONGEST_ANSWER),
            row["metric"] if row["variant"] == "standard" else f"{row['metric']} ({row['variant']})",
            row["value"],
            row["reason"],
        )
        for row in shown
    ]
    answer(
        form,
        shown,
        table("", columns, rows, right=("value",), optional=("gold", "answer", "value", "reason")),
        note(f"\n{len(shown):,} of {len(found):,} verdicts. `memflow show probe ID` shows one whole."),
    )


NUMBERS = ("value", "deviation", "judges", "rank", "95 % interval", "noise", "n", "episodes", "coverage")
OPTIONAL = (
    *("variant", "deviation", "judges", "rank", "noise"),
    *("episodes", "embedder", "model", "n", "coverage", "reason"),
)


def _tables(scores: Sequence["Score"], *, slices: bool, variants: bool) -> Iterator[RenderableType]:
    """Yield the tables of each domain: metrics, best assistants first; failures by evidence, then by state probes."""
    from memflow.scoring.catalog import is_evidence_score
    from memflow.scoring.failure_attributions import is_state_probe_score

    for domain in dict.fromkeys(score.domain for score in scores):
        of_domain = [score for score in scores if score.domain == domain]
        causes = [*evidence(of_domain), *state_probe_failures(of_domain)]
        if not slices:  # the other tables have these
            of_domain = [
                score
                for score in of_domain
                if not is_evidence_score(score) and not is_state_probe_score(score)
            ]
        of_domain = best_first(of_domain)
        variants = variants or any(score.variant != "standard" for score in of_domain)
        rows: list[dict[str, Any]] = []
        last: tuple[str, ...] = ()
        for score in without_repeated_bounds(of_domain):
            group = (score.metric, score.variant, score.slice if slices else "")
            rows.append(_row(score, is_first=group != last, slices=slices, variants=variants))
            last = group
        yield heading(domain)
        if rows:
            yield table("", [*rows[0]], [[*row.values()] for row in rows], right=NUMBERS, optional=OPTIONAL)
        if text := units_note(of_domain):
            yield note(text)
        if any(row["rank"] for row in rows):
            yield note(COMMON_RANKS)
        yield from map(note, noise_notes(of_domain))
        yield from causes


def _row(score: "Score", *, is_first: bool, slices: bool, variants: bool) -> dict[str, Any]:
    """Return the cells of a score by column; the metric, variant and slice stand in the first row of each."""
    variant = variant_text(score.metric, score.variant) if variants else ""
    return {
        "metric": score.metric if is_first else "",
        "variant": variant if is_first else "",
        **({"slice": score.slice if is_first else ""} if slices else {}),
        "assistant": flagged(score.assistant, [score]),
        "value": NOT_MEASURED if score.health == FAULTY else _number(score, score.value),
        "deviation": score.deviation if slices else None,
        "judges": _range(score, score.judge_low, score.judge_high),
        "rank": _ranks(score),
        "95 % interval": _range(score, score.low, score.high)
        or no_interval(score).replace("no interval", "none"),
        "noise": noise_text(score, interval=True),
        "n": count(score),
        "episodes": score.n_episodes,
        "coverage": f"{score.coverage:.0%}",
        "model": score.model,
        "embedder": score.embedder,
        "reason": score.reason,
    }


def without_repeated_bounds(scores: Sequence["Score"]) -> list["Score"]:
    """Return the scores with one row, for EVERY assistant, in place of those of a bound that is the same for all.

    A score that a faulty memory leaves without a value stays.
    """
    from memflow.scoring.catalog import find_metric

    groups: dict[tuple[str, ...], list[Score]] = {}
    for score in scores:
        groups.setdefault((score.domain, score.metric, score.variant, score.slice), []).append(score)
    found = []
    for group in groups.values():
        known = [score for score in group if score.health != FAULTY]
        values = {(each.value, each.low, each.high, each.n, each.model, each.reason) for each in known}
        if find_metric(group[0].metric).group == "bound" and len(known) > 1 and len(values) == 1:
            found.append(replace(known[0], assistant=EVERY, embedder=None, health=None))
            found += [score for score in group if score.health == FAULTY]
        else:
            found += group
    return found


def best_first(scores: Sequence["Score"]) -> list["Score"]:
    """Return the scores by metric, variant and slice, in order of first occurrence; within each group, best first."""
    metrics = {name: at for at, name in enumerate(dict.fromkeys(score.metric for score in scores))}
    slices = {name: at for at, name in enumerate(dict.fromkeys(score.slice for score in scores))}
    return sorted(
        scores,
        key=lambda score: (
            metrics[score.metric],
            score.variant != "standard",
            score.variant,
            slices[score.slice],
            sort_key(score.metric, score.value),
            score.assistant,
        ),
    )


def _number(score: "Score", value: float | None) -> str | None:
    """Return a value as text with three decimals; small seconds and calls have three significant digits."""
    if value is None:
        return None
    return f"{value:.3g}" if score.metric in EFFICIENCY_NAMES else f"{value:,.3f}"


def _range(score: "Score", low: float | None, high: float | None) -> str:
    ends = _number(score, low), _number(score, high)
    return "" if None in ends else f"{ends[0]} – {ends[1]}"


def _ranks(score: "Score") -> str:
    """Return the range of ranks that the comparisons leave open, such as `1 – 3`."""
    if score.rank_low is None or score.rank_high is None:
        return ""
    return (
        f"{score.rank_low} – {score.rank_high}" if score.rank_low < score.rank_high else f"{score.rank_low}"
    )
