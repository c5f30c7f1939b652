"""The command `memflow show mechanisms`: scores by memory and memory level, as in MemBench's tables 3 to 5."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from memflow.benchmarks.membench.paper import mechanisms as paper_mechanisms
from memflow.benchmarks.membench.tables import LEVEL_SLICES, TableRow
from memflow.benchmarks.membench.views.tables import (
    AT_FLOOR,
    NONE,
    PaperValue,
    chance_cell,
    measured_rows,
    missing_notes,
    paper_cell,
    paper_values,
    tables_answer,
)
from memflow.benchmarks.views import Answer, Dim, Heading, Part, Reader, Table
from memflow.labels import no_interval

HEADS = {
    "accuracy": "accuracy",
    "n": "n",
    "recall_at_10": "recall@10",
    "evidence_recall": "recall",
    "read_time": "read s",
    "write_time": "write s",
    "calls": "calls r / w",
}
"""The columns of a domain."""
DOMAIN_WIDTH = 74
"""Characters of these columns."""


def show_mechanisms(reader: Reader, domain: Sequence[str] | None, paper: bool) -> Answer:
    """Return a table of scores for each memory level (factual, reflective)."""
    domains, found = measured_rows(reader, domain, LEVEL_SLICES)
    values = paper_values(domains, found) if paper else []
    parts = [part for slice_ in LEVEL_SLICES for part in _tables(slice_, found, values, reader.width)]
    return tables_answer(found, values, parts, paper=paper)


def _tables(
    slice_: str, found: Sequence[TableRow], values: Sequence[PaperValue], width: int
) -> Iterator[Part]:
    """Yield the tables of a memory level. Domains are side by side as far as the width allows."""
    own = [row for row in found if row.slice == slice_]
    if not own:
        return
    published = [value for value in values if value[1] == slice_]
    names = list(dict.fromkeys(row.domain for row in own))
    abreast = max(1, (width - max(len(row.assistant) for row in own)) // DOMAIN_WIDTH)
    yield Heading(f"MemBench, {slice_.removeprefix('level ')} memory")
    for first in range(0, len(names), abreast):
        some = names[first : first + abreast]
        columns = [
            f"{name if head == 'accuracy' else ''}\n{head}" for name in some for head in HEADS.values()
        ]
        rows = [*_measured(own, some), *_published(published, some)]
        yield Table(["\nmemory", *columns], rows)
    yield from missing_notes(own)


def _measured(own: Sequence[TableRow], domains: Sequence[str]) -> Iterator[list[Any]]:
    """Yield one table row per assistant, grouped by chat model, and a last row with the accuracy of random answers."""
    several = len({row.model for row in own}) > 1
    for model, group in groupby(sorted(own, key=lambda row: row.model), key=lambda row: row.model):
        if several:
            yield [Dim(model), *([""] * len(domains) * len(HEADS))]
        rows = {(row.domain, row.assistant): row for row in group}
        for assistant in dict.fromkeys(assistant for _, assistant in rows):
            yield [assistant, *(cell for name in domains for cell in _cells(rows.get((name, assistant))))]
    chance: list[Any] = ["chance"]
    for name in domains:
        chance += [chance_cell(row for row in own if row.domain == name), *([""] * (len(HEADS) - 1))]
    yield chance


def _cells(row: TableRow | None) -> list[str]:
    if row is None:
        return [NONE] * len(HEADS)
    score = row.scores.get("accuracy")
    accuracy = NONE
    if score is not None and score.value is not None:
        interval = f" [{score.low:.2f} {score.high:.2f}]" if score.low is not None else ""
        if missing := no_interval(score):
            interval = f" ({missing})"
        accuracy = f"{score.value:.3f}{interval}{AT_FLOOR if row.at_floor else ' '}"
    calls = [_number(row.value(name)) for name in ("read_calls", "write_calls")]
    return [
        accuracy,
        str(score.n) if score is not None else NONE,
        *(_share(row.value(name)) for name in ("recall_at_10", "evidence_recall")),
        *(_number(row.value(name)) for name in ("read_time", "write_time")),
        NONE if calls == [NONE, NONE] else " / ".join(calls),
    ]


def _share(value: float | None) -> str:
    return NONE if value is None else f"{value:.3f}"


def _number(value: float | None) -> str:
    if value is None:
        return NONE
    return "<0.001" if 0 < value < 0.001 else f"{value:,.3g}"


def _published(values: Sequence[PaperValue], domains: Sequence[str]) -> Iterator[list[Any]]:
    """Yield the paper's rows, one per mechanism, grouped by model."""
    found = {(one.model, one.mechanism, name, one.measure): one for name, _, one in values if name in domains}
    for model in dict.fromkeys(model for model, _, _, _ in found):
        yield [Dim(f"paper, {model}"), *([""] * len(domains) * len(HEADS))]
        for mechanism, title in paper_mechanisms().items():
            cells: list[str] = []
            for name in domains:
                of = {head: found.get((model, mechanism, name, head)) for head in HEADS}
                questions = of["accuracy"].questions if of["accuracy"] else None
                cells += [
                    str(questions or "") if head == "n" else paper_cell(one) for head, one in of.items()
                ]
            if any(cells):
                yield [Dim(title), *cells]
