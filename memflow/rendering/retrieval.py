"""What memories retrieve without a chat model: recall, precision, nDCG and MRR at each cutoff, as tables."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from rich.console import RenderableType

from memflow.rendering.tables import Text, table_of
from memflow.rendering.texts import heading, interval_text, note

if TYPE_CHECKING:
    from memflow.scoring.rankings import AssistantRetrieval, RetrievalScore

EXPLANATION = (
    "Of the evidence messages, the share that the first k entries came from, with 95 % intervals over episodes. as "
    "configured: what the memory recalls with its own parameters, so many entries and tokens; stored: what is in any "
    "entry. No answer was requested, so there is no accuracy, and no utilization failure."
)
MORE = "`memflow show retrieval DOMAIN --by type` shows slices, `--metric ndcg` other metrics."


def retrieval_tables(
    results: "Sequence[AssistantRetrieval]", metric: str = "recall", by: str = "all"
) -> Iterator[RenderableType]:
    """Yield a table of each domain, labeled by what is real in it, with the groups that intervals separate."""
    from memflow.scoring.rankings import separated

    for domain in dict.fromkeys(row.domain for row in results):
        of_domain = [row for row in results if row.domain == domain]
        probes = max(row.probes for row in of_domain)
        yield heading(f"{domain} · {_label(of_domain)} · {probes:,} questions · {metric} at k")
        rows = [
            line for row in of_domain for name in _slices(row, by) if (line := _line(row, metric, name, by))
        ]
        yield table_of(rows, [*rows[0]]) if rows else Text(f"No slice by {by}.")
        if by == "all":
            for k in (None, 5):
                groups = separated(of_domain, metric if k else "own_recall", k)
                if len(groups) > 1:
                    where = f"at {k}" if k else "as configured"
                    yield Text(
                        f"{len(groups)} groups differ beyond their intervals {where}: {' > '.join(groups)}"
                    )
        reasons = dict.fromkeys(
            f"{row.assistant}: {score.reason}"
            for row in of_domain
            for score in row.scores
            if score.metric == metric and score.slice == "all" and score.reason
        )
        if reasons:
            yield note("No value: " + "; ".join(reasons))
        yield from (
            note(f"Incomplete: {text}") for text in dict.fromkeys(row.incomplete for row in of_domain) if text
        )
    yield note(f"\n{EXPLANATION} {MORE}")


def _label(results: "Sequence[AssistantRetrieval]") -> str:
    """Return what is real in the retrieval of some assistants, and what is not, with its assistants."""
    from memflow.resources.publishing.rankings import REAL

    names: dict[str, list[str]] = {}
    for row in results:
        names.setdefault(row.label or REAL, []).append(row.assistant)
    whole = len(names) == 1
    return "; ".join(
        label if whole or label == REAL else f"{label}: {', '.join(of_label)}"
        for label, of_label in sorted(names.items(), key=lambda item: item[0] != REAL)
    )


def _slices(row: "AssistantRetrieval", by: str) -> list[str]:
    prefix = {"all": "all", "type": "type ", "language": "language ", "position": "evidence in the "}[by]
    return [name for name in dict.fromkeys(score.slice for score in row.scores) if name.startswith(prefix)]


def _line(row: "AssistantRetrieval", metric: str, slice_name: str, by: str) -> dict[str, Any]:
    from memflow.scoring.rankings import CUTOFFS

    own = row.score("own_recall", None, slice_name)
    stored = row.score("stored", None, slice_name)
    at = {f"@{k}": _cell(row.score(metric, k, slice_name), interval=k in (1, 5)) for k in CUTOFFS}
    return {
        "memory": row.assistant,
        **({"slice": slice_name} if by != "all" else {}),
        **at,
        **({"as configured": _cell(own)} if metric == "recall" else {}),
        "entries": None if row.returned is None else f"{row.returned:.0f}",
        "tokens": None if row.tokens is None else f"{row.tokens:,.0f}",
        "stored": _cell(stored, interval=False),
        "embedder": row.embedder,
        **({"n": own.n if own else None} if by != "all" else {}),
    }


def _cell(score: "RetrievalScore | None", interval: bool = True) -> str:
    if score is None or score.value is None:
        return "–"
    ends = f" [{interval_text(score.low, score.high, '.2f').replace(' – ', ' ')}]" if interval else ""
    return f"{score.value:.3f}" + (ends if score.low is not None else "")
