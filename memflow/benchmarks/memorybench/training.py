"""What an assistant is trained on from its users' presses (paper, A.3.9): first answers that were liked, or copied.

Rows of feedback.sessions -> examples, each the first request of a training case as the memory `none` is asked it, and
the answer that its user pressed on. Words of feedback are no part of it. Training itself is resources/trainer.py.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from memflow.benchmarks.memorybench.question import put
from memflow.chat.requests import ChatMessage
from memflow.errors import BadInput
from memflow.fingerprint import digest
from memflow.records import FeedbackRound, Probe

Action = Literal["like", "copy"]
TRAIN = "train"


@dataclass(frozen=True, slots=True)
class Lora:
    """How an adapter is trained. The defaults are the paper's, but for `targets` and `seed`, on which it is silent."""

    rank: int = 8
    alpha: int = 32
    dropout: float = 0.05
    learning_rate: float = 1e-4
    epochs: int = 5
    batch: int = 4
    """Examples a step; gradients are not accumulated over several."""
    length: int = 8192
    """Tokens of request and answer together; what is beyond is cut off, at the end."""
    targets: str = "all-linear"
    """The modules that are adapted: every linear one but the output layer, or names, comma-separated."""
    seed: int = 42


@dataclass(frozen=True, slots=True)
class Example:
    """One request and the answer that is to be learned."""

    case_id: str
    dataset: str
    request: tuple[ChatMessage, ...]
    answer: str

    def written(self) -> dict[str, object]:
        """As TRL takes a conversation of which the completion alone is learned."""
        return {
            "case_id": self.case_id,
            "prompt": [{"role": said.role, "content": said.content} for said in self.request],
            "completion": [{"role": "assistant", "content": self.answer}],
        }


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A case whose first answer was pressed on, and why it is no example all the same."""

    case_id: str
    dataset: str
    reason: str


@dataclass(frozen=True, slots=True)
class Training:
    """Examples in the order of their case ids, and what happened to the other first answers."""

    action: Action
    examples: tuple[Example, ...]
    left_out: tuple[LeftOut, ...]
    first_answers: Mapping[str, int]
    """First answers by data set, pressed on or not."""

    @property
    def digest(self) -> str:
        """Digest of requests and answers: two trainings on the same data share it."""
        return digest([example.written() for example in self.examples])

    def counts(self) -> list[tuple[str, int, int, int]]:
        """By data set: first answers, examples, left out."""
        taken = Counter(example.dataset for example in self.examples)
        lost = Counter(each.dataset for each in self.left_out)
        return [(name, n, taken[name], lost[name]) for name, n in self.first_answers.items()]


def training(rows: Iterable[FeedbackRound], probes: Sequence[Probe], action: Action) -> Training:
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
        prompt, fields = put(probe, "")
        examples.append(Example(row.case_id, row.dataset, prompt.render(fields), row.answer))
    first_answers = Counter(row.dataset for row in firsts)
    return Training(action, tuple(examples), tuple(left_out), dict(sorted(first_answers.items())))


def _refuse(firsts: Sequence[FeedbackRound], asked: Mapping[str, Probe]) -> None:
    often = [name for name, n in Counter(row.case_id for row in firsts).items() if n > 1]
    if often:
        raise BadInput(f"the feedback has several first rounds of {often[0]}; materialize it again")
    tests = [row.case_id for row in firsts if row.case_id in asked and asked[row.case_id].split != TRAIN]
    if tests:
        raise BadInput(
            f"the feedback holds the test case {tests[0]}, on which nobody may be trained; materialize it again"
        )


def _wrong(row: FeedbackRound, probe: Probe | None) -> str | None:
    if row.reason is not None:
        return f"its row is quarantined: {row.reason}"
    if probe is None:
        return "question.probes has no such case"
    if probe.reason is not None:
        return f"its probe is quarantined: {probe.reason}"
    if not row.answer.strip():
        return "its answer is empty"
    return None
