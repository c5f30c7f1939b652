"""Shared parts of `show mechanisms` and `show kinds`: the rows, the paper's values, and the notes below the tables."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from memflow.benchmarks.domains import Domain
from memflow.benchmarks.membench.paper import Published, doubts, mechanisms, published
from memflow.benchmarks.membench.tables import TableRow, rows, stands_for, tabled
from memflow.benchmarks.views import Answer, Note, Part, Reader, measured_names

PaperValue = tuple[str, str, Published]
"""A domain, a slice of it, and the paper's value for it."""

NONE, DOUBTED, AT_FLOOR = "–", "?", "*"
MEASURES = {
    "accuracy": "accuracy",
    "recall_at_10": "recall@10",
    "evidence_recall": "recall of evidence",
    "read_time": "seconds",
    "write_time": "seconds",
    "read_calls": "requests",
    "write_calls": "requests",
}
"""The measures of the tables in words; a note names reads and writes together."""


def measured_rows(
    reader: Reader, wanted: Sequence[str] | None, slices: Sequence[str]
) -> tuple[list[Domain], list[TableRow]]:
    """Return the measured domains and their rows. Raises BadInput if none, or none in `wanted`, is measured."""
    scores = reader.scores()
    domains = tabled(reader.domains(dict.fromkeys(score.domain for score in scores)))
    names = measured_names(
        [domain.name for domain in domains],
        wanted,
        "results of MemBench",
        "Measure one with `memflow run --domain membench_memdaily --memory full` (`memflow data` lists the missing "
        "files)",
    )
    domains = [domain for domain in domains if domain.name in names]
    return domains, rows(scores, domains, slices)


def paper_values(domains: Iterable[Domain], found: Sequence[TableRow]) -> list[PaperValue]:
    """Return the paper's values that correspond to the domains and slices of `found`."""
    measured = {(row.domain, row.slice) for row in found}
    return [
        (domain.name, slice_, one)
        for domain in domains
        for one in published()
        for slice_ in [f"category {one.kind}" if one.kind else f"level {one.level}"]
        if (domain.name, slice_) in measured and stands_for(domain) == (one.scene, one.subset)
    ]


def tables_answer(
    found: Sequence[TableRow], of_paper: Sequence[PaperValue], parts: Iterable[Part], *, paper: bool
) -> Answer:
    """Return the tables with explanations of their marks. `paper` states whether the paper's values were requested."""
    names = dict.fromkeys(one.doubt for _, _, one in of_paper)
    problems = {name: doubts()[name] for name in names if name is not None}
    notes = []
    if any(row.at_floor for row in found):
        notes.append(Note(f"{AT_FLOOR} the interval includes chance: the answers may be guesses."))
    notes += [Note(f"{DOUBTED} {name}: {problem}.") for name, problem in problems.items()]
    if paper and not of_paper:
        notes.append(Note("The paper has no figures of these domains: its questions are in English."))
    measured, from_paper = [row.plain() for row in found], [_record(each) for each in of_paper]
    return Answer(
        {"rows": measured, "paper": from_paper, "doubts": problems},
        [*parts, *notes],
        [*({"source": "measured", **row} for row in measured), *from_paper],
        scores=[score for row in found for score in row.scores.values()],
    )


def _record(value: PaperValue) -> dict[str, Any]:
    """Return a published value as a record with the field names of measured rows."""
    domain, slice_, one = value
    return {
        "source": f"paper, table {one.table}",
        "domain": domain,
        "slice": slice_,
        "assistant": mechanisms()[one.mechanism],
        "memory": one.mechanism,
        "model": one.model,
        "n": one.questions,
        one.measure: one.value,
        "doubt": one.doubt,
    }


def paper_cell(one: Published | None) -> str:
    """Return a published value in the paper's format; empty without a value."""
    if one is None:
        return ""
    value = one.value if isinstance(one.value, str) else f"{one.value:.3f}"
    return value + (DOUBTED if one.doubt else " ")


def missing_notes(rows: Sequence[TableRow], measures: Iterable[str] = tuple(MEASURES)) -> Iterator[Note]:
    """Return a note for each reason for missing values, with the metrics and assistants concerned."""
    several = len({row.domain for row in rows}) > 1
    found: dict[str, dict[str, list[str]]] = {}
    for measure in measures:
        for row in rows:
            reason = row.reason(measure)
            if reason is not None:
                owner = f"{row.assistant} in {row.domain}" if several else row.assistant
                found.setdefault(reason, {}).setdefault(MEASURES[measure], []).append(owner)
    for reason, by_measure in found.items():
        by_owner: dict[str, list[str]] = {}
        for measure, owners in by_measure.items():
            different = dict.fromkeys(owners)
            names = "all" if len(different) == len(rows) else ", ".join(different)
            by_owner.setdefault(names, []).append(measure)
        listed = "; ".join(f"{', '.join(missing)} of {names}" for names, missing in by_owner.items())
        yield Note(f"{NONE} {reason}: {listed}.")


def chance_cell(rows: Iterable[TableRow]) -> str:
    """Return the chance accuracy of the first row with a chance accuracy."""
    return next((f"{value:.3f}" for row in rows if (value := row.value("random")) is not None), NONE)
