"""The page of published runs: tables by benchmark, contract and judge, with numbers and sources only.

page.yaml has its sentences and columns. Runs without an interval are in the JSON result only.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from memflow.benchmarks.packaged import load_yaml
from memflow.benchmarks.views import Heading, Note, Part, Table
from memflow.metrics.intervals import Interval
from memflow.published_runs.report import JUDGE_TEST, RunsReport, bracket, p_words, percent, points
from memflow.published_runs.rescoring import RUBRIC, WORD_F1, RescoredRun, benchmark_facts
from memflow.published_runs.rows import Claim
from memflow.published_runs.run_checks import MEAN_OF_RUNS
from memflow.published_runs.run_comparisons import RunDifference
from memflow.scoring.catalog import ACCURACY
from memflow.scoring.markdown import escape, markdown_table

TEXTS = load_yaml(__package__, "page.yaml")
TITLE: str = TEXTS["title"]
MOST_DIFFERENCES = 6
"""Rows of a table of differences."""
ROLES = {"anchor": " (anchor)", JUDGE_TEST: " (test of the judge)", "oracle": " (evidence given)"}


def page_parts(report: RunsReport) -> Iterator[Part]:
    """Yield the parts of the page, the findings first."""
    systems = {run.system for run in report.runs}
    yield Note(f"These are {len(report.runs)} published runs of {len(systems)} memory systems and baselines.")
    yield from _items(TEXTS["terms"])
    yield Note(TEXTS["shortened"])
    yield Heading("Findings")
    yield from _items(report.statements())
    yield from _groups(report)
    yield from _comparisons(report)
    yield from _evidence(report)
    yield from _claims(report)
    yield from _sources(report)


def _items(sentences: Iterable[str]) -> Iterator[Note]:
    return (Note(f"- {sentence}") for sentence in sentences)


def _groups(report: RunsReport) -> Iterator[Part]:
    """Yield a table of the runs of each benchmark, contract and judge, anchors and the best first."""
    groups: dict[tuple[str, str, str], list[RescoredRun]] = {}
    for run in report.runs:
        if run.main is not None and run.main.interval().low is not None:
            groups.setdefault(run.group, []).append(run)
    yield Heading("Claims and labels, by judge and judge prompt")
    order = list(dict.fromkeys(run.run.benchmark for run in report.runs))
    for (benchmark, contract, judge), runs in sorted(
        groups.items(), key=lambda item: order.index(item[0][0])
    ):
        ordered = sorted(runs, key=_order)
        has_rubrics = RUBRIC.name in runs[0].values
        value = "labels %" if ACCURACY.name in runs[0].values else "rubrics of at least .5 %"
        columns = [value if name == "VALUE" else name for name in TEXTS["groups"]]
        yield Table(
            [*columns, *["mean rubric %"] * has_rubrics],
            [[*_group_row(run), *([_mean(run)] if has_rubrics else [])] for run in ordered],
            f"\n{benchmark_facts(benchmark).title}; judge {judge}; judge prompt {contract or 'not stated'}",
        )
        for run in ordered:
            if unlabeled := run.unlabeled():
                answers = f"{unlabeled:,} answer{'s' * (unlabeled != 1)}"
                yield Note(f"The judge did not label {answers} of {run.name}. Such answers count as wrong.")


def _order(run: RescoredRun) -> tuple[bool, float]:
    return run.role != "anchor", -((run.main and run.main.interval().value) or 0.0)


def _group_row(run: RescoredRun) -> Sequence[Any]:
    """Return the cells of a run; selected questions have no accuracy."""
    values = run.main
    reader = [run.reader, f"prompt {run.prompt}" * bool(run.prompt), "self-judged" * run.is_self_judged]
    cells = ["", "none: selected questions", "", ""]
    if values is not None and not run.is_selected:
        interval = values.interval()
        sound = ""
        if run.valid_questions is not None:
            questions = values.by_question.keys() & run.valid_questions
            sound = f"{percent(values.interval(run.valid_questions).value, 2)} of {len(questions):,}"
        cells = [_claim(run), percent(interval.value, 2), interval_cell(interval, run.facts.units), sound]
    return (
        run.name + ROLES.get(run.role, ""),
        "; ".join(filter(None, reader)),
        len(values.by_question) if values else 0,
        *cells,
    )


def interval_cell(interval: Interval, units: str) -> str:
    """Return an interval in percent, or why there is none, with the name of the units."""
    if interval.low is None or interval.high is None:
        reason = (
            (interval.reason or "").replace("episodes", units).replace("episode", units.removesuffix("s"))
        )
        return f"none: {reason}"
    return f"{percent(interval.low)} – {percent(interval.high)}"


def _claim(run: RescoredRun) -> str:
    """Return the claim of the metric that the table shows; the claim of a mean rubric stands beside the mean."""
    shown = ("accuracy", "mean of votes", "rubric at least half")
    claims = [claim for claim in run.claims if claim.metric in shown and claim.of in (None, len(run.answers))]
    return "".join(f"{percent(claim.value, 2)}{_note(claim)}" for claim in claims[:1])


def _note(claim: Claim) -> str:
    return f" ({claim.note})" if MEAN_OF_RUNS.search(claim.note) else ""


def _mean(run: RescoredRun) -> str:
    """Return the mean of the rubrics with its interval and the claimed mean; empty for selected questions."""
    if run.is_selected:
        return ""
    interval = run.values[RUBRIC.name].interval()
    claims = [claim for claim in run.claims if claim.metric == "rubric"]
    claimed = "".join(f"; claimed {percent(claim.value, 2)}{_note(claim)}" for claim in claims)
    return f"{percent(interval.value, 2)} {bracket(interval)}".strip() + claimed


def _comparisons(report: RunsReport) -> Iterator[Part]:
    """Yield a table of the largest differences of each family of comparisons."""
    if report.families:
        yield Heading("Paired differences on the same questions")
        yield Note(TEXTS["comparisons"]["note"])
    for family in report.families:
        first = family[0]
        benchmark, contract, judge = first.a.group
        measure = f"judge {judge}; judge prompt {contract}"
        if first.metric.name == WORD_F1.name:
            measure = f"F1 of the answers of {first.a.system}"
        elif first.metric is not (first.a.main and first.a.main.metric):
            measure = f"share of the evidence that {first.a.system} retrieved"
        tests = f"{first.tests} test{'s' * (first.tests != 1)}"
        largest = sorted(family, key=lambda row: -abs(row.difference.difference or 0.0))[:MOST_DIFFERENCES]
        yield Table(
            TEXTS["comparisons"]["columns"],
            [_difference_row(row) for row in largest],
            f"\n{benchmark_facts(benchmark).title}; {measure}; {tests}",
        )


def _difference_row(row: RunDifference) -> Sequence[Any]:
    differs = ["reader"] * (row.a.reader != row.b.reader) + ["prompt"] * (row.a.prompt != row.b.prompt)
    return (
        row.a.name,
        row.b.name,
        percent(row.difference.value_a),
        percent(row.difference.value_b),
        points(row),
        p_words(row).removeprefix("adjusted p ").removeprefix("= "),
        row.difference.n,
        ", ".join(differs or ["run"]),
        (row.better or "").upper(),
    )


def _evidence(report: RunsReport) -> Iterator[Part]:
    """Yield the section on evidence."""
    if not report.attributions:
        return
    yield Heading("Where the evidence was lost")
    yield from _items(TEXTS["evidence"]["terms"])
    unknown: dict[str, list[str]] = {}
    rows = []
    for part in report.attributions:
        recall, rule = part.retrieved, part.rule
        if recall.value is None:
            reason = part.rows[0].reason or part.scores["evidence_recall"].reason or ""
            unknown.setdefault(reason, []).append(part.run.name)
        elif recall.low is not None:
            wrong, right = part.count(correct=False), part.count(correct=True)
            lenient = part.with_all_evidence(correct=False, lenient=True).value
            rows.append(
                (
                    part.run.name,
                    part.kind,
                    len(part.attributed),
                    _share(recall),
                    "" if wrong is None else wrong,
                    _share(part.with_all_evidence(correct=False)),
                    percent(lenient) if rule else "",
                    "" if right is None else right,
                    _share(part.without_evidence(correct=True)),
                    percent(rule.near_rate) if rule else "",
                )
            )
    yield Table(TEXTS["evidence"]["columns"], rows)
    for reason, names in unknown.items():
        runs = names[0] if len(names) == 1 else f"{len(names)} runs"
        yield Note(f"The evidence of {runs} was not examined, because {reason}.")
    for part in report.attributions:
        if part.agreement:
            there, strict, lax, missing, strict_missing, lenient_missing = part.agreement
            yield Note(
                f"The files of {part.run.name} have ids and texts, which tests both rules. Of {there:,} evidence "
                f"messages in its contexts, the strict rule finds {strict:,} and the lenient rule {lax:,}. Of "
                f"{missing:,} that are not there, the strict rule falsely finds {strict_missing:,} and the lenient "
                f"rule {lenient_missing:,}."
            )
    if without := len(report.runs) - len(report.attributions):
        yield Note(f"{without} runs have neither contexts nor retrieved ids in their files.")


def _share(interval: Interval) -> str:
    return "" if interval.value is None else f"{percent(interval.value)} {bracket(interval)}"


def _claims(report: RunsReport) -> Iterator[Part]:
    """Yield the section on claims."""
    if not report.claims:
        return
    equal = sum(check.is_equal is True for check in report.claims)
    unknown = sum(check.is_equal is None for check in report.claims)
    yield Heading("Claims that differ from the rows")
    yield Note(
        f"{equal} of {len(report.claims)} claims equal the value of the rows. {unknown} cannot be checked, because "
        "the rows do not contain what the claims are computed from."
    )
    rows = [
        (
            check.run.name,
            check.claim.metric,
            check.claim.where,
            percent(check.claim.value, 2),
            percent(check.value.value, 2) if check.value else "",
            interval_cell(check.value, check.run.facts.units) if check.value else "not checkable",
            "outside" if check.is_outside else "",
        )
        for check in report.claims
        if not check.is_equal
    ]
    if rows:
        yield Table(TEXTS["claims"], rows)


def _sources(report: RunsReport) -> Iterator[Part]:
    """Yield the section on sources."""
    yield Heading("Sources")
    systems: dict[tuple[str, str], dict[str, None]] = {}
    for run in report.runs:
        systems.setdefault((run.source, run.license), {})[run.system] = None
    yield Table(TEXTS["sources"], [(*source, ", ".join(names)) for source, names in systems.items()])


def page_text(parts: Iterable[Part], date: str, command: str) -> str:
    """Return the page in Markdown, with the date and the command that made it."""
    lines = [f"# {TITLE}", f"This page was made on {date} by `{command}`."]
    for part in parts:
        match part:
            case Heading():
                lines.append(f"## {part.text}")
            case Note():
                lines.append(_linked(escape(part.text).replace("\\`", "`")))
            case Table():
                lines += [f"**{escape(part.title.strip())}**"] * bool(part.title)
                lines.append(_markdown(part))
    return "\n\n".join(lines) + "\n"


def _linked(text: str) -> str:
    """Return a text in which each term that a section of the page explains links to the section."""
    for term, section in TEXTS["links"].items():
        text = text.replace(term, f"[{term}]({section})", 1)
    return text


def _markdown(part: Table) -> str:
    """Return a table without its empty columns; columns of numbers are aligned at the right."""
    shown = [at for at in range(len(part.columns)) if at == 0 or any(str(row[at]) for row in part.rows)]
    cells = [
        [f"{row[at]:,}" if isinstance(row[at], int) else str(row[at]) for at in shown] for row in part.rows
    ]
    names = [part.columns[at] for at in shown]
    right = [
        name for at, name in enumerate(names) if at and all(row[at][:1] in "0123456789+-<" for row in cells)
    ]
    return markdown_table(names, cells, right)
