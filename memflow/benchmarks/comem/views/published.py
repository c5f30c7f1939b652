"""CoMem's published values for `show checkpoints`, for domains that match one of the paper's data sets."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from memflow.benchmarks.comem.paper import PaperRow, published, reference, stands_for
from memflow.benchmarks.comem.paper_consistency import accuracies
from memflow.benchmarks.views import Dim, Reader

DOUBTED = "?"
COMPARED = (
    "The paper's figures are of other questions: its curated ones are not public, and those here are curated again. "
    "Other models answered, and the paper does not report how many chunks its RAG recalls, nor the settings of its "
    "memories. It prints no accuracy: the ranges shown are those that its other figures allow."
)
NO_MATCH = "The paper has no figures of these domains."


def published_rows(reader: Reader, names: Iterable[str]) -> dict[str, list[PaperRow]]:
    """Return the paper's rows for each domain that matches one of its data sets."""
    like = {one.name: stands_for(one) for one in reader.domains(names) if one.benchmark == "comem"}
    return {
        name: [row for row in published() if row.dataset == dataset]
        for name, dataset in like.items()
        if dataset is not None
    }


def paper_lines(
    title: str, rows: Sequence[PaperRow], checkpoints: Sequence[int], cells: int
) -> Iterator[list[Any]]:
    """Return the table lines with the paper's values, grouped by model. Return no lines if the checkpoints differ."""
    if not rows or len(checkpoints) != len(rows[0].forgetting):
        return
    for model in dict.fromkeys(row.model for row in rows):
        yield [Dim(f"paper, {model}"), *([""] * cells)]
        for row in rows:
            if row.model == model:
                shown = _cells(title, row)
                yield [Dim(reference().memories[row.memory]), *shown, *([""] * (cells - len(shown)))]


def _cells(title: str, row: PaperRow) -> list[str]:
    mark = DOUBTED if row.doubt else " "
    if title == "accuracy":
        ranges = [f"{float(low):.2f}–{float(high):.2f}{mark}" for low, high in accuracies(row)]
        return [*ranges, f"{row.questions:,}"]
    shares = {
        "forgetting": row.forgetting,
        "forward_transfer": row.forward_transfer,
        "stability": (row.all_correct, row.all_wrong),
    }[title]
    return [f"{share:.3f}{mark}" for share in shares]


def paper_records(domain: str, row: PaperRow) -> Iterator[dict[str, Any]]:
    """Return the values of a published row as records with the field names of measured rows."""
    source = reference().datasets[row.dataset]
    for name, value in row.plain().items():
        metric, _, slice_ = name.partition("/")
        number = source.stability if slice_ == "all" else source.shares
        yield {
            "source": f"paper, table {number}",
            "domain": domain,
            "assistant": reference().memories[row.memory],
            "memory": row.memory,
            "model": row.model,
            "metric": metric,
            "checkpoint": slice_.removeprefix("checkpoint "),
            "value": value,
            "n": row.questions,
            "doubt": row.doubt,
        }
