"""`memflow export csv`, `markdown` and `latex`: leaderboard, comparisons and papers' tables for other documents.

CSV has a row per value, with all columns and full precision. Markdown and LaTeX have a table per domain, with notes.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import RenderableType

from memflow.cli.comparison_text import COLUMNS, METRIC, family_note
from memflow.cli.front import front_of
from memflow.cli.options import AssistantFilter, DomainFilter, MetricFilter, OverwriteOption, argument, option
from memflow.cli.output import Format, Text, document, heading, note, table_of, write
from memflow.cli.papers import PaperLimitOption, PaperModelOption, exported_paper
from memflow.cli.summary import leaderboard_parts
from memflow.errors import BadInput
from memflow.labels import sample_label, score_qualifiers
from memflow.operations.stored_scores import stored_scores
from memflow.records import Comparison, Score
from memflow.resources.lake.lake import Lake
from memflow.resources.settings.settings import Settings
from memflow.scoring.published_health import ALARMS

Names = Sequence[str] | None
Exported = tuple[Sequence[Mapping[str, Any]], Sequence[RenderableType]]
"""A result in both forms: a row per value, and tables with notes."""
BOLD = (
    "Bold: better than every other assistant of the table (paired, adjusted p at most .05, beyond the noise between "
    "repeats), without oracle and previous, which read the gold. Where several cannot be told apart, none is bold."
)


class Subject(StrEnum):
    """What is exported."""

    leaderboard = "leaderboard"
    comparisons = "comparisons"
    paper = "paper"


def _command(form: Format) -> Callable[..., None]:
    def command(
        ctx: typer.Context,
        subject: Annotated[
            Subject, argument("[leaderboard|comparisons|paper]", "The subject.")
        ] = Subject.leaderboard,
        names: Annotated[
            list[str] | None,
            argument(
                "[NAME...]", "Of comparisons: what `compare` compares. Of a paper: its table, PAPER:TABLE."
            ),
        ] = None,
        domain: DomainFilter = None,
        assistant: AssistantFilter = None,
        metric: MetricFilter = None,
        model: PaperModelOption = None,
        limit: PaperLimitOption = 0,
        output: Annotated[
            Path | None, option("--output", "The file to write. [standard output]", metavar="FILE")
        ] = None,
        force: OverwriteOption = False,
    ) -> None:
        front = front_of(ctx)
        text = exported_text(
            form, front.load(), front.lake(), subject, names, domain, assistant, metric, model, limit
        )
        if output is None:
            typer.echo(text, nl=False)
        else:
            write(output, text, force)

    command.__doc__ = {
        Format.csv: "Write a row per value as CSV, with full precision and everything that it depends on.",
        Format.markdown: "Write tables with intervals as Markdown. Bold is beyond noise.",
        Format.latex: "Write tables with intervals as LaTeX (package booktabs). Bold is beyond noise.",
    }[form]
    return command


csv, markdown, latex = map(_command, (Format.csv, Format.markdown, Format.latex))


def exported_text(
    form: Format,
    settings: Settings,
    lake: Lake,
    subject: Subject,
    names: Names = None,
    domain: Names = None,
    assistant: Names = None,
    metric: Names = None,
    model: str | None = None,
    limit: int = 0,
) -> str:
    """Return the leaderboard, comparisons or a paper's table of a home in a format. The arguments are the command's.

    Raises BadInput for unknown names, and for arguments that do not belong to the subject.
    """
    if subject is Subject.paper:
        if domain or assistant or metric or names is None or len(names) != 1:
            raise BadInput(
                "a paper's table is exported whole: `memflow export latex paper PAPER:TABLE`. See `memflow papers`."
            )
        exported: Exported = exported_paper(settings, lake, names[0], model, limit)
    elif model or limit:
        raise BadInput(
            f"--model and --limit select the values of a paper's table, not of {subject}. Remove them."
        )
    else:
        read = _leaderboard if subject is Subject.leaderboard else _comparisons
        exported = read(settings, lake, names, domain, assistant, metric)
    rows, parts = exported
    return document(form, rows, parts, rows)


def _leaderboard(
    settings: Settings, lake: Lake, names: Names, domain: Names, assistant: Names, metric: Names
) -> Exported:
    """Return all scores as rows, and the primary metrics, or those of `metric`, as tables."""
    if names:
        raise BadInput(
            f"the leaderboard has no operands, but the command has {' '.join(names)}. Remove them."
        )
    shown = stored_scores(settings, lake, domain, assistant, metric)
    every = stored_scores(settings, lake, domain, assistant, metric, slices=True, variants=True)
    others: dict[tuple[str, str], list[Score]] = {}
    for score in every:
        others.setdefault((score.domain, score.assistant), []).append(score)
    rows = [
        {
            **asdict(score),
            "labels": "; ".join(score_qualifiers(score, others[score.domain, score.assistant])),
        }
        for score in every
    ]
    parts = leaderboard_parts(settings, shown, _stored(lake), is_chosen=bool(metric))
    return rows, [*parts, note(f"In brackets: 95 % intervals. {BOLD}")]


def _comparisons(
    settings: Settings, lake: Lake, names: Names, domain: Names, assistant: Names, metric: Names
) -> Exported:
    """Return the paired differences of operands, as `memflow compare` has them, or of every two assistants."""
    from memflow.operations.comparison import compare_domain
    from memflow.operations.operands import parse_operands, read_operands

    stored_scores(settings, lake, domain, assistant, metric)  # raises BadInput for unknown names
    compared = _stored(lake)
    if names:
        stored = read_operands(lake, parse_operands(names), domain)
        compared = [row for of_domain in stored for row in compare_domain(settings, lake, of_domain).rows]
    chosen = [
        row
        for row in compared
        if (names or not domain or row.domain in domain)
        and (not metric or row.metric in metric)
        and (not assistant or {row.a, row.b} <= {*assistant})
    ]
    if not chosen:
        raise BadInput(
            "no comparison matches the selection. `memflow show leaderboard` lists the assistants."
        )
    parts: list[RenderableType] = []
    for title in dict.fromkeys(row.domain for row in chosen):
        rows = [row for row in chosen if row.domain == title and row.slice == "all"]
        parts += [heading(title), table_of(rows, PAIRS), note(family_note(rows))]
        parts += map(note, dict.fromkeys(label for row in rows for label in _pair_labels(row)))
    return [{**asdict(row), "labels": "; ".join(_pair_labels(row))} for row in chosen], parts


def _stored(lake: Lake) -> list[Comparison]:
    return lake.read_all("score.comparisons", lake.partitions("score.comparisons"))


def _pair_labels(row: Comparison) -> Iterable[str]:
    """Yield what qualifies a comparison: scripted, a sample, the health of both assistants, no value."""
    if row.scripted:
        yield "scripted: a scripted chat, not a language model, is behind A or B"
    for domain in row.domain.split(" and "):
        yield from sample_label(domain)
    for name, state in ((row.a, row.health_a), (row.b, row.health_b)):
        if state in ALARMS:
            yield f"{name} is {state}"
    if row.difference is None:
        yield f"no value: {row.reason}"


def _difference(row: Comparison) -> Text:
    is_clear = row.better is not None and not row.within_noise
    return Text("" if row.difference is None else f"{row.difference:+.3f}", "bold" if is_clear else "")


PAIRS = METRIC | {"assistant A": "a", "assistant B": "b"} | COLUMNS | {"A - B": _difference}
