"""The rows of a published run: answers, labels, contexts and retrieved ids that somebody else committed publicly."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from pydantic import BaseModel, ConfigDict

NOT_JUDGED = "the recorded answer was not judged"
NO_LABEL = "the judge of the recorded run gave no label"
JUDGE_OFF = (
    "the judge of the recorded run was off: no label is positive, even where the answer equals the gold"
)
LEFT_OUT = "the recorded run left this question out of judging"


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedAnswer:
    """An answer of a published run, or what was retrieved for a question.

    `question_id` is the id of memflow's probe where memflow has the benchmark: `conv-26/q0` by position in LoCoMo's
    file, the published id in LongMemEval. It is empty where the file states no position (see `placed`).
    """

    question_id: str
    conversation: str
    """The conversation, by its published name: the cluster of an interval. The question id where there is none."""
    category: str
    """The benchmark's own category, as an integer where it has one (names differ between vendors)."""
    question: str = ""
    answer: str | None = None
    gold: str | None = None
    """The gold answer as recorded; several are separated by line breaks."""
    label: float | None = None
    """The judge's label, 0 or 1; of several votes, that of the majority. None with `label_reason`."""
    label_reason: str | None = None
    votes: tuple[float, ...] = ()
    judge: str = ""
    """The judge of the label, where the row names it."""
    rubric: tuple[float, ...] = ()
    """The scores of the criteria of a rubric, 0 to 1 each."""
    metrics: Mapping[str, float] = field(default_factory=dict)
    """Further recorded values, such as `f1`, `bleu`, `recall`, `rubric`, `kendall_tau`."""
    texts: tuple[str, ...] = ()
    """The retrieved texts in the order of their ranks."""
    messages: tuple[str, ...] = ()
    """The published ids of the retrieved messages in the order of their ranks, such as `D1:3`."""
    sessions: tuple[str, ...] = ()
    """The published ids of the retrieved sessions in the order of their ranks; `1` for LoCoMo's first session."""
    recorded_evidence: tuple[str, ...] = ()
    """The ids of the evidence messages as the file states them."""
    has_context: bool = False
    """Whether the file has what was retrieved: with empty `texts`, `messages` and `sessions`, nothing was."""
    context_cut: bool = False
    """The file has only a part of the retrieved text: evidence missing from it may have been retrieved."""
    retrieved: int | None = None
    """The number of retrieved items, as recorded."""
    seconds: Mapping[str, float] = field(default_factory=dict)
    """Latencies by step, such as `search`, `answer`."""
    tokens: Mapping[str, int] = field(default_factory=dict)
    """Tokens by kind, such as `context`, `prompt`, `completion`."""
    place: str = ""
    """The file and the row, for messages."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A published figure: its metric, value from 0 to 1, and where it is claimed. `of` is the denominator."""

    metric: str
    value: float
    where: str
    of: int | None = None
    note: str = ""


class DeclaredRun(BaseModel):
    """A published run as declared in runs.yaml: where its files are, how they are read, and what is claimed."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    system: str
    benchmark: str
    folder: str
    files: tuple[str, ...]
    """Patterns of file names in the folder; a name may also end in `.gz`."""
    form: str
    conversation: str = ""
    """The conversation of all rows, where the rows do not name it."""
    choice: str | None = None
    """The cutoff or system that is read, where a file has several."""
    companions: Mapping[str, str] = {}
    """Further files that a form needs, by purpose."""
    reader: str = "not stated"
    judge: str = "none"
    contract: str = ""
    """The judge's prompt: memflow's name of the contract where it has one, else a description."""
    prompt: str = ""
    """The answer prompt, where it is stated."""
    claims: tuple[Claim, ...] = ()
    license: str = "none stated"
    source: str = ""
    """The repository, commit and path."""
    selection: str = "whole"
    """`whole`, `conversation` (one or few whole conversations), `subset` (its figures are of the subset only), or
    `selected` by an outcome: no accuracy can be stated."""
    role: str = "system"
    """`system`, `anchor` (full context, naive RAG, no memory), `oracle` or `judge_test` (wrong answers)."""
    sha256: Mapping[str, str] = {}
    """The checksum of a file's text by its name without `.gz`, where it is known."""
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedRun:
    """What the files of a run contain: the answers in order of their questions, and a sentence per fault.

    `header` has the settings that the files state, such as `reader` and `judge`. `notes` are what a reader of any
    figure must know, such as cut contexts.
    """

    form: str
    benchmark: str
    contract: str
    files: tuple[str, ...]
    digest: str
    answers: tuple[PublishedAnswer, ...]
    declaration: DeclaredRun | None = None
    choice: str | None = None
    header: Mapping[str, str] = field(default_factory=dict)
    faults: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
