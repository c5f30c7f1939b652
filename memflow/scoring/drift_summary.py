"""Drift in words: the last change of each assistant, what moved, and from which stage it comes.

The check and the page of score/drift, `memflow run` and `memflow show drift` use these functions. drift.py computes the
rows.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from memflow.records import Drift
from memflow.scoring.failure_attributions import metric_text
from memflow.scoring.markdown import escape, markdown_table
from memflow.scoring.published_health import NOT_MEASURED
from memflow.scoring.stages import STAGES, Stage

STAGE_WORDS: Mapping[Stage, str] = {stage: f"changed {stage}" for stage in STAGES}
SMALLEST_SHARE = 0.05
"""The share of a difference below which a stage is not named."""
MOVED = " *"
"""The mark of a difference beyond noise."""
COLUMNS = (
    *("assistant", "metric", "slice", "before", "after", "change", "from"),
    *("users", "answers", "judging", "95 % interval", "adjusted p"),
)


@dataclass(frozen=True)
class DomainDrift:
    """The rows of one domain after the same change of inputs. `changes` has a line per changed input.

    The times of both publications are in ISO 8601.
    """

    domain: str
    published_at: str
    before_at: str
    changes: Sequence[str]
    rows: Sequence[Drift]

    @property
    def moved(self) -> list[Drift]:
        """The rows that moved beyond noise, largest adjusted evidence first."""
        return [row for row in self.rows if row.moved]

    @property
    def faults(self) -> dict[str, str]:
        """Why no score moved, by assistant: its memory was faulty before or after the change."""
        return {
            row.assistant: row.reason
            for row in self.rows
            if row.reason and row.reason.startswith(NOT_MEASURED)
        }

    @property
    def is_equal(self) -> bool:
        """Whether no probe has another history, answer or value."""
        return not any(row.changed_users or row.changed_answers or row.changed_judging for row in self.rows)

    @property
    def cannot_move(self) -> str | None:
        """The statement that no change can be significant, with the largest change; None if a change can be."""
        changed_rows = [row for row in self.rows if row.difference]
        if not changed_rows or any(row.can_be_significant for row in changed_rows):
            return None
        episodes = max(max(row.episodes_before, row.episodes_after) for row in changed_rows)
        family = max(row.family or 0 for row in changed_rows)
        top_row = max(changed_rows, key=lambda row: (row.slice == "all", abs(row.difference or 0)))
        interval = (
            "no interval"
            if top_row.low is None or top_row.high is None
            else (f"95 % interval of the change {with_sign(top_row.low)} to {with_sign(top_row.high)}")
        )
        return (
            f"No change can be significant with {episodes:,} episode{'s' * (episodes != 1)} and {family:,} "
            f"comparison{'s' * (family != 1)}, however large. The largest: {top_row.metric} of {top_row.assistant} "
            f"from {number(top_row.before)} to {number(top_row.after)} ({interval}), {origin([top_row])}."
        )

    def sentence(self) -> str:
        """Return what changed, how many scores moved, and from which stages, in one or two sentences."""
        change_text = "; ".join(self.changes)
        faults = "".join(f" {assistant} is {reason}." for assistant, reason in self.faults.items())
        if len(self.faults) == len({row.assistant for row in self.rows}):
            return f"{change_text}.{faults}"
        if self.is_equal:
            return (
                f"{change_text}. All messages, answers and verdicts are equal, so no score changed.{faults}"
            )
        moved_rows = self.moved
        scores = sum(row.assistant not in self.faults for row in self.rows)
        if not moved_rows:
            no_move = self.cannot_move or f"None of {scores} scores moved beyond noise."
            return f"{change_text}. {no_move}{faults}"
        top_row = max(moved_rows, key=lambda row: (row.slice == "all", abs(row.difference or 0)))
        verb = "rose" if (top_row.difference or 0) > 0 else "fell"
        return (
            f"{change_text}. {len(moved_rows)} of {scores} scores moved beyond noise: {metric_text(top_row.metric)} of "
            f"{top_row.assistant} {verb} from {number(top_row.before)} to {number(top_row.after)}, "
            f"{origin([top_row])}.{faults}"
        )

    def rows_to_show(self) -> list[Drift]:
        """Return the rows to show: over all probes, and slices that moved. Moved and large differences come first."""
        if self.is_equal:
            return []
        rows = [row for row in self.rows if row.slice == "all" or row.moved]
        return sorted(
            rows,
            key=lambda row: (
                not row.moved,
                row.slice != "all",
                -abs(row.difference or 0),
                row.assistant,
                row.metric,
            ),
        )


def last_drifts(rows: Iterable[Drift]) -> list[DomainDrift]:
    """Return the last change of each assistant, together for assistants of a domain with the same change."""
    rows = list(rows)
    last_publications: dict[tuple[str, str], str] = {}
    for row in rows:
        key = (row.domain, row.assistant)
        last_publications[key] = max(last_publications.get(key, ""), row.published_at)
    return grouped(row for row in rows if row.published_at == last_publications[row.domain, row.assistant])


def grouped(rows: Iterable[Drift]) -> list[DomainDrift]:
    """Return the rows by publication, domain and change: newest first, and first those with scores that moved."""
    groups: dict[tuple[str, ...], list[Drift]] = {}
    for row in rows:
        key = (row.published_at, row.domain, row.before_at, *row.changes)
        groups.setdefault(key, []).append(row)
    drifts = [
        DomainDrift(domain, published, before, changes, rows_of_change)
        for (published, domain, before, *changes), rows_of_change in groups.items()
    ]
    drifts.sort(key=lambda drift: (not drift.moved, drift.domain))
    return sorted(drifts, key=lambda drift: drift.published_at, reverse=True)


def origin(rows: Sequence[Drift]) -> str:
    """Return from which stages the differences of `rows` come, such as `all of it from changed users`."""
    shares = stage_shares(rows)
    if len(shares) == 1:
        return f"all of it from {STAGE_WORDS[next(iter(shares))]}"
    shares_in_words = [f"{share:.0%} from {STAGE_WORDS[stage]}" for stage, share in shares.items()]
    return " and ".join(shares_in_words) or "from no stage"


def stage_shares(rows: Sequence[Drift]) -> dict[Stage, float]:
    """Return each stage's share (0 to 1) of the absolute differences, largest first; SMALLEST_SHARE or more."""
    sizes = {stage: math.fsum(abs(getattr(row, stage) or 0.0) for row in rows) for stage in STAGES}
    total = math.fsum(sizes.values())
    shares = {
        stage: size / total for stage, size in sizes.items() if total and size / total >= SMALLEST_SHARE
    }
    return dict(sorted(shares.items(), key=lambda item: -item[1]))


def cells(row: Drift) -> tuple[str, ...]:
    """Return the values of COLUMNS as text; empty where a value is missing."""
    interval = "" if row.difference is None else f"none: {row.reason}"
    if row.low is not None and row.high is not None:
        interval = f"{with_sign(row.low)} to {with_sign(row.high)}"
    shares = stage_shares([row])
    from_stages = ", ".join(
        stage if len(shares) == 1 else f"{stage} {share:.0%}" for stage, share in shares.items()
    )
    variant = "" if row.variant == "standard" else f" ({row.variant})"
    return (
        row.assistant,
        f"{metric_text(row.metric)}{variant}",
        row.slice,
        number(row.before),
        number(row.after),
        f"{with_sign(row.difference)}{MOVED if row.moved else ''}",
        from_stages,
        *(with_sign(getattr(row, stage)) for stage in STAGES),
        interval,
        "" if row.p_adjusted is None else f"{row.p_adjusted:.2g}",
    )


def markdown(drifts: Sequence[DomainDrift]) -> str:
    """Return the drifts as Markdown: per domain a sentence, then a table of its scores."""
    parts = []
    for drift in drifts:
        rows = [cells(row) for row in drift.rows_to_show()]
        table = f"\n\n{markdown_table(COLUMNS, rows)}" if rows else ""
        parts.append(f"**{drift.domain}**: {drift.sentence()}{table}")
    if any(drift.moved for drift in drifts):
        parts.append(f"{escape(MOVED.strip())} beyond noise. change = users + answers + judging.")
    return "\n\n".join(parts) or "No model, prompt, parameter or code has changed between two publications."


def number(value: float | None) -> str:
    """Return a score with three decimals; empty for None."""
    return "" if value is None else f"{value:,.3f}"


def with_sign(value: float | None) -> str:
    """Return a difference with its sign and three decimals, `0` for none; empty for None."""
    if value is None:
        return ""
    return "0" if abs(value) < 5e-4 else f"{value:+,.3f}"
