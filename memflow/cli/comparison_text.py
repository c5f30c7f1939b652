"""The text of `memflow compare`: a sentence for each pair, tables by metric and slice, and notes."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rich.console import RenderableType

from memflow.metrics.paired import cannot_be_significant
from memflow.metrics.power import MOST_EPISODES
from memflow.operations.operands import differing_settings
from memflow.records import Comparison
from memflow.rendering.evidence import metric_name
from memflow.rendering.tables import Column, Text, table_of
from memflow.rendering.texts import heading, interval_text, note, p_text
from memflow.scoring.failure_attributions import metric_text
from memflow.scoring.published_health import ALARMS, FAULTY

if TYPE_CHECKING:
    from memflow.operations.comparison import DomainComparison

ALL = "all"


def comparison_parts(
    comparison: "DomainComparison", metrics: Sequence[str] | None
) -> Iterator[RenderableType]:
    """Yield the comparison in one domain, pair after pair. `metrics` are the metrics to show by slice."""
    yield heading(comparison.title)
    first, *others = (operand.label for operand, _, _ in comparison.operands)
    sources = [source for _, source, _ in comparison.operands]
    for label in others:
        rows = [row for row in comparison.rows if row.b == label]
        if rows:
            yield from _pair(rows, metrics or [rows[0].metric])
        elif any(source.health is not None and source.health.is_faulty for source in sources):
            yield note(f"{first} and {label} cannot be compared.")
        else:
            yield note(f"{first} and {label} have no metric in common.")
    for operand, source, _ in comparison.operands:
        if source.health is not None and source.health.state in ALARMS:
            yield Text(
                f"{operand.label} is {source.health.state}: {source.health.statement}. `memflow show health "
                f"{source.domain} {source.assistant}` shows examples.",
                style="red" if source.health.is_faulty else "yellow",
            )
    for metric, reason in comparison.withheld.items():
        yield Text(f"{metric} is not compared: {reason}.", style="yellow")
    for text in differing_settings(comparison.operands):
        yield Text(f"Setting that differs: {text}", style="yellow")
    if comparison.changed:
        yield Text(
            f"{comparison.changed:,} probes have another question, options or gold and are not compared.",
            style="yellow",
        )


def _pair(rows: Sequence[Comparison], metrics: Sequence[str]) -> Iterator[RenderableType]:
    """Yield the comparison of two operands: over all probes, and by slice under `metrics`."""
    if FAULTY in (rows[0].health_a, rows[0].health_b):
        yield Text(f"{rows[0].a} and {rows[0].b} cannot be compared: {rows[0].reason}.", style="bold")
        return
    whole = [row for row in rows if row.slice == ALL]
    for row in whole or rows:
        if row.metric in metrics:
            yield Text(sentence(row), style="bold")
    if whole:
        yield table_of(whole, METRIC | COLUMNS, f"A = {rows[0].a}, B = {rows[0].b}, over all probes")
    for metric in metrics:
        of_metric = [row for row in rows if row.metric == metric and row.slice != ALL]
        if of_metric:
            yield table_of(of_metric, {"slice": "slice", **COLUMNS}, f"\n{metric} by slice")
    yield note(family_note(rows))
    yield from (note(text) for row in whole if row.metric in metrics and (text := power_note(row)))


def sentence(row: Comparison) -> str:
    """Return a comparison in words, such as `full is better than none by 0.40 [0.22, 0.58] in accuracy (...)`."""
    if row.difference is None:
        return f"{row.a} and {row.b} cannot be compared in {_where(row)}: {row.reason}."
    if not row.difference and not row.low and not row.high:
        return f"{row.a} and {row.b} have the same {_where(row)}, {row.value_a:.3f} ({row.n:,} pairs)."
    basis = f"{row.n:,} pairs in {row.n_episodes:,} episode{'s' * (row.n_episodes != 1)}"
    if row.p_adjusted is not None:
        basis += f", adjusted p = {p_text(row.p_adjusted)}".replace("= <", "< ")
    if row.better is None:
        return (
            f"{row.a} and {row.b} cannot be told apart in {_where(row)}: A - B is {row.difference:+.3f}"
            f"{_interval(row, 1)} ({basis})."
        )
    winner, loser, sign = (row.a, row.b, 1) if row.better == "a" else (row.b, row.a, -1)
    return (
        f"{winner} is better than {loser} by {abs(row.difference):.3f}"
        f"{_interval(row, sign if row.difference * sign > 0 else -sign)} in {_where(row)} ({basis})."
    )


def power_note(row: Comparison) -> str | None:
    """Return a note on how many episodes would settle an open comparison; None for a settled one."""
    if row.better is not None or row.difference is None:
        return None
    cannot = cannot_be_significant(row.n_episodes, row.family or 1)
    parts = [f"{row.metric} {cannot}."] if cannot else []
    if row.episodes_needed is not None:
        enough = row.episodes_needed <= row.n_episodes
        parts.append(
            f"{row.metric}: 80 % of studies with {needed_text(row)} would find a difference like this one"
            f"{', if it were the only comparison' if enough else ''}."
        )
    return " ".join(parts) or None


def needed_text(row: Comparison) -> str:
    """Return the number of episodes needed with its 5 to 95 % range, such as `78 episodes (18 to 13,204)`."""
    value, low, high = (
        f"more than {MOST_EPISODES:,}" if number is None or number >= MOST_EPISODES else f"{number:,}"
        for number in (row.episodes_needed, row.episodes_needed_low, row.episodes_needed_high)
    )
    return f"{value} episodes ({low} to {high})"


def family_note(rows: Sequence[Comparison]) -> str:
    """Return the note on the comparisons that p values are adjusted over: the families of `rows`."""
    whole = max((row.family or 0 for row in rows if row.slice == ALL), default=0)
    sliced = max((row.family or 0 for row in rows if row.slice != ALL), default=0)
    parts = [f"over {_comparisons(whole)} over all probes (pairs)"] if whole else []
    parts += [f"over {_comparisons(sliced)} by slice (slices x pairs)"] if sliced else []
    if not parts:
        return "No p value: there is no test."
    return f"Adjusted p: Holm, for each domain and metric {', and '.join(parts)}."


def _comparisons(number: int) -> str:
    return f"{number:,} comparison{'s' * (number != 1)}"


def _where(row: Comparison) -> str:
    return metric_name(metric_text(row.metric), row.variant) + (f", {row.slice}" if row.slice != ALL else "")


def _interval(row: Comparison, sign: int) -> str:
    if row.low is None or row.high is None:
        return f" (no interval: {row.reason})"
    low, high = sorted((sign * row.low, sign * row.high))
    return f" [{low:.3f}, {high:.3f}]"


def _difference(row: Comparison) -> str | None:
    return None if row.difference is None else f"{row.difference:+.3f}"


def _noise(row: Comparison) -> str:
    explains = " (may explain it)" if row.within_noise else ""
    return "" if row.noise is None else f"±{row.noise:.3f}{explains}"


COLUMNS: dict[str, Column] = {
    "A": "value_a",
    "B": "value_b",
    "A - B": _difference,
    "95 % interval": lambda row: interval_text(
        row.low, row.high, "+.3f", None if row.difference is None else row.reason
    ),
    "adjusted p": lambda row: "" if row.p_adjusted is None else p_text(row.p_adjusted),
    "pairs": "n",
    "not paired": lambda row: (
        f"{row.unpaired_a} / {row.unpaired_b}" if row.unpaired_a or row.unpaired_b else ""
    ),
    "noise": _noise,
    "better": lambda row: (row.better or "").upper(),
}
METRIC: dict[str, Column] = {"metric": lambda row: metric_name(metric_text(row.metric), row.variant)}
