"""Types of a task (paper, section 2.3): cases (question and gold), corpora, pools and readers."""

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, StringConstraints

from memflow.benchmarks.published_file import File
from memflow.benchmarks.raw_records import RawRecord
from memflow.records import Record

M = TypeVar("M", bound=BaseModel)
Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]

Area = Literal["open", "legal", "academic"]
"""The paper's domains."""
Format = Literal["LiSo", "SiLo", "LiLo", "SiSo"]
"""Long or short input and output; the boundary is 600 tokens (A.1)."""
Part = Literal["train", "test"]


@dataclass(frozen=True, slots=True)
class Task:
    """A data set of MemoryBench, or a part of a data set.

    `published` is the task's name in published configurations and results. `metric` is the main metric and `measures`
    are the others. Pools are sampled to `sample` cases; 0 is all. `stratified` tasks are split by stratum. `prompt` is
    the stem of the prompt, `user_knows` the kind of gold that simulated users see. `markers` are the texts before and
    after the question in the prompt of the unified data set. `selection` has what a task reads of files that tasks
    share: categories by file, where none is all, or domains.
    """

    name: str
    published: str
    field: Area
    format: Format
    metric: str
    measures: tuple[str, ...] = ()
    sample: int = 250
    stratified: bool = False
    prompt: str = "answer"
    user_knows: str = "answer"
    markers: tuple[str, str] = ("", "")
    selection: Mapping[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)

    @property
    def long_output(self) -> bool:
        """True if users can copy answers to this task, because the answers are long (A.2.3)."""
        return self.format in ("SiLo", "LiLo")

    @property
    def has_corpus(self) -> bool:
        """True if the questions are about a corpus, the paper's static knowledge."""
        return self.prompt in ("locomo", "dialsim")


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A question and its gold.

    `case_id` is unique in its pool. `gold` is the input of the metric, text or JSON. `revealed` is the oracle's gold
    context. `evidence` lists ids of corpus messages, `rests_on` ids of training cases. `part` is the published split,
    `stratum` the unit of stratified splits, `asked_at` a simulated time. A case with a `reason` cannot be asked.
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
    """A message of a corpus. `message_id` is unique in the corpus."""

    message_id: str
    speaker: str
    text: str
    role: Literal["user", "assistant"] = "user"


@dataclass(frozen=True, slots=True)
class CorpusSession:
    """The messages of one session in order, and its published date."""

    date: str
    messages: tuple[CorpusMessage, ...]


@dataclass(frozen=True, slots=True)
class Pool:
    """Cases that are sampled and split together, with their corpus if they have one.

    `name` is the episode id of the corpus and the prefix of the case ids.
    """

    name: str
    task: Task
    cases: Sequence[Case]
    corpus: tuple[CorpusSession, ...] = ()

    def probe_id(self, case: Case) -> str:
        """Return the probe id of a case, which is unique in a domain."""
        return f"{self.name}/{case.case_id}"


@dataclass(frozen=True, slots=True)
class TaskReader:
    """The reader of a data set, which reads files and converts records to `pools`, or to the `cases` of one pool."""

    read: Callable[[File], Iterable[RawRecord]]
    """Returns the records in a file. Raises BadInput."""
    cases: Callable[[Sequence[Record]], list[Case]] = lambda records: []
    pools: Callable[[str, Sequence[Record]], list[Pool]] | None = None
    rows: str = ""
    """What a file contains, in the plural, if it must contain any."""

    def records(self, file: File) -> list[RawRecord]:
        """Return the records in a file. Raises BadInput."""
        found = list(self.read(file))
        if self.rows and not found:
            raise file.bad(f"the file has no {self.rows}")
        return found


def answered_case(case_id: str, question: str, answer: str, **more: Any) -> Case:
    """Return a case whose gold is an answer. `more` contains the values of further fields."""
    return Case(case_id=case_id, question=question.strip(), gold=answer, revealed=answer, **more)


def cases_of(
    shape: type[M], records: Iterable[Record], convert: Callable[[int, Record, M], Case]
) -> list[Case]:
    """Return one case per record, in order. `convert` receives the position, the record and its validated content.

    A quarantined record also becomes a case, so that the sampling and the split of other cases do not change.
    """
    return [
        convert(position, record, shape.model_validate_json(record.content))
        if record.reason is None
        else quarantined_case(record)
        for position, record in enumerate(records)
    ]


def quarantined_case(record: Record) -> Case:
    """Return a quarantined case for a quarantined record."""
    return invalid_case(record.record_id, f"{record.source}, {record.reason}")


def invalid_case(case_id: str, reason: str) -> Case:
    """Return a case that cannot be asked."""
    return Case(case_id=case_id, question="", gold="", revealed="", reason=reason)
