"""What an assistant is trained on from its users' presses (paper, A.3.9): first answers that were liked, or copied.

Rows of feedback.sessions -> examples, each the first request of a training case as the memory `none` is asked it, and
the answer that its user pressed on. Words of feedback are no part of it. Training itself is resources/trainer.py.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from memflow.benchmarks.memorybench.question import build_prompt
from memflow.benchmarks.training import Action, Example, LeftOut, TrainingSet
from memflow.errors import BadInput
from memflow.records import FeedbackRound, Probe

TRAIN = "train"


def training(rows: Iterable[FeedbackRound], probes: Sequence[Probe], action: Action) -> TrainingSet:
    """The examples of a domain, whatever the order of `rows`; they hold no case twice.

    Raises BadInput where a case is asked twice, or is a test case: then the table is not feedback's.
    """
    asked = {probe.probe_id: probe for probe in probes}
    firsts = sorted((row for row in rows if row.round == 0), key=lambda row: row.case_id)
    _refuse(firsts, asked)
    examples: list[Example] = []
    left_out: list[LeftOut] = []
    for row in firsts:
        if not (row.liked if action == "like" else row.copied):
            continue
        probe = asked.get(row.case_id)
        reason = _wrong(row, probe)
        if probe is None or reason is not None:
            left_out.append(LeftOut(row.case_id, row.dataset, reason or ""))
            continue
        prompt, fields = build_prompt(probe, "")
        examples.append(Example(row.case_id, row.dataset, prompt.render(fields), row.answer))
    first_answers = Counter(row.dataset for row in firsts)
    return TrainingSet(action, tuple(examples), tuple(left_out), dict(sorted(first_answers.items())))


def _refuse(firsts: Sequence[FeedbackRound], asked: Mapping[str, Probe]) -> None:
    often = [name for name, n in Counter(row.case_id for row in firsts).items() if n > 1]
    if often:
        raise BadInput(
            f"the feedback has several first rounds of the case {often[0]}. Materialize the asset "
            "feedback/sessions again."
        )
    tests = [row.case_id for row in firsts if row.case_id in asked and asked[row.case_id].split != TRAIN]
    if tests:
        raise BadInput(
            f"the feedback contains the test case {tests[0]}, but only training cases are allowed. "
            "Materialize the asset feedback/sessions again."
        )


def _wrong(row: FeedbackRound, probe: Probe | None) -> str | None:
    if row.reason is not None:
        return f"the feedback row is quarantined: {row.reason}"
    if probe is None:
        return "question.probes does not contain the case"
    if probe.reason is not None:
        return f"the probe is quarantined: {probe.reason}"
    if not row.answer.strip():
        return "the answer is empty"
    return None
