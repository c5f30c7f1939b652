"""The view `memflow show sources`: figures in percent by source, as the paper prints them, and their mean."""

from collections.abc import Iterator, Sequence
from typing import Any

from memflow.benchmarks.memoryagentbench.metrics import NAME
from memflow.benchmarks.memoryagentbench.sources import PUBLISHED, family
from memflow.benchmarks.views import (
    ASSISTANT_OPTION,
    DOMAIN_OPTION,
    Answer,
    Reader,
    View,
    measured_names,
    record_table,
)
from memflow.records import Score

COLUMNS = ("domain", "assistant", "source", "metric", "percent", "low", "high", "questions", "published code")
MEAN = "mean of sources"


def show_sources(
    reader: Reader, domain: Sequence[str] | None = None, assistant: Sequence[str] | None = None
) -> Answer:
    """Return the primary figure of each source in percent, and under the published code. Raises BadInput."""
    scored = reader.domains(sorted({score.domain for score in reader.scores()}))
    names = measured_names(
        [known.name for known in scored if known.benchmark == NAME],
        domain,
        f"results of {NAME}",
        "Create some with `memflow run --domain mab_demo`",
    )
    scores = [
        score
        for score in reader.scores()
        if score.domain in names and (not assistant or score.assistant in assistant)
    ]
    records = [
        record
        for name, member in sorted({(score.domain, score.assistant) for score in scores})
        for record in _with_mean([*_records(name, member, reader, scores)])
    ]
    return Answer({"sources": records}, [record_table(records, COLUMNS)], records, scores)


def _records(
    domain: str, assistant: str, reader: Reader, scores: Sequence[Score]
) -> Iterator[dict[str, Any]]:
    found = {
        (score.slice, score.metric, score.variant): score
        for score in scores
        if (score.domain, score.assistant) == (domain, assistant)
    }
    sources = sorted({probe.category for probe in reader.rows("question.probes", domain) if probe.category})
    for source in sources:
        asked = family(source)
        metric = asked.metric if asked else ""
        name = source if len(sources) > 1 else "all"
        ours, published = (found.get((name, metric, variant)) for variant in ("standard", PUBLISHED))
        if ours is not None:
            figures = (ours.value, ours.low, ours.high, None if published is None else published.value)
            percent, low, high, code = (None if figure is None else 100 * figure for figure in figures)
            values = (domain, assistant, source, metric, percent, low, high, ours.n, code)
            row = dict(zip(COLUMNS, values, strict=True))
            yield {**row, "model": ours.model, "scripted": ours.scripted}


def _with_mean(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the records of an assistant, and their mean if there are several; no mean if a value is missing."""
    if len(records) < 2:
        return records
    mean = {**records[0], "source": MEAN, "metric": "", "low": None, "high": None}
    mean["questions"] = sum(record["questions"] for record in records)
    for column in ("percent", "published code"):
        values = [record[column] for record in records]
        mean[column] = None if None in values else sum(values) / len(values)
    return [*records, mean]


VIEWS = (
    View(
        "sources",
        "Show MemoryAgentBench's accuracy by source in percent, and as its published code computes it.",
        show_sources,
        (DOMAIN_OPTION, ASSISTANT_OPTION),
    ),
)
