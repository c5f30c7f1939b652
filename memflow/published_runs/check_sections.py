"""Sections of the page of published runs on evidence, reads, labels beside words, claims and sources."""

from collections.abc import Iterator
from statistics import median

from memflow.benchmarks.views import Heading, Note, Part, Table
from memflow.metrics.intervals import Interval
from memflow.published_runs.report import FEWEST_ANSWERS, RunsReport, bracket, interval_cell, percent
from memflow.published_runs.rescoring import RescoredRun

EVIDENCE = (
    "`retrieved %` is the share of a question's evidence messages that the context contains.",
    "`with all %` is the share of the wrong answers whose context contains all evidence: utilization failures. "
    "`without any %` is the share of the right answers whose context contains none: there, the judge, the gold answer "
    "or the search for the evidence may be wrong. In a run without labels, an answer counts as right by its F1.",
    "`found by` says how evidence is recognized: by the ids of messages or sessions, or by its words.",
    "Words are searched by two rules, and the true values lie between them. The strict rule gives `retrieved %` and "
    "`with all %`; it falsely finds 5 % of the evidence of other questions from other sessions, which may really be "
    "there. The lenient rule gives `lenient %` (with all evidence) and `without any %`; it falsely finds 5 % of the "
    "evidence of other conversations, and `near %` of the evidence of other questions.",
)


def evidence_parts(report: RunsReport, is_complete: bool) -> Iterator[Part]:
    """Yield the section on evidence, with the runs that have no interval only if it is complete."""
    if not report.attributions:
        return
    yield Heading("Where the evidence was lost")
    yield from (Note(f"- {sentence}") for sentence in EVIDENCE)
    rows, unknown = [], []
    for part in report.attributions:
        recall = part.retrieved
        if recall.value is None:
            reason = part.rows[0].reason or part.scores["evidence_recall"].reason or ""
            unknown.append((part.run.name, reason))
            continue
        if recall.low is None and not is_complete:
            continue
        wrong, right = part.count(correct=False), part.count(correct=True)
        rows.append(
            (
                part.run.name,
                part.kind,
                len(part.attributed),
                _share(recall),
                "" if wrong is None else wrong,
                _share(part.with_all_evidence(correct=False)),
                ""
                if part.rule is None
                else percent(part.with_all_evidence(correct=False, lenient=True).value),
                "" if right is None else right,
                _share(part.without_evidence(correct=True)),
                "" if part.rule is None else percent(part.rule.near_rate),
            )
        )
    yield Table(
        (
            "run",
            "found by",
            "questions",
            "retrieved %",
            "wrong",
            "with all %",
            "lenient %",
            "right",
            "without any %",
            "near %",
        ),
        rows,
    )
    reasons = dict.fromkeys(reason for _, reason in unknown)
    for reason in reasons:
        names = [name for name, of in unknown if of == reason]
        named = ", ".join(names) if is_complete or len(names) == 1 else f"{len(names)} runs"
        yield Note(f"The evidence was not examined, because {reason}: {named}.")
    for part in report.attributions:
        if part.agreement:
            there, strict, lenient, missing, strict_missing, lenient_missing = part.agreement
            yield Note(
                f"The files of {part.run.name} have ids and texts, which tests both rules. Of {there:,} evidence "
                f"messages in its contexts, the strict rule finds {strict:,} and the lenient rule {lenient:,}. Of "
                f"{missing:,} that are not there, they falsely find {strict_missing:,} and {lenient_missing:,}."
            )
    examined = {part.run.name for part in report.attributions}
    without = [run for run in report.runs if run.name not in examined]
    if without:
        yield Note(f"{len(without)} runs have neither contexts nor retrieved ids in their files.")


def _share(interval: Interval) -> str:
    return "" if interval.value is None else f"{percent(interval.value)} {bracket(interval)}"


def reads_parts(report: RunsReport) -> Iterator[Part]:
    """Yield the section on reads."""
    rows = []
    for check in report.reads:
        times = check.latency.percentiles_s
        if not (check.counts or times):
            continue
        counts = sorted(check.counts)
        rows.append(
            (
                check.run.name,
                len(check.run.answers),
                f"{median(counts):g} ({counts[0]} to {counts[-1]})" if counts else "",
                percent(check.share_at_largest) if counts else "",
                len(check.empty.affected) if counts else "",
                check.cut or "",
                f"{times[0]:.2f} / {times[1]:.2f}" if times else "",
            )
        )
    if rows:
        yield Heading("What reads returned")
        yield Table(
            (
                "run",
                "reads",
                "items, median and range",
                "at the largest number %",
                "empty",
                "cut",
                "search s, 50th / 95th",
            ),
            rows,
        )


def labels_parts(report: RunsReport) -> Iterator[Part]:
    """Yield the section on labels."""
    rows = [
        (
            check.run.name,
            f"{check.equal_wrong} of {check.equal}",
            f"{check.foreign_right} of {check.foreign}",
            f"{check.commons} times, {percent(check.common_right.value)} % correct"
            if check.commons > 1
            else "",
            f"{check.split} of {check.voted:,}" if check.voted else "",
        )
        for check in report.labels
        if not check.run.is_selected and max(check.equal, check.foreign) >= FEWEST_ANSWERS
    ]
    if rows:
        yield Heading("Labels of answers that repeat the gold, or share no word with it")
        yield Note(
            "An answer with exactly the words of the gold answer should be labeled correct. An answer that shares no "
            "word with the gold answer can be correct, such as a date in another form; many such labels make the "
            "labels of the run doubtful. The votes of one judge are not independent."
        )
        yield Table(
            (
                "run",
                "words of the gold, labeled wrong",
                "no common word, labeled correct",
                "most frequent of these",
                "split votes",
            ),
            rows,
        )


def claims_parts(report: RunsReport) -> Iterator[Part]:
    """Yield the section on claims."""
    if not report.claims:
        return
    equal = sum(check.is_equal is True for check in report.claims)
    unknown = [check for check in report.claims if check.is_equal is None]
    yield Heading("Claims that differ from the rows")
    yield Note(
        f"{equal} of {len(report.claims)} claims equal the value of the rows. {len(unknown)} cannot be checked: the "
        "rows do not contain what they are computed from."
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
        yield Table(("run", "metric", "claimed in", "claimed %", "rows %", "95 % interval", "claim"), rows)


def sources_parts(report: RunsReport, is_complete: bool) -> Iterator[Part]:
    """Yield the section on sources, with the runs and hashes of files if it is complete, else with the systems."""
    yield Heading("Sources")
    rows: dict[tuple[str, str], list[RescoredRun]] = {}
    for run in report.runs:
        declared = run.run.declaration
        rows.setdefault(
            (declared.source, declared.license) if declared else ("a file of the user", ""), []
        ).append(run)
    yield Table(
        ("source", "license", "runs" if is_complete else "systems", "SHA-256 of the files of each run"),
        [
            (
                source,
                license_,
                ", ".join(run.name for run in runs)
                if is_complete
                else ", ".join(dict.fromkeys(run.system for run in runs)),
                ", ".join(run.run.digest[:8] for run in runs) if is_complete else "",
            )
            for (source, license_), runs in rows.items()
        ],
    )
    if not is_complete:
        return
    faults = [f"{run.name}: {fault}" for run in report.runs for fault in run.run.faults]
    faults += [f"{name} cannot be read: {reason}" for name, reason in report.missing.items()]
    yield from (Note(f"- {text}") for text in faults)
