"""What `show checkpoints` shows of CoMem's paper: its figures beside those of domains that are like its data sets."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from rich.text import Text

from memflow.cli.times import known

if TYPE_CHECKING:
    from memflow.benchmarks.comem.paper import PaperRow
    from resources.settings import Settings

DOUBTED = "?"
COMPARED = (
    "The paper's figures are of other questions: its curated ones are not public, and those here are curated anew. "
    "Other models answered, and the paper does not say how many chunks its RAG recalls, nor how its memories are set "
    "up. "
    "It prints no accuracy: what stands here is what its other figures allow."
)
NOT_LIKE = "The paper has no figures of these domains."


def published_for(settings: "Settings", found: Iterable[str]) -> "dict[str, list[PaperRow]]":
    """The paper's rows for each domain that is like one of its data sets."""
    from memflow.benchmarks.comem.paper import published, stands_for

    like = {one.name: stands_for(one) for one in known(settings, found) if one.benchmark == "comem"}
    return {
        name: [row for row in published() if row.dataset == dataset]
        for name, dataset in like.items()
        if dataset is not None
    }


def their_lines(
    title: str, theirs: "Sequence[PaperRow]", told: Sequence[int], cells: int
) -> Iterator[list[Any]]:
    """The paper's lines of a table, model by model; none where ours has other checkpoints."""
    from memflow.benchmarks.comem.paper import memories

    if not theirs or len(told) != len(theirs[0].forgetting):
        return
    for model in dict.fromkeys(row.model for row in theirs):
        yield [Text(f"paper, {model}", style="dim"), *([""] * cells)]
        for row in theirs:
            if row.model == model:
                shown = _their_cells(title, row)
                yield [
                    Text(memories()[row.memory], style="dim"),
                    *shown,
                    *([""] * (cells - len(shown))),
                ]


def _their_cells(title: str, row: "PaperRow") -> list[str]:
    from memflow.benchmarks.comem.paper_consistency import accuracies

    mark = DOUBTED if row.doubt else " "
    if title == "accuracy":
        spans = [f"{float(low):.2f}–{float(high):.2f}{mark}" for low, high in accuracies(row)]
        return [*spans, f"{row.questions:,}"]
    shares = {
        "forgetting": row.forgetting,
        "forward_transfer": row.forward_transfer,
        "stability": (row.all_correct, row.all_wrong),
    }[title]
    return [f"{share:.3f}{mark}" for share in shares]


def plain_of(domain: str, row: "PaperRow") -> Iterator[dict[str, Any]]:
    """A row of the paper's with the names that ours have."""
    from memflow.benchmarks.comem.paper import memories, sources

    source = sources()[row.dataset]
    for name, value in row.plain().items():
        metric, _, slice_ = name.partition("/")
        number = source.stability if slice_ == "all" else source.shares
        yield {
            "source": f"paper, table {number}",
            "domain": domain,
            "assistant": memories()[row.memory],
            "memory": row.memory,
            "model": row.model,
            "metric": metric,
            "checkpoint": slice_.removeprefix("checkpoint "),
            "value": value,
            "n": row.questions,
            "doubt": row.doubt,
        }
