"""Beside a board: what each memory's failures are due to, by evidence, and on what terms it was measured."""

from collections.abc import Iterator, Sequence
from typing import Any

from rich.console import RenderableType

from memflow.cli.output import cut, note, table
from memflow.records import BY_EVIDENCE, RECALL_AT_10, Score

TITLES = {
    "evidence_recall": "evidence\nrecall",
    "evidence_precision": "evidence\nprecision",
    RECALL_AT_10: "recall\n@10",
    "write_failure": "write\nfailure",
    "read_failure": "read\nfailure",
    "utilization_failure": "utilization\nfailure",
}
"""The metrics of the table, in order, and their columns."""
LONGEST_REASON = 50


def told_by_evidence(figure: Score) -> bool:
    """Whether a figure is one of this table's, and of no benchmark's board."""
    evident = figure.metric.startswith("evidence_") or figure.metric == RECALL_AT_10
    return evident or figure.variant == BY_EVIDENCE


def evidence(figures: Sequence[Score]) -> Iterator[RenderableType]:
    """The table of one domain's assistants; nothing where no figure is there. Failures are parts of all loss."""
    whole = [figure for figure in figures if figure.slice == "all" and told_by_evidence(figure)]
    if not whole:
        return
    by_assistant: dict[str, dict[str, Score]] = {}
    for figure in whole:
        by_assistant.setdefault(figure.assistant, {})[figure.metric] = figure
    rows = [_row(assistant, found) for assistant, found in by_assistant.items()]
    numbers = [*TITLES.values(), "probes", "tokens\nper probe", "k", "budget"]
    yield note("\nBy evidence: what becomes of the messages that an answer rests on")
    yield table("", ["assistant", *numbers, ""], rows, right=numbers)
    said = dict.fromkeys(
        f"{figure.assistant}: {figure.differing_settings}" for figure in whole if figure.differing_settings
    )
    if said:
        yield note("Not on equal terms: " + "; ".join(said))


def _row(assistant: str, found: dict[str, Score]) -> list[Any]:
    one = next(iter(found.values()))
    values = [found[metric].value if metric in found else None for metric in TITLES]
    tokens = None if one.injected_tokens is None else round(one.injected_tokens)
    # That a memory ranks nothing is no failure to be told here: its column is empty.
    told = [figure for figure in found.values() if figure.metric != RECALL_AT_10]
    reason = next((figure.reason for figure in told if figure.value is None), None)
    return [
        assistant,
        *values,
        max(figure.n for figure in found.values()),
        tokens,
        one.k,
        one.budget,
        cut(reason or "", LONGEST_REASON),
    ]
