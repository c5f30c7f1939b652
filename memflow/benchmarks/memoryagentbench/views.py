"""The view `memflow show sources`: figures in percent by source, as the paper prints them, and their mean."""

from collections.abc import Sequence

from memflow.benchmarks.memoryagentbench.metrics import NAME
from memflow.benchmarks.memoryagentbench.sources import PUBLISHED, family
from memflow.benchmarks.views import (
    ASSISTANT_OPTION,
    DOMAIN_OPTION,
    Answer,
    Heading,
    Part,
    Reader,
    Table,
    View,
)
from memflow.errors import BadInput
from memflow.records import Score

COLUMNS = ("domain", "assistant", "source", "metric", "percent", "low", "high", "questions", "published code")
_HIDDEN = ("model", "scripted")
"""Columns of the records that the table does not have."""
MEAN = "mean of sources"


def show_sources(
    reader: Reader, domain: Sequence[str] | None = None, assistant: Sequence[str] | None = None
) -> Answer:
    """Return the primary figure of each source in percent, and under the published code. Raises BadInput."""
    names = {
        known.name: known for known in reader.domains(sorted({score.domain for score in reader.scores()}))
    }
    scores = [
        score
        for score in reader.scores()
        if score.domain in names
        and names[score.domain].benchmark == NAME
        and (not domain or score.domain in domain)
        and (not assistant or score.assistant in assistant)
    ]
    if not scores:
        raise BadInput(f"no results of {NAME} yet. Create some with `memflow run --domain mab_demo`.")
    rows = [
        row
        for name, member in sorted({(score.domain, score.assistant) for score in scores})
        for row in _rows(name, member, reader, scores)
    ]
    records = [dict(zip((*COLUMNS, *_HIDDEN), row, strict=True)) for row in rows]
    table = Table(COLUMNS, [row[: len(COLUMNS)] for row in rows])
    parts: list[Part] = [Heading("Percent of the primary metric by source"), table]
    return Answer({"sources": records}, parts, records, scores)


def _rows(domain: str, assistant: str, reader: Reader, scores: Sequence[Score]) -> list[tuple[object, ...]]:
    found = {
        (score.slice, score.metric, score.variant): score
        for score in scores
        if (score.domain, score.assistant) == (domain, assistant)
    }
    sources = sorted({probe.category for probe in reader.rows("question.probes", domain) if probe.category})
    rows: list[tuple[object, ...]] = []
    for source in sources:
        asked = family(source)
        metric = asked.metric if asked else ""
        name = source if len(sources) > 1 else "all"
        ours, published = (found.get((name, metric, variant)) for variant in ("standard", PUBLISHED))
        if ours is not None:
            without_failed = None if published is None else published.value
            figures = (ours.value, ours.low, ours.high, without_failed)
            value, low, high, code = (None if figure is None else 100 * figure for figure in figures)
            model = (ours.model, ours.scripted)
            rows.append((domain, assistant, source, metric, value, low, high, ours.n, code, *model))
    if len(rows) > 1:
        questions = sum(count for row in rows if isinstance(count := row[7], int))
        means = (None, None, questions, _mean(rows, 8), *rows[0][9:])
        rows.append((domain, assistant, MEAN, "", _mean(rows, 4), *means))
    return rows


def _mean(rows: Sequence[tuple[object, ...]], column: int) -> float | None:
    """Return the mean of a column, or None if a value is missing."""
    values = [value for row in rows if isinstance(value := row[column], float)]
    return sum(values) / len(values) if len(values) == len(rows) else None


VIEWS = (
    View(
        "sources",
        "Show MemoryAgentBench's accuracy by source in percent, and as its published code computes it.",
        show_sources,
        (DOMAIN_OPTION, ASSISTANT_OPTION),
    ),
)
