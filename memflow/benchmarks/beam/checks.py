"""The checks of BEAM's rows: rubrics, evidence in the text, and judges' replies that are in form."""

import json
from collections.abc import Sequence

from memflow.benchmarks.beam.types import TYPES
from memflow.checks.rules import (
    Rule,
    WholeTable,
    add_descriptions,
    each_valid_row,
    expect,
    expect_all,
)
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


_ERRORS: dict[str, Rule] = {
    "rubric_has_items": each_valid_row(_has_rubric),
    "known_question_type": each_valid_row(lambda probe: probe.category in TYPES),
}
_WARNINGS: dict[str, dict[str, Rule]] = {
    "question.probes": {"evidence_in_text": WholeTable(without_evidence)},
    "score.verdicts": {"judge_replies_in_form": WholeTable(unread_items)},
}
EXPECTED = add_descriptions(
    (*expect("question.probes", _ERRORS), *expect_all(_WARNINGS, "warn")), "memflow.benchmarks.beam"
)
