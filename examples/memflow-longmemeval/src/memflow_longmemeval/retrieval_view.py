"""The view `memflow show retrieval`: retrieval metrics by cutoff, under both published averages."""

from collections.abc import Sequence

from memflow.benchmarks.views import Answer, Heading, Note, Part, Reader, Table
from memflow.errors import BadInput
from memflow.records import Score
from memflow_longmemeval.metrics import ALL_ANSWERABLE, GRAINS, NAMES, TURN_TO_SESSION, retrieval_metric

_VARIANTS = ("standard", ALL_ANSWERABLE, TURN_TO_SESSION)


def show_retrieval(
    reader: Reader,
    domain: Sequence[str] | None = None,
    assistant: Sequence[str] | None = None,
    k: int = 5,
) -> Answer:
    """Return a table of the retrieval metrics at a cutoff. Raises BadInput without results."""
    rows = [
        (
            *(score.domain, score.assistant, grain, score.variant, score.n),
            *(_value(reader, score, grain, name, k) for name in NAMES),
        )
        for grain in GRAINS
        for score in reader.scores()
        if score.metric == retrieval_metric(grain, NAMES[0], k)
        and score.slice == "all"
        and score.variant in _VARIANTS
        and (not domain or score.domain in domain)
        and (not assistant or score.assistant in assistant)
    ]
    if not rows:
        raise BadInput(
            f"no retrieval results at {k} yet. Run a memory that ranks, such as longmemeval_bm25, in a domain of "
            f"LongMemEval whose parameter retrieval_k has {k}."
        )
    columns = ("domain", "assistant", "grain", "variant", "n", *NAMES)
    rows.sort(key=lambda row: (row[0], GRAINS.index(row[2]), _VARIANTS.index(row[3]), row[1]))
    records = [dict(zip(columns, row, strict=True)) for row in rows]
    shown = [tuple("" if cell is None else cell for cell in map(_rounded, row)) for row in rows]
    parts: list[Part] = [
        Heading(f"Retrieval at {k}"),
        Table(columns, shown, columns[4:]),
        Note("standard leaves out questions without a marked turn of the user; all_answerable has them."),
    ]
    names = {retrieval_metric(grain, name, k) for grain in GRAINS for name in NAMES}
    keys = {row[:2] for row in rows}
    used = [
        each for each in reader.scores() if each.metric in names and (each.domain, each.assistant) in keys
    ]
    return Answer({"k": k, "rows": records}, parts, records, used)


def _value(reader: Reader, first: Score, grain: str, name: str, k: int) -> float | None:
    """Return the value of another metric of the same assistant, variant and slice."""
    key = (first.domain, first.assistant, first.variant, first.slice, retrieval_metric(grain, name, k))
    return next(
        (
            score.value
            for score in reader.scores()
            if (score.domain, score.assistant, score.variant, score.slice, score.metric) == key
        ),
        None,
    )


def _rounded(cell: object) -> object:
    return f"{cell:.3f}" if isinstance(cell, float) else cell
