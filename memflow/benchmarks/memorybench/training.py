"""Training data of an assistant (paper, A.3.9): first answers in training dialogues that users liked or copied.

Rows of feedback.sessions become examples. An example is the first request of a training case, as the memory `none`
gets it, and the answer that the user liked or copied. Examples contain no words of feedback.
resources/training/trainer.py trains the adapter.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from memflow.benchmarks.memorybench.question import build_prompt
from memflow.benchmarks.training import Action, Example, ExcludedCase, TrainingSet
from memflow.errors import BadInput
from memflow.records import FeedbackRound, Probe

TRAIN = "train"


def training(rows: Iterable[FeedbackRound], probes: Sequence[Probe], action: Action) -> TrainingSet:
    """Return the training examples of a domain. Their order does not depend on the order of `rows`.

    Raises BadInput if a case has several first rounds or is a test case, because such rows are no valid feedback.
    """
    asked = {probe.probe_id: probe for probe in probes}
    firsts = sorted((row for row in rows if row.round == 0), key=lambda row: row.case_id)
    _refuse(firsts, asked)
    examples: list[Example] = []
    excluded: list[ExcludedCase] = []
    for row in firsts:
        if not (row.liked if action == "like" else row.copied):
            continue
        probe = asked.get(row.case_id)
        reason = _wrong(row, probe)
        if probe is None or reason is not None:
            excluded.append(ExcludedCase(row.case_id, row.dataset, reason or ""))
            continue
        prompt, fields = build_prompt(probe, "")
        examples.append(Example(row.case_id, row.dataset, prompt.render(fields), row.answer))
    first_answers = Counter(row.dataset for row in firsts)
    return TrainingSet(action, tuple(examples), tuple(excluded), dict(sorted(first_answers.items())))


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
