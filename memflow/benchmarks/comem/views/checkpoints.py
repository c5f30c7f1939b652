"""The command `memflow show checkpoints`: scores over checkpoints (CoMem, tables 2 to 15), for any benchmark."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from memflow.benchmarks.views import Answer, Dim, Heading, Note, Part, Reader, Table, measured_names
from memflow.records import Score
from memflow.scoring.histories import ACCURACY, BACK, FLOORS, FORGETTING, LEARNT, START, History, histories

MEMORIES = ("full", "rag", "memp", "mem0")
"""The memories of CoMem's paper, in its order."""
NONE, AT_FLOOR = "–", "*"
BEFORE = "before"
SCORE_WIDTH = 20
"""Characters of a score with its interval."""
TITLES = {
    "accuracy": "accuracy",
    "forgetting": "forgetting: right at an earlier checkpoint, and wrong",
    "forward_transfer": "forward transfer: right for the first time",
    "stability": "over all checkpoints, and backward transfer from each to the last",
}
OVER_ALL = {"all_correct": "all correct", "all_wrong": "all wrong", "flip_rate": "flip rate"}

Cell = Callable[[History, bool], str]


def show_checkpoints(reader: Reader, domain: Sequence[str] | None) -> Answer:
    """Return four tables per domain. Raises BadInput if no domain has answers at checkpoints, or `domain` has none."""
    found = _histories(reader, domain)
    parts = [part for name, mine in found.items() for part in _tables(name, mine, reader.width)]
    return _answer(found, parts)


def order(memory: str) -> tuple[int, str]:
    """Return the sort key of a memory: the paper's memories in its order, with any parameters, then all others."""
    places = (at for at, name in enumerate(MEMORIES) if memory == name or memory.startswith(f"{name}_"))
    return next(places, len(MEMORIES)), memory


def _histories(reader: Reader, wanted: Sequence[str] | None) -> dict[str, list[History]]:
    found = histories(reader.scores(), order)
    command = "Create some with `memflow run --domain comem_demo --memory full`"
    return {name: found[name] for name in measured_names(found, wanted, "answers at checkpoints", command)}


def _tables(name: str, mine: Sequence[History], width: int) -> Iterator[Part]:
    """Yield the tables of a domain (accuracy, forgetting, transfer, stability) and the reasons for missing scores."""
    checkpoints = sorted({at for history in mine for at in history.checkpoints})
    names = max(len(history.assistant) for history in mine)
    wide = names + SCORE_WIDTH * (len(checkpoints) + 1) + 8 <= width
    for title, columns in _columns(checkpoints).items():
        yield Heading(f"{name}, {TITLES[title]}")
        heads = [*columns, *(["n"] if title == "accuracy" else [])]
        rows: list[list[Any]] = []
        for model, history in _by_model(mine):
            if history is None:
                rows.append([Dim(model), *([""] * len(heads))])
                continue
            cells = [cell(history, wide) for cell in columns.values()]
            if title == "accuracy":
                start = history.accuracy(None)
                cells.append(NONE if start is None else f"{start.n:,}")
            rows.append([history.assistant, *cells])
        if title == "accuracy":
            rows += _floors(mine, checkpoints)
        yield Table(["memory", *heads], rows)
    if not wide:
        yield Note(
            "The line is too short for confidence intervals. Use the format csv or json to get the intervals."
        )
    yield from _missing(mine)


def _columns(checkpoints: Sequence[int]) -> dict[str, dict[str, Cell]]:
    """Return the columns of each table, by table name. A column has a title and a function that formats a cell."""

    def accuracy(at: int | None) -> Cell:
        return lambda history, wide: _number(
            history.accuracy(at), wide, AT_FLOOR if history.at_floor(at) else " "
        )

    def score(metric: str, at: int | None = None) -> Cell:
        return lambda history, wide: _number(history.score(metric, at), wide)

    return {
        "accuracy": {BEFORE: accuracy(None), **{str(at): accuracy(at) for at in checkpoints}},
        "forgetting": {str(at): score("forgetting", at) for at in checkpoints},
        "forward_transfer": {str(at): score("forward_transfer", at) for at in checkpoints},
        "stability": {
            **{title: score(metric) for metric, title in OVER_ALL.items()},
            **{f"{at} to {checkpoints[-1]}": score("backward_transfer", at) for at in checkpoints[:-1]},
        },
    }


def _number(score: Score | None, wide: bool, mark: str = " ") -> str:
    if score is None or score.value is None:
        return f"{NONE} "
    interval = ""
    if wide and score.low is not None:
        interval = f" [{score.low:.2f} {score.high:.2f}]"
    elif wide and score.interval_reason:
        interval = f" ({score.interval_reason})"
    return f"{score.value:.3f}{interval}{mark}"


def _by_model(mine: Sequence[History]) -> Iterator[tuple[str, History | None]]:
    """Yield (model, history), grouped by model. If there are several models, each group starts with (model, None)."""
    models = list(dict.fromkeys(history.model for history in mine))
    for model in models:
        if len(models) > 1:
            yield model, None
        yield from ((model, history) for history in mine if history.model == model)


def _floors(mine: Sequence[History], checkpoints: Sequence[int]) -> Iterator[list[str]]:
    """Yield one row per reference score, such as chance. A reference score is the same for all assistants."""
    for metric, name in FLOORS.items():
        cells = []
        for at in (None, *checkpoints):
            values = [value for history in mine if (value := history.floor(metric, at)) is not None]
            cells.append(f"{values[0]:.3f} " if values else f"{NONE} ")
        if any(NONE not in cell for cell in cells):
            yield [name, *cells, ""]


def _missing(mine: Sequence[History]) -> Iterator[Note]:
    """Yield a note for each reason for missing scores, with the assistants concerned."""
    shown = (FORGETTING, LEARNT, BACK, *OVER_ALL)
    found: dict[str, list[str]] = {}
    for history in mine:
        for score in history.scores.values():
            is_shown = score.metric in shown or (score.metric, score.variant) in (ACCURACY, START)
            if score.reason is not None and is_shown:
                found.setdefault(score.reason, []).append(history.assistant)
    for reason, assistants in found.items():
        yield Note(f"{NONE} {reason}: {', '.join(dict.fromkeys(assistants))}.")


def _answer(found: Mapping[str, Sequence[History]], parts: Sequence[Part]) -> Answer:
    """Return the tables and an explanation of their mark."""
    every = [history for mine in found.values() for history in mine]
    notes = []
    if any(history.at_floor(at) for history in every for at in (None, *history.checkpoints)):
        notes.append(
            Note(
                f"{AT_FLOOR} the interval includes a floor or the accuracy before the first message: nothing may be "
                "remembered."
            )
        )
    rows = [row for history in every for row in history.plain()]
    scores = [score for history in every for score in history.scores.values()]
    return Answer({"rows": rows}, [*parts, *notes], rows, scores=scores)
