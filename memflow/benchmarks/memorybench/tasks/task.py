"""What a task provides: cases (q, v), with a corpus (c) where there is one (paper, section 2.3)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Field = Literal["open", "legal", "academic"]
"""The paper's domains; a memflow domain is made of the tasks of one, or of one format."""
Format = Literal["LiSo", "SiLo", "LiLo", "SiSo"]
"""Long or short input, long or short output: 600 tokens are the boundary (A.1)."""
Part = Literal["train", "test"]


@dataclass(frozen=True, slots=True)
class Task:
    """A data set of MemoryBench, or a part of one.

    `published` is its name in the published configurations and reference figures. `metric` scores a case; `measures`
    are what else is measured. Of more than `sample` cases so many are drawn, of each pool; 0 takes all. A `stratified`
    task is split category by category. `prompt` is the stem of the prompt that puts its questions.
    """

    name: str
    published: str
    field: Field
    format: Format
    metric: str
    measures: tuple[str, ...] = ()
    sample: int = 250
    stratified: bool = False
    prompt: str = "answer"

    @property
    def long_output(self) -> bool:
        """Whether users copy its answers (A.2.3)."""
        return self.format in ("SiLo", "LiLo")


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A question and what its answer is measured by.

    `case_id` is unique in its pool. `gold` is what the metric is given: a text, or a JSON object where v has parts.
    `revealed` is what the oracle is told. `evidence` are the messages of the corpus that it rests on, by their ids
    there, and `rests_on` training cases of the pool. `part` is set where the split is published. `stratum` is what a
    stratified task is split by, and `asked_at` the simulated time at which it is asked, where it is published. `reason`
    is set where a case keeps its place and cannot be asked.
    """

    case_id: str
    question: str
    gold: str
    revealed: str
    language: Literal["en", "zh"] = "en"
    category: str | None = None
    stratum: str | None = None
    options: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()
    rests_on: tuple[str, ...] = ()
    part: Part | None = None
    asked_at: str | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class CorpusMessage:
    """A message of a corpus. `message_id` is unique in it."""

    message_id: str
    speaker: str
    text: str
    role: Literal["user", "assistant"] = "user"


@dataclass(frozen=True, slots=True)
class CorpusSession:
    """Messages that were said together, in order, and when, as published."""

    date: str
    messages: tuple[CorpusMessage, ...]


@dataclass(frozen=True, slots=True)
class Pool:
    """Cases of one task that are sampled and split together, and the corpus that they are asked about, if any.

    `name` is the episode of a pool with a corpus, and stands before the ids of its cases in either.
    """

    name: str
    task: Task
    cases: Sequence[Case]
    corpus: tuple[CorpusSession, ...] = ()

    def probe_id(self, case: Case) -> str:
        """Unique within a domain."""
        return f"{self.name}/{case.case_id}"
