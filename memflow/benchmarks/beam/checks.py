"""The checks of BEAM's rows: rubrics, evidence in the text, and judges' replies that are in form."""

import json
from collections.abc import Sequence

from memflow.benchmarks.beam.types import TYPES
from memflow.checks.rules import Expectation, WholeTable, each_valid_row, of_benchmark
from memflow.records import Probe, Verdict

MAX_WITHOUT_VALUE = 0.01
"""The largest share of judged items without a value."""


def _has_rubric(probe: Probe) -> bool:
    return any(item.strip() for item in json.loads(probe.gold))


def without_evidence(probes: Sequence[Probe]) -> list[int]:
    """Return the positions of questions that can be answered and have no evidence in the text."""
    return [
        at
        for at, probe in enumerate(probes)
        if probe.reason is None and not probe.evidence and probe.category != "abstention"
    ]


def unread_items(verdicts: Sequence[Verdict]) -> list[int]:
    """Return the positions of judged items whose reply is out of form, if they are more than MAX_WITHOUT_VALUE."""
    judged = [at for at, row in enumerate(verdicts) if row.judge_reply is not None]
    found = [at for at in judged if verdicts[at].value is None]
    return found if len(found) > MAX_WITHOUT_VALUE * len(judged) else []


EXPECTED = of_benchmark(
    "beam",
    (
        Expectation(
            "question.probes",
            "rubric_has_items",
            each_valid_row(_has_rubric),
            text="The gold of each probe is a JSON list of criteria, none of which is blank.",
        ),
        Expectation(
            "question.probes",
            "known_question_type",
            each_valid_row(lambda probe: probe.category in TYPES),
            text="The category of each probe is one of the ten abilities.",
        ),
        Expectation(
            "question.probes",
            "evidence_in_text",
            WholeTable(without_evidence),
            text="Each question with an answer has evidence in the text; the published data lacks it in places.",
            severity="warn",
        ),
        Expectation(
            "score.verdicts",
            "judge_replies_in_form",
            WholeTable(unread_items),
            text="At most 1 percent of the judge's replies to items of rubrics are out of form.",
            severity="warn",
        ),
    ),
)
