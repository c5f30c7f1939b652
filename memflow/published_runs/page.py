"""The page of published runs: tables by benchmark, contract and judge, with numbers and sources only."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from memflow.benchmarks.views import Heading, Note, Part, Table
from memflow.published_runs.check_sections import (
    claims_parts,
    evidence_parts,
    labels_parts,
    reads_parts,
    sources_parts,
)
from memflow.published_runs.report import (
    JUDGE_TEST,
    RunsReport,
    bracket,
    interval_cell,
    p_words,
    percent,
    points,
)
from memflow.published_runs.rescoring import RUBRIC, WORD_F1, RescoredRun, Values, benchmark_facts
from memflow.published_runs.rows import Claim
from memflow.published_runs.run_checks import MEAN_OF_RUNS
from memflow.published_runs.run_comparisons import RunDifference
from memflow.scoring.catalog import ACCURACY
from memflow.scoring.markdown import escape, markdown_table

TITLE = "What published runs say when scored again"
MOST_CATEGORIES = 6
"""Categories that a table has as columns; those of other benchmarks are in the JSON result."""
METHODS = (
    "Proportions have Korn-Graubard intervals and means CR2 intervals over conversations, or over questions where "
    "each has a history of its own. Differences are paired by question, with resampled intervals, sign-flip tests and "
    "Holm's correction over the rows of their table. No model was asked. Labels of two judges or contracts stand in no "
    "common column, because they cannot be compared."
)


def page_parts(report: RunsReport) -> Iterator[Part]:
    """Yield the parts of the page, the statements first."""
    systems = {run.system for run in report.runs}
    yield Note(f"{len(report.runs)} runs of {len(systems)} systems. {METHODS}")
    yield Heading("What only paired, attributed or checked rows show")
    yield from (Note(f"- {sentence}") for sentence in report.statements())
    yield from _groups(report)
    yield from _f1(report)
    yield from _comparisons(report)
    yield from evidence_parts(report)
    yield from reads_parts(report)
    yield from labels_parts(report)
    yield from claims_parts(report)
    yield from sources_parts(report)


def _groups(report: RunsReport) -> Iterator[Part]:
    groups: dict[tuple[str, str, str], list[RescoredRun]] = {}
    for run in report.runs:
        if run.main is not None:
            groups.setdefault(run.group, []).append(run)
    yield Heading("Claims and labels, by contract and judge")
    order = list(dict.fromkeys(run.run.benchmark for run in report.runs))
    for (benchmark, contract, judge), runs in sorted(
        groups.items(), key=lambda item: order.index(item[0][0])
    ):
        facts = benchmark_facts(benchmark)
        ordered = sorted(runs, key=_order)
        categories = sorted({name for run in runs for name in run.categories()})
        in_table = categories if 1 < len(categories) <= MOST_CATEGORIES else []
        titles = [facts.categories.get(name, name) for name in in_table]
        value = "labels %" if ACCURACY.name in runs[0].values else "rubrics of at least .5 %"
        means = ["mean rubric %"] if RUBRIC.name in runs[0].values else []
        yield Table(
            (
                "run",
                "reader and prompt",
                "questions",
                "claimed %",
                value,
                "95 % interval",
                "without wrong keys %",
                *means,
                *titles,
            ),
            [(*_group_row(run, means), *_category_cells(run, in_table)) for run in ordered],
            f"\n{facts.title}: {contract or 'contract not stated'}; judge {judge}",
        )
        yield from (Note(text) for run in ordered for text in _run_notes(run))


def _order(run: RescoredRun) -> tuple[bool, float]:
    return run.role != "anchor", -((run.main and run.main.interval().value) or 0.0)


def _group_row(run: RescoredRun, means: Sequence[str]) -> Sequence[Any]:
    values = run.main
    if values is None or run.is_selected:
        cells = ["", "none: selected questions", "", "", *("" for _ in means)]
    else:
        interval = values.interval()
        cells = [
            _claim(run),
            percent(interval.value, 2),
            interval_cell(interval, run.facts.units),
            _sound(run, values),
        ]
        cells += [_mean(run) for _ in means]
    return _marked(run), _reader(run), len(values.by_question) if values else 0, *cells


def _claim(run: RescoredRun) -> str:
    """Return the claim of the metric that the table shows; the claim of a mean rubric stands beside the mean."""
    claims = [
        claim for claim in run.claims if claim.metric in ("accuracy", "mean of votes", "rubric at least half")
    ]
    of_scored = [claim for claim in claims if claim.of in (None, len(run.answers))]
    return "".join(f"{percent(claim.value, 2)}{_note(claim)}" for claim in of_scored[:1])


def _note(claim: Claim) -> str:
    return f" ({claim.note})" if MEAN_OF_RUNS.search(claim.note) else ""


def _mean(run: RescoredRun) -> str:
    interval = run.values[RUBRIC.name].interval()
    claimed = "".join(
        f"; claimed {percent(claim.value, 2)}{_note(claim)}"
        for claim in run.claims
        if claim.metric == "rubric"
    )
    return f"{percent(interval.value, 2)} {bracket(interval)}".strip() + claimed


def _sound(run: RescoredRun, values: Values) -> str:
    """Return the value without wrong keys and the number of questions; empty where they are not known."""
    if run.sound is None:
        return ""
    return f"{percent(values.interval(run.sound).value, 2)} of {len(values.by_question.keys() & run.sound):,}"


def _marked(run: RescoredRun) -> str:
    marks = {"anchor": " (anchor)", JUDGE_TEST: " (test of the judge)", "oracle": " (evidence given)"}
    return run.name + marks.get(run.role, "")


def _reader(run: RescoredRun) -> str:
    parts = [
        run.reader,
        f"prompt {run.prompt}" if run.prompt else "",
        "self-judged" if run.is_self_judged else "",
    ]
    return "; ".join(filter(None, parts))


def _category_cells(run: RescoredRun, categories: Sequence[str]) -> list[str]:
    groups, values = run.categories(), run.main
    if values is None or run.is_selected:
        return ["" for _ in categories]
    cells = []
    for name in categories:
        questions = [question for question in groups.get(name, ()) if question in values.by_question]
        cells.append(percent(values.interval(questions).value) if questions else "")
    return cells


def _run_notes(run: RescoredRun) -> Iterator[str]:
    unlabeled = run.unlabeled()
    if unlabeled:
        answers = f"{unlabeled:,} answer{'s' * (unlabeled != 1)}"
        yield f"{run.name}: {answers} without a label of the judge, counted as wrong."


def _f1(report: RunsReport) -> Iterator[Part]:
    by_benchmark: dict[str, list[tuple[RescoredRun, Values]]] = {}
    for run in report.runs:
        if run.facts.f1 and WORD_F1.name in run.values and not run.is_selected:
            by_benchmark.setdefault(run.run.benchmark, []).append((run, run.values[WORD_F1.name]))
    if by_benchmark:
        yield Heading("F1 of the committed answers, computed again")
        yield Note(
            "One measure without a judge. Long answers lower it, so it compares runs of one prompt only."
        )
    for benchmark, runs in by_benchmark.items():
        rows = [
            (
                _marked(run),
                "; ".join(filter(None, (run.reader, run.prompt and f"prompt {run.prompt}"))),
                len(values.by_question),
                percent(values.interval().value, 2),
                interval_cell(values.interval(), run.facts.units),
                percent(values.interval(run.sound).value, 2) if run.sound is not None else "",
            )
            for run, values in sorted(runs, key=lambda item: -(item[1].interval().value or 0.0))
        ]
        columns = ("run", "reader and prompt", "answers", "F1 %", "95 % interval", "without wrong keys %")
        yield Table(columns, rows, benchmark_facts(benchmark).title)


def _comparisons(report: RunsReport) -> Iterator[Part]:
    if report.families:
        yield Heading("Paired differences on the same questions")
        yield Note(
            "Compared are runs of one system, and runs with the same reader and prompt. Holm's correction is over the "
            "rows of a table. Runs with fewer than 3 common conversations are not compared."
        )
    for family in report.families:
        first = family[0]
        benchmark, contract, judge = first.a.group
        measure = f"{contract}; judge {judge}"
        if first.metric.name == WORD_F1.name:
            measure = f"F1 of the answers of {first.a.system}"
        elif first.metric is not (first.a.main and first.a.main.metric):
            measure = f"share of the evidence that {first.a.system} retrieved"
        tests = f"{first.tests} test{'s' * (first.tests != 1)}"
        yield Table(
            ("A", "B", "A %", "B %", "A - B, points", "adjusted p", "questions", "differs", "better"),
            [_difference_row(row) for row in family],
            f"\n{benchmark_facts(benchmark).title}: {measure}; {tests}",
        )


def _difference_row(row: RunDifference) -> Sequence[Any]:
    differs = [
        name
        for name, a, b in (
            ("reader", row.a.reader, row.b.reader),
            ("prompt", row.a.prompt, row.b.prompt),
            ("run", row.a.name, row.b.name),
        )
        if a != b and (name != "run" or row.is_same_reader)
    ]
    return (
        row.a.name,
        row.b.name,
        percent(row.difference.value_a),
        percent(row.difference.value_b),
        points(row),
        p_words(row).removeprefix("adjusted p ").removeprefix("= "),
        row.difference.n,
        ", ".join(differs),
        (row.better or "").upper(),
    )


def page_text(parts: Iterable[Part], date: str, command: str) -> str:
    """Return the page in Markdown, with the date and the command that made it."""
    lines = [f"# {TITLE}", f"Made on {date} by `{command}`."]
    for part in parts:
        match part:
            case Heading():
                lines.append(f"## {part.text}")
            case Note():
                lines.append(escape(part.text).replace("\\`", "`"))
            case Table():
                lines += [f"**{escape(part.title.strip())}**"] * bool(part.title)
                shown = [
                    at for at in range(len(part.columns)) if at == 0 or any(str(row[at]) for row in part.rows)
                ]
                cells = [[_cell(row[at]) for at in shown] for row in part.rows]
                names = [part.columns[at] for at in shown]
                right = [
                    name
                    for at, name in enumerate(names)
                    if at and all(row[at][:1] in "0123456789+-<" for row in cells)
                ]
                lines.append(markdown_table(names, cells, right))
    return "\n\n".join(lines) + "\n"


def _cell(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)
