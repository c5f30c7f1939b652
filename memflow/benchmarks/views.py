"""What a benchmark offers to look at: views of `memflow show`, files of `memflow export`, pictures of `memflow plot`.

They are declared here as data, and read the lake through a `Reader`: printing, drawing and options are memflow/cli's.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from memflow.benchmarks.domains import Domain
from memflow.records import Score

if TYPE_CHECKING:
    from memflow.plots.shapes import Drawable

SCRIPTED_CAVEAT = "these figures show that the chain works, and say nothing of any model."


class StoredFacts(Protocol):
    """What the lake knows of a stored partition."""

    @property
    def digest(self) -> str: ...

    @property
    def meta(self) -> Mapping[str, str]: ...


class Reader(Protocol):
    """Read access to the results of a home: stored rows, published scores, and the domains of the settings."""

    @property
    def width(self) -> int:
        """The characters that a line of the answer may have."""

    @property
    def models(self) -> Mapping[str, str]:
        """The models of the settings: names by fingerprint."""

    def domain(self, name: str) -> Domain:
        """Return a domain. Raises BadSettings if the settings do not know it."""

    def domains(self, names: Iterable[str]) -> list[Domain]:
        """Return the domains of those names that the settings know."""

    def partitions(self, table: str) -> list[str]:
        """Return the stored partitions of a table: `domain`, or `domain/assistant`."""

    def rows(self, table: str, partition: str) -> list[Any]:
        """Return the rows of a stored partition. Raises BadInput if it is not stored."""

    def facts(self, table: str, partition: str) -> StoredFacts | None:
        """Return what is known of a stored partition; None if it is not stored."""

    def scores(self) -> list[Score]:
        """Return the published scores."""


@dataclass(frozen=True)
class Option:
    """An option of a view, `--name`, or its positional argument."""

    name: str
    help: str
    kind: type = str
    default: Any = None
    repeated: bool = False
    """The value is then a list, None if the option is not given."""
    positional: bool = False
    metavar: str = "NAME"


def stored_rows(reader: Reader, table: str, partitions: Iterable[str]) -> list[Any]:
    """Return the rows of those partitions that are stored."""
    return [row for name in partitions if reader.facts(table, name) for row in reader.rows(table, name)]


DOMAIN_OPTION = Option("domain", "Of this domain; may be repeated.", repeated=True)
ASSISTANT_OPTION = Option("assistant", "Of this assistant; may be repeated.", repeated=True)


class Dim(str):
    """A table cell that stands back, such as a published value."""

    __slots__ = ()


@dataclass(frozen=True)
class Heading:
    """The title of what follows."""

    text: str


@dataclass(frozen=True)
class Note:
    """A remark below a table. `warning` marks one that must not be overlooked."""

    text: str
    warning: bool = False


@dataclass(frozen=True)
class Table:
    """A table of plain values; the columns named in `right` hold numbers."""

    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]
    right: Sequence[str] = ()
    title: str = ""


Part = Heading | Note | Table


@dataclass(frozen=True)
class Answer:
    """What a view shows: `data` for programs, `parts` for people, and `records` as the lines of a CSV file."""

    data: Mapping[str, Any]
    parts: Sequence[Part]
    records: Sequence[Mapping[str, Any]] = ()
    scripted: bool = False
    """Whether any of it comes from the scripted chat: it is then labeled so, with `caveat`."""
    caveat: str = SCRIPTED_CAVEAT


@dataclass(frozen=True)
class View:
    """A command of `memflow show`. `show(reader, **options)` returns an Answer, or raises BadInput."""

    name: str
    help: str
    """The first sentence stands in the list of views."""
    show: Callable[..., Answer] | str
    """The function or its import path `module:function`; a path is imported when the view is called."""
    options: Sequence[Option] = ()
    csv: bool = False
    """Whether `Answer.records` are given: the view then has `--format csv`."""


@dataclass(frozen=True)
class ExportedFile:
    """A file to write, and what is reported of it."""

    text: str
    data: Mapping[str, Any]
    parts: Sequence[Part]


@dataclass(frozen=True)
class Export:
    """A command of `memflow export`: `export(reader, domain)` returns an ExportedFile, or raises BadInput."""

    name: str
    help: str
    export: Callable[[Reader, Domain], ExportedFile] | str
    """The function or its import path."""


Pictures = Mapping[str, "Drawable"]
"""Pictures by name, as `memflow plot --metric` takes it."""


@dataclass(frozen=True)
class Plots:
    """The pictures that a benchmark adds to `memflow plot`; both functions return none where nothing was measured."""

    of_domain: Callable[[Reader, str], Pictures] = lambda reader, domain: {}
    """What is drawn of one domain, by its name: called for the domains of every benchmark."""
    over_domains: Callable[[Reader], Pictures] | None = None
    """What is drawn over several domains: `memflow plot BENCHMARK`."""
