"""What `show mechanisms` and `show kinds` share: the rows they are of, the paper's beside them, and the answer."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import RenderableType
from rich.text import Text

from memflow.cli.output import Sheet, answer_rows, note
from memflow.cli.selection import front_of
from memflow.cli.times import known
from memflow.errors import BadInput

if TYPE_CHECKING:
    from memflow.benchmarks.domains import Domain
    from memflow.benchmarks.membench.paper import Published
    from memflow.benchmarks.membench.tables import TableRow

Beside = tuple[str, str, "Published"]
"""A domain and a slice of it, and what the paper says in its place."""

NONE, DOUBTED, AT_FLOOR = "–", "?", "*"
MEASURED = {
    "accuracy": "accuracy",
    "recall_at_10": "recall@10",
    "evidence_recall": "recall of evidence",
    "read_time": "seconds",
    "write_time": "seconds",
    "read_calls": "requests",
    "write_calls": "requests",
}
"""What the tables show, in words; those of reads and writes are missed together."""

DomainFilter = Annotated[
    list[str] | None, typer.Option("--domain", metavar="NAME", help="Of this domain; may be repeated.")
]
PaperOption = Annotated[
    bool,
    typer.Option(
        "--paper", help="The paper's figures beside them, with what is known to be wrong with them."
    ),
]


def measured_rows(
    ctx: typer.Context, wanted: Sequence[str] | None, slices: Sequence[str]
) -> tuple[list["Domain"], list["TableRow"]]:
    """The domains that were measured, and their rows. Raises BadInput where there are none, or not those wanted."""
    from memflow.benchmarks.membench.tables import rows, tabled
    from resources.lake import Lake

    settings = front_of(ctx).load()
    lake = Lake(settings.lake_root)
    figures = lake.read_all("score.leaderboard", lake.partitions("score.leaderboard"))
    domains = tabled(known(settings, dict.fromkeys(figure.domain for figure in figures)))
    if not domains:
        raise BadInput(
            "no domain of MemBench was measured yet: `memflow run --domain membench_memdaily --memory full` measures "
            "one (`memflow data` says what its data set lacks)"
        )
    names = [one.name for one in domains]
    for name in wanted or ():
        if name not in names:
            raise BadInput(f"{name!r} is no MemBench domain that was measured; there are {', '.join(names)}")
    domains = [one for one in domains if not wanted or one.name in wanted]
    return domains, rows(figures, domains, slices)


def paper_beside(domains: Iterable["Domain"], found: Sequence["TableRow"]) -> list[Beside]:
    """What the paper says in the place of rows."""
    from memflow.benchmarks.membench.paper import published
    from memflow.benchmarks.membench.tables import stands_for

    there = {(row.domain, row.slice) for row in found}
    return [
        (domain.name, slice_, one)
        for domain in domains
        for one in published()
        for slice_ in [f"category {one.kind}" if one.kind else f"level {one.level}"]
        if (domain.name, slice_) in there and stands_for(domain) == (one.scene, one.subset)
    ]


def answer_tables(
    form: Sheet,
    found: Sequence["TableRow"],
    beside: Sequence[Beside],
    shown: Iterable[RenderableType],
    *,
    asked: bool,
) -> None:
    """Print what is shown, and below it what its marks mean. `asked`: whether the paper's figures were asked for."""
    from memflow.benchmarks.membench.paper import doubts
    from memflow.chat.scripted import LABEL

    scripted = any(row.scripted for row in found)
    wrong = {
        name: doubts()[name] for name in dict.fromkeys(one.doubt for _, _, one in beside) if name is not None
    }
    said: list[RenderableType] = []
    if any(row.at_floor for row in found):
        said.append(note(f"{AT_FLOOR} its interval reaches down to chance: this may be guessing."))
    said += [note(f"{DOUBTED} {name}: {what}.") for name, what in wrong.items()]
    if asked and not beside:
        said.append(note("The paper has no figures of these domains: its questions are in English."))
    if scripted:
        label = f"\n{LABEL}: these figures show that the chain works, and say nothing of any model."
        said.append(Text(label, "yellow"))
    told = [_plain(each) for each in beside]
    data = {
        "label": LABEL if scripted else None,
        "rows": [row.plain() for row in found],
        "paper": told,
        "doubts": wrong,
    }
    answer_rows(form, data, [*({"source": "measured", **row.plain()} for row in found), *told], *shown, *said)


def _plain(beside: Beside) -> dict[str, Any]:
    """A published figure with the names that a row's values have."""
    from memflow.benchmarks.membench.paper import mechanisms

    domain, slice_, one = beside
    return {
        "source": f"paper, table {one.table}",
        "domain": domain,
        "slice": slice_,
        "assistant": mechanisms()[one.mechanism],
        "memory": one.mechanism,
        "model": one.model,
        "n": one.questions,
        one.measure: one.value,
        "doubt": one.doubt,
    }


def theirs(one: "Published | None") -> str:
    """A published figure as the paper prints it; nothing, where it has none."""
    if one is None:
        return ""
    value = one.value if isinstance(one.value, str) else f"{one.value:.3f}"
    return value + (DOUBTED if one.doubt else " ")


def lacking(
    rows: Sequence["TableRow"], measures: Iterable[str] = tuple(MEASURED)
) -> Iterator[RenderableType]:
    """A note for each reason why figures are not there, with what and whose they are."""
    several = len({row.domain for row in rows}) > 1
    found: dict[str, dict[str, list[str]]] = {}
    for measure in measures:
        for row in rows:
            reason = row.reason(measure)
            if reason is not None:
                whose = f"{row.assistant} in {row.domain}" if several else row.assistant
                found.setdefault(reason, {}).setdefault(MEASURED[measure], []).append(whose)
    for reason, by_measure in found.items():
        by_whom: dict[str, list[str]] = {}
        for measured, lost in by_measure.items():
            different = dict.fromkeys(lost)
            names = "all" if len(different) == len(rows) else ", ".join(different)
            by_whom.setdefault(names, []).append(measured)
        parts = "; ".join(f"{', '.join(what)} of {names}" for names, what in by_whom.items())
        yield note(f"{NONE} {reason}: {parts}.")
