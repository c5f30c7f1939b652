"""The values of a paper's table: published, measured by memflow, and whether their difference is beyond noise.

A value that is not comparable, such as one of the scripted chat, is not compared. What else differs stands at it.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from memflow.benchmarks.domain_names import DomainName
from memflow.papers.files import TableCell, TableOfPaper, merged
from memflow.papers.schema import CellFields
from memflow.records import Score
from memflow.repeats import memory_name
from memflow.scoring.published_health import FAULTY

Records = Callable[[str], Sequence[Mapping[str, Any]]]
"""Return the records of a view of `memflow show`."""
Key = tuple[str, str, str, str, str, str]
"""Domain and profile, memory, metric, variant and slice of scores."""
WITHIN, BEYOND = "within", "beyond"
ABSENT = "the run has no value of this slice, metric and variant; a sample may lack it"
SCRIPTED = "answered, simulated or judged by the scripted chat, so it is not compared"


@dataclass(frozen=True, slots=True)
class MeasuredCell:
    """A cell with memflow's value in the unit of the paper. `marks` is what has to be known of it, in sentences."""

    cell: TableCell
    domain: str = ""
    assistant: str = ""
    model: str = ""
    value: float | None = None
    low: float | None = None
    high: float | None = None
    noise: float | None = None
    difference: float | None = None
    verdict: str = ""
    """WITHIN or BEYOND the interval or noise of memflow's value; empty if that is not known."""
    marks: tuple[str, ...] = ()
    reason: str = ""
    """Why there is no value, although its run is there; empty for a cell that was not run."""

    def plain(self) -> dict[str, Any]:
        """Return the published and the measured value, and what they are of, as a flat record; None if missing."""
        fields, published = self.cell.fields, self.cell.published
        return {
            "row": self.cell.row,
            "column": self.cell.column,
            "published": published.value if published else None,
            "value": self.value,
            "low": self.low,
            "high": self.high,
            "noise": self.noise,
            "difference": self.difference,
            "verdict": self.verdict or None,
            "marks": list(self.marks),
            "domain": self.domain or fields.domain,
            "assistant": self.assistant or fields.assistant,
            "model": self.model or fields.model,
            "metric": fields.metric,
            "variant": fields.variant or "standard",
            "slice": fields.slice or "all",
            "reason": self.reason or fields.unavailable,
            "published_model": published.model if published else None,
            "source": published.source if published else None,
            "note": published.note or None if published else None,
        }


@dataclass(frozen=True)
class MeasuredTable:
    """A table with memflow's values. `model` answered where the paper names no model for the row."""

    table: TableOfPaper
    rows: tuple[tuple[MeasuredCell, ...], ...]
    model: str
    models: tuple[str, ...]
    """The models of the results that the table could show."""

    @property
    def cells(self) -> list[MeasuredCell]:
        """The cells by row and column."""
        return [cell for row in self.rows for cell in row]

    @property
    def domains(self) -> list[str]:
        """The domains of the values."""
        return list(dict.fromkeys(cell.domain for cell in self.cells if cell.domain))


def measure(
    table: TableOfPaper, scores: Sequence[Score], records: Records, *, model: str = "", limit: int = 0
) -> MeasuredTable:
    """Return a table with memflow's values from the scores of the leaderboard and the records of views.

    `model` is that of rows for which the paper names none, by default the paper's model, if it has results. A model of
    which the paper has no row gets one. With `limit`, samples of this size are shown; by default the whole domains, or
    their largest samples.
    """
    wanted = {DomainName.parse(name)[:2] for name in table.domains}
    by_sample: dict[tuple[str, str], dict[int, list[Score]]] = {}
    for score in scores:
        name = DomainName.parse(score.domain)
        if name[:2] in wanted:
            by_sample.setdefault(name[:2], {}).setdefault(name.limit, []).append(score)
    own: dict[Key, list[Score]] = {}
    for domain, samples in by_sample.items():
        for score in samples.get(limit or table.table.sample) or ([] if limit else samples[max(samples)]):
            key = (*domain, score.memory, score.metric, score.variant, score.slice)
            own.setdefault(key, []).append(score)
    models = tuple(dict.fromkeys(score.model for of_key in own.values() for score in of_key))
    published = [name for name in models if any(same_model(name, other) for other in table.models)]
    chosen = model or next(iter((*published, *models)), "")
    measured = _Measured(table, own, records, chosen, limit or table.table.sample)
    cells = (*table.cells, *_rows_of_model(table, chosen))
    rows = tuple(tuple(measured.cell(cell) for cell in row) for row in cells)
    return MeasuredTable(table, rows, chosen, models)


def _rows_of_model(table: TableOfPaper, model: str) -> Iterator[tuple[TableCell, ...]]:
    """Yield a row for a model that the paper lacks, if its rows of models differ in nothing but their models."""
    rows = [row for row in table.cells if all(cell.fields.model for cell in row)]
    lacks = model and not any(same_model(model, row[0].fields.model or "") for row in rows)
    if (
        lacks
        and len({tuple((cell.fields.domain, cell.fields.assistant) for cell in row) for row in rows}) == 1
    ):
        yield tuple(
            TableCell(model, cell.column, cell.fields.model_copy(update={"model": model}), None)
            for cell in rows[0]
        )


def same_model(name: str, other: str) -> bool:
    """Return whether two names are of the same model: servers put an owner before the name, and papers capitals."""
    return _plain(name) == _plain(other)


def _plain(model: str) -> str:
    return model.rpartition("/")[2].casefold()


@dataclass(frozen=True)
class _Measured:
    table: TableOfPaper
    scores: Mapping[Key, Sequence[Score]]
    records: Records
    model: str
    limit: int

    def cell(self, cell: TableCell) -> MeasuredCell:
        fields = cell.fields
        if fields.unavailable is not None or self.table.table.unavailable:
            return MeasuredCell(cell)
        if fields.view is not None:
            return self._of_view(cell)
        score = self._score(fields)
        if score is None:
            return MeasuredCell(cell, reason=self._absence(fields))
        other = self._score(merged(fields, fields.minus)) if fields.minus else None
        names = (score.domain, score.assistant, score.model)
        if fields.minus and other is None:
            return MeasuredCell(cell, *names, reason="its other part was not run")
        own = [score, *filter(None, [other])]
        values = [_statistic(part, fields.statistic or "value") for part in own]
        known = [value for value in values if value is not None]
        if len(known) < len(values):
            reasons = (part.health_reason if part.health == FAULTY else part.reason for part in own)
            return MeasuredCell(cell, *names, reason=next(filter(None, reasons), "no value"))
        value = known[0] - sum(known[1:])
        return self._compared(cell, own, abs(value) if fields.absolute else value)

    def _score(self, fields: CellFields) -> Score | None:
        """Return the score of a cell; that of the assistant with the shortest name, if there are several."""
        domain = DomainName.parse(self.table.domain(fields.domain or ""))
        key = (*domain[:2], *(fields.assistant or "", fields.metric or ""))
        scores = self.scores.get((*key, fields.variant or "standard", fields.slice or "all"), ())
        matching = [score for score in scores if same_model(score.model, fields.model or self.model)]
        return min(matching, key=lambda score: len(score.assistant), default=None)

    @cached_property
    def _runs(self) -> set[tuple[str, ...]]:
        """The runs that have scores: domain and profile, memory, and model without owner and capitals."""
        return {(*key[:3], _plain(score.model)) for key, scores in self.scores.items() for score in scores}

    def _absence(self, fields: CellFields) -> str:
        """Return why a run has no score of a cell; empty if the cell was not run."""
        domain = DomainName.parse(self.table.domain(fields.domain or ""))
        run = (*domain[:2], fields.assistant or "", _plain(fields.model or self.model))
        return ABSENT if run in self._runs else ""

    def _of_view(self, cell: TableCell) -> MeasuredCell:
        """Return a cell with the value of a record of a view; of several samples, the wanted or the largest one."""
        fields = cell.fields
        domain = DomainName.parse(self.table.domain(fields.domain or ""))
        by_sample: dict[int, list[Mapping[str, Any]]] = {}
        for record in self.records(fields.view or ""):
            of = DomainName.parse(str(record.get("domain", domain)))
            if of[:2] == domain[:2] and self._fits(record, fields):
                by_sample.setdefault(of.limit, []).append(record)
        limit = self.limit or (0 if 0 in by_sample else max(by_sample, default=0))
        domain, records = domain._replace(limit=limit), by_sample.get(limit, [])
        if len(records) != 1 or records[0][fields.value or ""] is None:
            return MeasuredCell(cell)
        value = float(records[0][fields.value or ""]) * (fields.scale or 1.0)
        published = cell.published.number if cell.published else None
        marks = [f"of the sample {domain}"] * bool(limit)
        marks += [_differs(fields.differs)] if fields.differs else []
        scripted = bool(records[0].get("scripted"))
        marks += [SCRIPTED] * scripted
        difference = None if published is None or fields.differs or scripted else value - published
        return MeasuredCell(
            cell,
            str(domain),
            assistant=str(records[0].get("assistant") or ""),
            model=str(records[0].get("model") or ""),
            value=value,
            difference=difference,
            marks=tuple(marks),
        )

    def _fits(self, record: Mapping[str, Any], fields: CellFields) -> bool:
        """Return whether a record is of the assistant and model of a cell, and has the values of `where`."""
        model = fields.model or self.model
        wanted = {**({"model": model} if model and "model" in record else {}), **fields.where}
        return memory_name(str(record.get("assistant", fields.assistant))) == str(fields.assistant) and all(
            same_model(str(record.get(name, value)), value)
            if name in ("model", "simulator")
            else str(record.get(name, value)) == value
            for name, value in wanted.items()
        )

    def _compared(self, cell: TableCell, own: Sequence[Score], value: float) -> MeasuredCell:
        """Return a cell with its difference from the published value, if the two can be compared."""
        score, scale = own[0], cell.fields.scale or 1.0
        is_plain = len(own) == 1 and cell.fields.statistic not in ("noise", "repeat_deviation")
        low, high = (_scaled(end, scale) if is_plain else None for end in (score.low, score.high))
        noise = _scaled(score.noise, scale) if is_plain else None
        published = cell.published.number if cell.published else None
        marks = tuple(dict.fromkeys(mark for part in own for mark in _marks(part, cell)))
        is_comparable = not cell.fields.differs and SCRIPTED not in marks
        difference = None if published is None or not is_comparable else scale * value - published
        verdict = ""
        if difference is not None and published is not None:
            if noise is not None:
                verdict = WITHIN if abs(difference) <= _reach(score, cell.fields) * scale else BEYOND
            elif low is not None and high is not None:
                verdict = WITHIN if low <= published <= high else BEYOND
        return MeasuredCell(
            cell,
            *(score.domain, score.assistant, score.model),
            value=value * scale,
            low=low,
            high=high,
            noise=noise,
            difference=difference,
            verdict=verdict,
            marks=marks,
        )


def _scaled(number: float | None, scale: float) -> float | None:
    return None if number is None else number * scale


def _statistic(score: Score, name: str) -> float | None:
    value: float | None = getattr(score, name)
    return None if score.health == FAULTY else value


def _reach(score: Score, fields: CellFields) -> float:
    """Return how far the results of two evaluations are apart in 95 % of the cases, by the noise of the score."""
    from memflow.metrics.intervals import student_t  # noqa: PLC0415  (a table without repeats needs no arrays)

    evaluations = (score.repeats or 1) if fields.statistic == "repeat_mean" else 1
    return student_t(score.noise_degrees or 1) * (score.noise or 0.0) * math.sqrt(1 + 1 / evaluations)


def _differs(what: str) -> str:
    return f"the published value is {what}, so it is not compared"


def _marks(score: Score, cell: TableCell) -> Iterator[str]:
    """Yield what has to be known of a value beside the published one."""
    if score.scripted:
        yield SCRIPTED
    if cell.fields.differs:
        yield _differs(cell.fields.differs)
    if score.incomplete:
        yield f"incomplete: {score.incomplete}"
    elif DomainName.parse(score.domain).limit:
        yield f"of the sample {score.domain}"
    if score.imported:
        yield f"imported: {score.imported}"
    if score.health == "suspect":
        yield f"of a suspect memory: {score.health_reason}"
    if score.interval_reason:
        yield f"no interval: {score.interval_reason}"
