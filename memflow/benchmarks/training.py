"""Training data of `memflow finetune`: the answers in a domain's feedback that users liked or copied.

`AdapterTraining.training_set` selects these answers. resources/training/trainer.py trains the adapter.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from memflow.chat.requests import ChatMessage
from memflow.fingerprint import digest

Action = Literal["like", "copy"]


@dataclass(frozen=True, slots=True)
class Lora:
    """The parameters of a LoRA training. Defaults are from MemoryBench (A.3.9), except `targets` and `seed`."""

    rank: int = 8
    alpha: int = 32
    dropout: float = 0.05
    learning_rate: float = 1e-4
    epochs: int = 5
    batch: int = 4
    """Examples per step; gradients are not accumulated."""
    length: int = 8192
    """Most tokens of request and answer together; the end is cut off."""
    targets: str = "all-linear"
    """The adapted modules: every linear one but the output layer, or names, comma-separated."""
    seed: int = 42


@dataclass(frozen=True, slots=True)
class Example:
    """A training example: a request and the answer to learn."""

    case_id: str
    dataset: str
    request: tuple[ChatMessage, ...]
    answer: str

    def written(self) -> dict[str, object]:
        """Return the example in TRL's conversation format; only the completion is learned."""
        return {
            "case_id": self.case_id,
            "prompt": [{"role": said.role, "content": said.content} for said in self.request],
            "completion": [{"role": "assistant", "content": self.answer}],
        }


@dataclass(frozen=True, slots=True)
class ExcludedCase:
    """A case whose first answer was liked (or copied) but is unusable as a training example, with the reason.

    The reason is that the answer is quarantined, has no probe, or is empty.
    """

    case_id: str
    dataset: str
    reason: str


@dataclass(frozen=True, slots=True)
class TrainingSet:
    """The training examples in the order of their case ids, and the excluded cases."""

    action: Action
    examples: tuple[Example, ...]
    excluded: tuple[ExcludedCase, ...]
    first_answers: Mapping[str, int]
    """The number of first answers by data set, with or without the action."""

    @property
    def content_hash(self) -> str:
        """The content hash of the requests and answers of all training examples."""
        return digest([example.written() for example in self.examples])

    def counts(self) -> list[tuple[str, int, int, int]]:
        """Return the name and the numbers of first answers, examples and excluded cases of each data set."""
        used = Counter(example.dataset for example in self.examples)
        lost = Counter(each.dataset for each in self.excluded)
        return [(name, n, used[name], lost[name]) for name, n in self.first_answers.items()]
