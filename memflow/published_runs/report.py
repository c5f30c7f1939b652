"""The analysis of all published runs at hand, and its statements in words, each computed from the rows."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from memflow.metrics.intervals import Interval
from memflow.published_runs.rescoring import WORD_F1, RescoredRun, Values
from memflow.published_runs.rows import PublishedRun
from memflow.published_runs.run_attribution import BenchmarkMessages, RunAttribution, attribute_run
from memflow.published_runs.run_checks import HALF, ClaimCheck, LabelCheck, check_claims, check_labels
from memflow.published_runs.run_comparisons import RunDifference, compare_runs, compare_values

JUDGE_TEST = "judge_test"
FEWEST_ANSWERS = 20
"""Answers of a kind below which their labels are not stated."""


@dataclass(frozen=True)
class RunsReport:
    """The rescored runs with their comparisons, attributions and checks. `missing` has a reason per run not read."""

    runs: Sequence[RescoredRun]
    families: Sequence[Sequence[RunDifference]]
    attributions: Sequence[RunAttribution]
    claims: Sequence[ClaimCheck]
    labels: Sequence[LabelCheck]
    missing: Mapping[str, str]

    @classmethod
    def of_runs(
        cls,
        runs: Iterable[PublishedRun],
        messages: Mapping[str, BenchmarkMessages],
        missing: Mapping[str, str],
    ) -> "RunsReport":
        """Analyze runs. `messages` are those of a benchmark whose data is at hand."""
        data = defaultdict(BenchmarkMessages, messages)
        rescored = [RescoredRun(run, data[run.benchmark].questions) for run in runs]
        attributed = [attribute_run(run, data[run.run.benchmark]) for run in rescored]
        attributions = [part for part in attributed if part is not None]
        recalls: dict[tuple[str, ...], list[tuple[RescoredRun, Values]]] = {}
        for part in attributions:
            if not part.run.is_selected:
                recalls.setdefault((part.run.run.benchmark, part.kind, part.run.system), []).append(
                    (part.run, part.recall)
                )
        by_recall = [compare_values(members) for members in recalls.values()]
        return cls(
            rescored,
            [*compare_runs(rescored), *filter(None, by_recall)],
            attributions,
            check_claims(rescored),
            [labels for run in rescored if (labels := check_labels(run)) is not None],
            missing,
        )

    def statements(self) -> list[str]:
        """Return the findings, a sentence or more each: claims, pairs, evidence, judges, labels and reads."""
        return [sentence for part in STATEMENTS for sentence in part(self)]

    def faults(self) -> list[str]:
        """Return a sentence per damaged part of the files, and per run that cannot be read."""
        faults = [f"{run.name}: {fault}" for run in self.runs for fault in run.run.faults]
        return faults + [f"{name} cannot be read: {reason}" for name, reason in self.missing.items()]

    def data(self) -> dict[str, Any]:
        """Return the report for JSON: the lists `statements`, `runs`, `comparisons`, `attributions` and `faults`."""
        return {
            "statements": self.statements(),
            "runs": [run_row(run) for run in self.runs],
            "comparisons": [
                {
                    **asdict(row.difference),
                    "a": row.a.name,
                    "b": row.b.name,
                    "metric": row.metric.name,
                    "p_adjusted": row.p_adjusted,
                    "tests": row.tests,
                    "better": row.better,
                }
                for family in self.families
                for row in family
            ],
            "attributions": [
                {
                    "run": part.run.name,
                    "found_by": part.kind,
                    "rule": part.rule and asdict(part.rule),
                    "wrong": part.count(correct=False),
                    "wrong_with_all_evidence": part.with_all_evidence(correct=False)._asdict(),
                    "right_without_evidence": part.without_evidence(correct=True)._asdict(),
                    "scores": {name: asdict(score) for name, score in part.scores.items()},
                }
                for part in self.attributions
            ],
            "faults": self.faults(),
        }


def run_row(run: RescoredRun) -> dict[str, Any]:
    """Return a run as plain values: its facts, `value` with interval, and `categories`, the intervals by title.

    `value` is the mean of `metric`. It is None, and `categories` empty, without values and for selected questions.
    """
    values = run.main or run.values.get(WORD_F1.name)
    row: dict[str, Any] = {
        **{name: getattr(run, name) for name in ("system", "judge", "reader", "prompt", "role", "source")},
        "run": run.name,
        "benchmark": run.run.benchmark,
        "contract": run.run.contract,
        "self_judged": run.is_self_judged,
        "questions": len(values.by_question) if values else len(run.answers),
        "claims": [asdict(claim) for claim in run.claims],
        "files": list(run.run.files),
        "digest": run.run.digest,
        "metric": values.metric.name if values else None,
        **dict.fromkeys(("value", "low", "high", "reason", "without_wrong_keys")),
        "categories": {},
    }
    if values is not None and not run.is_selected:
        row |= {name: getattr(values.interval(), name) for name in ("value", "low", "high", "reason")}
        row["without_wrong_keys"] = (
            values.interval(run.valid_questions).value if run.valid_questions is not None else None
        )
        row["categories"] = {
            run.facts.categories.get(name, name): values.interval(questions)._asdict()
            for name, questions in run.categories().items()
            if values.by_question.keys() & {*questions}
        }
    return row


def percent(value: float | None, digits: int = 1) -> str:
    """Return a share in percent, without the sign."""
    return "" if value is None else f"{100 * value:.{digits}f}"


def bracket(interval: Interval) -> str:
    """Return an interval in percent, such as `[75.0, 88.8]`; empty without one."""
    if interval.low is None or interval.high is None:
        return ""
    return f"[{percent(interval.low)}, {percent(interval.high)}]"


def points(row: RunDifference) -> str:
    """Return a difference in points with its interval."""
    difference = row.difference
    if difference.difference is None:
        return difference.reason or ""
    value = f"{100 * difference.difference:+.1f}"
    if difference.low is None or difference.high is None:
        return value
    return f"{value} [{100 * difference.low:+.1f}, {100 * difference.high:+.1f}]"


def p_words(row: RunDifference) -> str:
    """Return the adjusted p value in words."""
    if row.p_adjusted is None:
        return "no test"
    return f"adjusted p = {row.p_adjusted:.3f}" if row.p_adjusted >= 0.001 else "adjusted p < 0.001"


def _of_claims(report: RunsReport) -> Iterator[str]:
    checked = [check for check in report.claims if check.is_equal is not None]
    differing = [check for check in checked if not check.is_equal]
    if not differing:
        return
    worst = max(differing, key=_distance)
    value = worst.value or Interval(None, None, None)
    where = "outside" if worst.is_outside else "inside"
    yield (
        f"{len(differing)} of {len(checked)} claims differ from the published rows. For {worst.run.name}, the "
        f"{worst.claim.where} claims {percent(worst.claim.value)} % ({worst.claim.metric}); the rows give "
        f"{percent(value.value)} % {bracket(value)}. The claim is {where} the interval."
    )


def _distance(check: ClaimCheck) -> float:
    return abs((check.value.value or 0.0) - check.claim.value) if check.value else 0.0


def _of_pairs(report: RunsReport) -> Iterator[str]:
    whole = [
        row
        for family in report.families
        for row in family
        if row.is_same_reader
        and row.a.main
        and row.metric is row.a.main.metric
        and row.a.selection == "whole"
    ]
    largest = max(whole, key=lambda row: abs(row.difference.difference or 0.0), default=None)
    anchored = [row for row in whole if "anchor" in (row.a.role, row.b.role) and row is not largest]
    for row in filter(None, (largest, *anchored)):
        better = (row.a if row.better == "a" else row.b).name if row.better else None
        yield (
            f"{row.a.name} and {row.b.name} answer the same {row.difference.n:,} questions with the same reader, "
            f"prompt and judge. The difference is {points(row)} points ({p_words(row)}): "
            f"{f'{better} is better' if better else 'it may be chance'}."
        )


def _of_evidence(report: RunsReport) -> Iterator[str]:
    by_system: dict[str, RunAttribution] = {}
    for part in report.attributions:
        if (
            part.is_labeled
            and part.with_all_evidence(correct=False).low is not None
            and not part.run.is_selected
        ):
            by_system[part.run.system] = part
    for part in by_system.values():
        wrong, none = part.with_all_evidence(correct=False), part.without_evidence(correct=False)
        most = percent(part.with_all_evidence(correct=False, lenient=True).value)
        share, without = (f"{percent(interval.value)} % {bracket(interval)}" for interval in (wrong, none))
        all_evidence = f"The context of {share} of these contains all evidence"
        no_evidence = "the context contains none"
        if part.rule:
            all_evidence = (
                f"A strict word match finds all evidence in the context of {share} of these, a lenient one in "
                f"{most} %"
            )
            no_evidence = "even the lenient match finds none"
        yield (
            f"{part.run.name} answers {part.count(correct=False):,} questions wrong. {all_evidence}: in these cases "
            f"the reader failed, not the retrieval. In {without}, {no_evidence}."
        )


def _of_retrieval(report: RunsReport) -> Iterator[str]:
    best: dict[tuple[str, str], RunAttribution] = {}
    for part in report.attributions:
        if part.kind != "words" and not part.run.values:
            former = best.setdefault((part.run.system, part.run.run.benchmark), part)
            if (part.retrieved.value or 0.0) > (former.retrieved.value or 0.0):
                best[part.run.system, part.run.run.benchmark] = part
    texts = [
        f"{part.run.name} {percent(part.retrieved.value)} % {bracket(part.retrieved)} of the {part.kind}"
        for part in best.values()
    ]
    if texts:
        yield f"Some runs have no reader. Of the evidence, they retrieved: {'; '.join(texts)}."


def _of_judges(report: RunsReport) -> Iterator[str]:
    for run in report.runs:
        if run.role == JUDGE_TEST and run.main is not None:
            accepted = run.main.interval()
            yield (
                f"The judge {run.judge} (judge prompt {run.run.contract}) labels {percent(accepted.value)} % "
                f"{bracket(accepted)} of {len(run.main.by_question):,} deliberately wrong answers as correct "
                f"({run.name})."
            )


def _of_labels(report: RunsReport) -> Iterator[str]:
    checks = [check for check in report.labels if check.run.role != JUDGE_TEST]
    common = max(checks, key=lambda check: check.commons * (check.common_right.value or 0.0), default=None)
    if common is not None and common.commons >= FEWEST_ANSWERS and (common.common_right.value or 0.0) >= HALF:
        yield (
            f"{common.run.name} answers \u201c{common.common}\u201d to {common.commons:,} questions whose gold answer "
            f"does not contain it. {percent(common.common_right.value)} % {bracket(common.common_right)} of these "
            "answers are labeled correct. Either the labels belong to other answers, or the judge accepts any answer."
        )
    equal = [check for check in checks if check.equal >= FEWEST_ANSWERS]
    worst = max(equal, key=lambda check: check.equal_wrong / check.equal, default=None)
    if worst is not None and worst.equal_wrong:
        others = [check for check in equal if check is not worst]
        yield (
            f"In {worst.run.name}, {worst.equal_wrong:,} of {worst.equal:,} answers that have exactly the words of the "
            f"gold answer are labeled wrong; in all other runs together, "
            f"{sum(check.equal_wrong for check in others):,} of {sum(check.equal for check in others):,}."
        )


def _of_reads(report: RunsReport) -> Iterator[str]:
    for run in report.runs:
        if cut := sum(answer.context_cut for answer in run.answers.values()):
            yield (
                f"In {run.name}, {cut:,} of {len(run.answers):,} published contexts are cut at one length. "
                "Evidence that is missing there may be in the part that was cut."
            )


STATEMENTS: Sequence[Callable[[RunsReport], Iterator[str]]] = (
    *(_of_claims, _of_pairs, _of_evidence, _of_retrieval, _of_judges, _of_labels, _of_reads),
)
