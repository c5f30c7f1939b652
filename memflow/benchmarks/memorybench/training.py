"""Fine-tuning data from user actions (paper, A.3.9): first answers that were liked or copied.

An example is the first request of a training case, without memory, and its answer. resources/trainer.py trains the
adapter.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from memflow.benchmarks.memorybench.question import build_prompt
from memflow.chat.requests import ChatMessage
from memflow.errors import BadInput
from memflow.fingerprint import digest
from memflow.records import FeedbackRound, Probe

Action = Literal["like", "copy"]
TRAIN = "train"


@dataclass(frozen=True, slots=True)
class LoraConfig:
    """Adapter hyperparameters; the paper's, except `targets` and `seed`, which it does not give."""

    rank: int = 8
    alpha: int = 32
    dropout: float = 0.05
    learning_rate: float = 1e-4
    epochs: int = 5
    batch: int = 4
    """Examples per step, without gradient accumulation."""
    length: int = 8192
    """Maximum tokens of request and answer; longer ones are truncated at the end."""
    targets: str = "all-linear"
    """Adapted modules: all linear ones but the output layer, or comma-separated names."""
    seed: int = 42


@dataclass(frozen=True, slots=True)
class TrainingExample:
    """A request and the answer to learn."""

    case_id: str
    dataset: str
    request: tuple[ChatMessage, ...]
    answer: str

    def written(self) -> dict[str, object]:
        """Return the example in TRL's prompt-completion format."""
        return {
            "case_id": self.case_id,
            "prompt": [{"role": said.role, "content": said.content} for said in self.request],
            "completion": [{"role": "assistant", "content": self.answer}],
        }


@dataclass(frozen=True, slots=True)
class SkippedCase:
    """A case with the required action that is no example, with the reason."""

    case_id: str
    dataset: str
    reason: str


@dataclass(frozen=True, slots=True)
class TrainingData:
    """Examples in the order of their case ids, and the skipped cases."""

    action: Action
    examples: tuple[TrainingExample, ...]
    skipped: tuple[SkippedCase, ...]
    first_answers: Mapping[str, int]
    """Number of first answers by data set, with or without the action."""

    @property
    def digest(self) -> str:
        """Digest of requests and answers."""
        return digest([example.written() for example in self.examples])

    def counts(self) -> list[tuple[str, int, int, int]]:
        """Return (data set, first answers, examples, skipped) rows."""
        taken = Counter(example.dataset for example in self.examples)
        lost = Counter(each.dataset for each in self.skipped)
        return [(name, n, taken[name], lost[name]) for name, n in self.first_answers.items()]


def build_training_data(
    rows: Iterable[FeedbackRound], probes: Sequence[Probe], action: Action
) -> TrainingData:
    """Return the examples of a domain, in any order of `rows`, one per case.

    Raises BadInput if a case occurs twice or is a test case.
    """
    asked = {probe.probe_id: probe for probe in probes}
    firsts = sorted((row for row in rows if row.round == 0), key=lambda row: row.case_id)
    _reject_invalid(firsts, asked)
    examples: list[TrainingExample] = []
    skipped: list[SkippedCase] = []
    for row in firsts:
        if not (row.liked if action == "like" else row.copied):
            continue
        probe = asked.get(row.case_id)
        reason = _skip_reason(row, probe)
        if probe is None or reason is not None:
            skipped.append(SkippedCase(row.case_id, row.dataset, reason or ""))
            continue
        prompt, fields = build_prompt(probe, "")
        examples.append(TrainingExample(row.case_id, row.dataset, prompt.render(fields), row.answer))
    first_answers = Counter(row.dataset for row in firsts)
    return TrainingData(action, tuple(examples), tuple(skipped), dict(sorted(first_answers.items())))


def _reject_invalid(firsts: Sequence[FeedbackRound], asked: Mapping[str, Probe]) -> None:
    often = [name for name, n in Counter(row.case_id for row in firsts).items() if n > 1]
    if often:
        raise BadInput(f"feedback.sessions has several first rounds of {often[0]}; regenerate it")
    tests = [row.case_id for row in firsts if row.case_id in asked and asked[row.case_id].split != TRAIN]
    if tests:
        raise BadInput(
            f"feedback.sessions has the test case {tests[0]}, which must not be trained on; regenerate it"
        )


def _skip_reason(row: FeedbackRound, probe: Probe | None) -> str | None:
    if row.reason is not None:
        return f"its row is quarantined: {row.reason}"
    if probe is None:
        return "question.probes has no such case"
    if probe.reason is not None:
        return f"its probe is quarantined: {probe.reason}"
    if not row.answer.strip():
        return "its answer is empty"
    return None
