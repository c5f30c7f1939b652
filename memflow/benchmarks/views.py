"""Extensions of commands by a benchmark: views of `memflow show`, exports and imports.

Benchmarks declare them here as data and read the lake through a `Reader`. memflow/cli parses options and prints.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from memflow.benchmarks.domains import Domain
from memflow.errors import BadInput
from memflow.records import FailureAttribution, Reply, Score, Verdict

SCRIPTED_CAVEAT = "these figures show that the chain works, and say nothing of any model."


class StoredFacts(Protocol):
    """Metadata of a stored partition."""

    @property
    def digest(self) -> str: ...

    @property
    def meta(self) -> Mapping[str, str]: ...


class Reader(Protocol):
    """Read access to stored rows, published scores, and the domains in the settings."""

    @property
    def width(self) -> int:
        """The maximum number of characters per line of the answer."""

    def domain(self, name: str) -> Domain:
        """Return a domain. Raises BadSettings if the settings do not define it."""

    def domains(self, names: Iterable[str]) -> list[Domain]:
        """Return the domains with these names; names that the settings do not define are skipped."""

    def partitions(self, table: str) -> list[str]:
        """Return the stored partitions of a table, named `domain` or `domain/assistant`."""

    def rows(self, table: str, partition: str) -> list[Any]:
        """Return the rows of a partition. Raises BadInput if the partition is not stored."""

    def facts(self, table: str, partition: str) -> StoredFacts | None:
        """Return the metadata of a partition, or None if the partition is not stored."""

    def scores(self) -> list[Score]:
        """Return the published scores."""


@dataclass(frozen=True)
class Option:
    """An option `--name` of a view, or its positional argument."""

    name: str
    help: str
    kind: type = str
    default: Any = None
    repeated: bool = False
    """The value is then a list, None if the option is not given."""
    positional: bool = False
    metavar: str = "NAME"


def stored_rows(reader: Reader, table: str, partitions: Iterable[str]) -> list[Any]:
    """Return the rows of all stored partitions; missing partitions are skipped."""
    return [row for name in partitions if reader.facts(table, name) for row in reader.rows(table, name)]


def record_table(records: Sequence[Mapping[str, Any]], columns: Sequence[str] = ()) -> "Table":
    """Return records as a table with these columns, or all columns of the records."""
    names = columns or list(records[0] if records else ())
    return Table(names, [[record[name] for name in names] for record in records])


def scores_of(reader: Reader, results: Collection[tuple[str, str]]) -> list[Score]:
    """Return the leaderboard's scores of (domain, assistant) pairs."""
    return [score for score in reader.scores() if (score.domain, score.assistant) in results]


def measured_names(
    names: Collection[str], wanted: Sequence[str] | None, results: str, command: str
) -> list[str]:
    """Return the names of measured domains in `wanted`, or all of them without `wanted`.

    `results` states of what, such as "capacity results", and `command` how to get them. Raises BadInput if `names` is
    empty, or if it lacks a wanted name.
    """
    if not names:
        raise BadInput(f"no domain has {results} yet. {command}.")
    for name in wanted or ():
        if name not in names:
            raise BadInput(f"{name!r} has no {results}. Choose a domain that has: {', '.join(names)}.")
    return [name for name in names if not wanted or name in wanted]


DOMAIN_OPTION = Option("domain", "Of this domain; may be repeated.", repeated=True)
ASSISTANT_OPTION = Option("assistant", "Of this assistant; may be repeated.", repeated=True)


class Dim(str):
    """A table cell that is printed dimmed, such as a published value."""

    __slots__ = ()


@dataclass(frozen=True)
class Heading:
    """A heading above the following parts."""

    text: str


@dataclass(frozen=True)
class Note:
    """A note below a table. If `warning` is true, the note is highlighted."""

    text: str
    warning: bool = False


@dataclass(frozen=True)
class Table:
    """A table of plain values. Columns of numbers are aligned on the right."""

    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]
    title: str = ""


Part = Heading | Note | Table


@dataclass(frozen=True)
class Answer:
    """The result of a view: `data` for programs, `parts` for people, and `records` as the rows of a CSV file.

    Without `records`, a CSV file has the rows of the tables.
    """

    data: Mapping[str, Any]
    parts: Sequence[Part]
    records: Sequence[Mapping[str, Any]] = ()
    scores: Sequence[Score] = ()
    """The scores that the result shows or is computed with. They determine the label, and what is incomplete."""
    label: str | None = None
    """The label of a result without scores (memflow/labels.py): of the scripted chat or of a hashed embedder."""
    caveat: str = SCRIPTED_CAVEAT
    """What the label of the scripted chat means for the result."""


@dataclass(frozen=True)
class View:
    """A command of `memflow show`. `show(reader, **options)` returns an Answer or raises BadInput."""

    name: str
    help: str
    """The first sentence stands in the list of views."""
    show: Callable[..., Answer] | str
    """The function or its import path `module:function`; a path is imported when the view is called."""
    options: Sequence[Option] = ()


@dataclass(frozen=True)
class ExportedFile:
    """The text of a file to write, and a report about the file."""

    text: str
    data: Mapping[str, Any]
    parts: Sequence[Part]


@dataclass(frozen=True)
class Export:
    """A command of `memflow export`. `export(reader, domain)` returns an ExportedFile or raises BadInput."""

    name: str
    help: str
    export: Callable[[Reader, Domain], ExportedFile] | str
    """The function or its import path."""


@dataclass(frozen=True)
class ImportedResults:
    """The answers that other code recorded for the probes of a domain, and their verdicts."""

    assistant: str
    """The assistant under which they are stored, `NAME@MODEL`: the model is none of memflow's."""
    model: str
    """The model that answered, as the source names it."""
    source: str
    """What was imported, with a content hash; a column of the leaderboard."""
    settings: Mapping[str, Any]
    """The recorded settings of the assistant, without keys."""
    replies: Sequence[Reply]
    verdicts: Sequence[Verdict]
    faults: Sequence[str] = ()
    """A sentence for each result that is missing or invalid."""
    attributions: Sequence[FailureAttribution] = ()
    """How much of the evidence was recalled, where the source tells which messages were."""
    scripted: bool = False
    """Whether a scripted chat judged the answers."""
    replaced_prompts: Sequence[str] = ()
    """The replaced prompts of judges that judged the answers, as `name@digest`."""


@dataclass(frozen=True)
class Import:
    """A command of `memflow import`. `read(reader, domain, path)` returns ImportedResults or raises BadInput."""

    name: str
    help: str
    read: Callable[[Reader, Domain, Path], ImportedResults] | str
    """The function or its import path."""
