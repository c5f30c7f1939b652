"""`show checkpoints`: how answers change over checkpoints, as in CoMem's tables 2 to 15. What a history is,
memflow/scoring/histories.py; what CoMem's paper says is comem.py beside this.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import RenderableType
from rich.text import Text

from memflow.cli.comem import COMPARED, DOUBTED, NOT_LIKE, plain_of, published_for, their_lines
from memflow.cli.output import Sheet, SheetOption, answer_rows, heading, note, room, table
from memflow.cli.selection import front_of
from memflow.errors import BadInput

if TYPE_CHECKING:
    from memflow.benchmarks.comem.paper import PaperRow
    from memflow.records import Score
    from memflow.scoring.histories import History

NONE, AT_FLOOR = "–", "*"
START = "before"
BROAD = 20
"""Letters that a figure takes with its interval."""
TITLES = {
    "accuracy": "accuracy",
    "forgetting": "forgetting: right at some checkpoint before, and wrong",
    "forward_transfer": "forward transfer: right for the first time",
    "stability": "over all checkpoints, and backward transfer from each to the last",
}
OVER_ALL = {"all_correct": "all correct", "all_wrong": "all wrong", "flip_rate": "flip rate"}


def checkpoints(
    ctx: typer.Context,
    domain: Annotated[
        list[str] | None, typer.Option("--domain", metavar="NAME", help="Of this domain; may be repeated.")
    ] = None,
    paper: Annotated[
        bool,
        typer.Option(
            "--paper", help="CoMem's published figures below them, with what is wrong with comparing them."
        ),
    ] = False,
    form: SheetOption = Sheet.text,
) -> None:
    """Show how answers change over checkpoints: accuracy from before anything was told, forgetting and forward transfer
    at each, questions always right and always wrong, flip rate and backward transfer, with their 95 % intervals.

    n are questions with an answer at every checkpoint; all figures are of these. Before is what was answered before
    anything was told; where a benchmark asks nothing then, what the memory none answers at first. Below accuracy stand
    its floors: the best constant answer and chance. csv and json have all intervals and reasons.
    """
    found = _wanted(ctx, domain)
    published = published_for(front_of(ctx).load(), found) if paper else {}
    shown: list[RenderableType] = []
    for name, mine in found.items():
        shown += _domain(name, mine, published.get(name, []))
    _answer(form, found, published, shown, asked=paper)


def _wanted(ctx: typer.Context, wanted: Sequence[str] | None) -> "dict[str, list[History]]":
    """The histories of the domains wanted. Raises BadInput where there are none, or not of those."""
    from memflow.benchmarks.comem.paper import order
    from memflow.scoring.histories import histories
    from resources.lake import Lake

    lake = Lake(front_of(ctx).load().lake_root)
    found = histories(lake.read_all("score.leaderboard", lake.partitions("score.leaderboard")), order)
    if not found:
        raise BadInput(
            "no answers over checkpoints were measured yet: `memflow run --domain comem_demo --memory full` measures "
            "some"
        )
    for name in wanted or ():
        if name not in found:
            raise BadInput(
                f"no answers over checkpoints were measured in {name!r}; there are {', '.join(found)}"
            )
    return {name: mine for name, mine in found.items() if not wanted or name in wanted}


def _domain(name: str, mine: "Sequence[History]", theirs: "Sequence[PaperRow]") -> Iterator[RenderableType]:
    """The four tables of a domain, and why figures are not there."""
    told = sorted({at for history in mine for at in history.told})
    names = max(len(history.assistant) for history in mine)
    wide = names + BROAD * (len(told) + 1) + 8 <= room()
    for title, columns in _columns(told).items():
        yield heading(f"{name}, {TITLES[title]}")
        heads = [*columns, *(["n"] if title == "accuracy" else [])]
        rows: list[list[Any]] = []
        for model, history in _by_model(mine):
            if history is None:
                rows.append([Text(model, style="dim"), *([""] * len(heads))])
                continue
            counted = _figure_n(history) if title == "accuracy" else []
            cells = [cell(history, wide) for cell in columns.values()]
            rows.append([history.assistant, *cells, *counted])
        if title == "accuracy":
            rows += _floors(mine, told)
        rows += their_lines(title, theirs, told, len(heads))
        yield table("", ["memory", *heads], rows, right=heads)
    if not wide:
        yield note("There is no room for intervals: csv and json have them.")
    yield from _lacking(mine)


Cell = Callable[["History", bool], str]


def _columns(told: Sequence[int]) -> dict[str, dict[str, Cell]]:
    """The tables: what each column is called, and its figure."""

    def accuracy(at: int | None) -> Cell:
        return lambda history, wide: _number(
            history.accuracy(at), wide, AT_FLOOR if history.at_floor(at) else " "
        )

    def figure(metric: str, at: int | None = None) -> Cell:
        return lambda history, wide: _number(history.figure(metric, at), wide)

    return {
        "accuracy": {START: accuracy(None), **{str(at): accuracy(at) for at in told}},
        "forgetting": {str(at): figure("forgetting", at) for at in told},
        "forward_transfer": {str(at): figure("forward_transfer", at) for at in told},
        "stability": {
            **{title: figure(metric) for metric, title in OVER_ALL.items()},
            **{f"{at} to {told[-1]}": figure("backward_transfer", at) for at in told[:-1]},
        },
    }


def _number(figure: "Score | None", wide: bool, mark: str = " ") -> str:
    if figure is None or figure.value is None:
        return f"{NONE} "
    interval = f" [{figure.low:.2f} {figure.high:.2f}]" if wide and figure.low is not None else ""
    return f"{figure.value:.3f}{interval}{mark}"


def _figure_n(history: "History") -> list[str]:
    start = history.accuracy(None)
    return [f"{start.n:,}" if start is not None else NONE]


def _by_model(mine: "Sequence[History]") -> "Iterator[tuple[str, History | None]]":
    """The histories, with the model's name before those of each where there are several."""
    models = list(dict.fromkeys(history.model for history in mine))
    for model in models:
        if len(models) > 1:
            yield model, None
        yield from ((model, history) for history in mine if history.model == model)


def _floors(mine: "Sequence[History]", told: Sequence[int]) -> Iterator[list[str]]:
    """A line for each floor, which is the same for all assistants."""
    from memflow.scoring.histories import FLOORS

    for metric, name in FLOORS.items():
        cells = []
        for at in (None, *told):
            held = [value for history in mine if (value := history.floor(metric, at)) is not None]
            cells.append(f"{held[0]:.3f} " if held else f"{NONE} ")
        if any(NONE not in each for each in cells):
            yield [name, *cells, ""]


def _lacking(mine: "Sequence[History]") -> Iterator[RenderableType]:
    """A note for each reason why figures are not there, with whose they are."""
    found: dict[str, list[str]] = {}
    for history in mine:
        for figure in history.figures.values():
            if figure.reason is not None and _is_shown(figure):
                found.setdefault(figure.reason, []).append(history.assistant)
    for reason, whose in found.items():
        yield note(f"{NONE} {reason}: {', '.join(dict.fromkeys(whose))}.")


def _is_shown(figure: "Score") -> bool:
    from memflow.scoring.histories import ACCURACY, BACK, FORGETTING, LEARNT, START

    if figure.metric in (FORGETTING, LEARNT, BACK, *OVER_ALL):
        return True
    return (figure.metric, figure.variant) in (ACCURACY, START)


def _answer(
    form: Sheet,
    found: "Mapping[str, Sequence[History]]",
    published: "Mapping[str, Sequence[PaperRow]]",
    shown: Sequence[RenderableType],
    *,
    asked: bool,
) -> None:
    """Print what is shown, and below it what its marks mean. `asked`: whether the paper's figures were asked for."""
    from memflow.benchmarks.comem.paper import doubts
    from memflow.chat.scripted import LABEL

    every = [history for mine in found.values() for history in mine]
    scripted = any(history.scripted for history in every)
    theirs = [(name, row) for name, rows in published.items() for row in rows]
    wrong = {
        name: doubts()[name] for name in dict.fromkeys(row.doubt for _, row in theirs) if name is not None
    }
    said: list[RenderableType] = []
    if any(history.at_floor(at) for history in every for at in (None, *history.told)):
        said.append(
            note(
                f"{AT_FLOOR} its interval reaches down to a floor, or to what was guessed before: nothing may be known."
            )
        )
    said += [note(f"{DOUBTED} {name}: {what}.") for name, what in wrong.items()]
    if asked:
        said.append(note(COMPARED if theirs else NOT_LIKE))
    if scripted:
        label = f"\n{LABEL}: these figures show that the chain works, and say nothing of any model."
        said.append(Text(label, "yellow"))
    rows = [row for history in every for row in history.plain()]
    told = [each for name, row in theirs for each in plain_of(name, row)]
    data = {
        "label": LABEL if scripted else None,
        "rows": rows,
        "paper": told,
        "doubts": wrong,
        "compared": COMPARED if theirs else None,
    }
    answer_rows(form, data, [*({"source": "measured", **row} for row in rows), *told], *shown, *said)
