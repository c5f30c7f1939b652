"""The report on published runs as plain values, for JSON and CSV."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from memflow.metrics.intervals import Interval
from memflow.published_runs.report import RunsReport
from memflow.published_runs.rescoring import WORD_F1, RescoredRun


def report_data(report: RunsReport) -> dict[str, Any]:
    """Return the report as plain values: one object per run, comparison, attribution and claim."""
    return {
        "statements": report.statements(),
        "runs": [run_row(run) for run in report.runs],
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
            for family in report.families
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
            for part in report.attributions
        ],
        "missing": dict(report.missing),
    }


def run_row(run: RescoredRun) -> Mapping[str, Any]:
    """Return a run's figures as plain values, with the interval of each category."""
    values = run.main or run.values.get(WORD_F1.name)
    whole = values.interval() if values else Interval(None, None, None)
    sound = values.interval(run.sound) if values and run.sound is not None else Interval(None, None, None)
    return {
        "run": run.name,
        "system": run.system,
        "benchmark": run.run.benchmark,
        "contract": run.run.contract,
        "judge": run.judge,
        "reader": run.reader,
        "prompt": run.prompt,
        "role": run.role,
        "self_judged": run.is_self_judged,
        "metric": values.metric.name if values else None,
        "questions": len(values.by_question) if values else len(run.answers),
        "claims": [asdict(claim) for claim in run.claims],
        **{
            name: None if run.is_selected else getattr(whole, name)
            for name in ("value", "low", "high", "reason")
        },
        "without_wrong_keys": None if run.is_selected else sound.value,
        "categories": {
            run.facts.categories.get(name, name): values.interval(questions)._asdict()
            for name, questions in run.categories().items()
            if values and not run.is_selected and values.by_question.keys() & {*questions}
        },
        "source": run.run.declaration.source if run.run.declaration else "",
        "files": list(run.run.files),
        "digest": run.run.digest,
    }
