"""The comparisons of assistants as a Markdown table, for a preview: significant differences first."""

from collections.abc import Iterable

from memflow.records import Comparison

ROWS = 30
HEAD = "| domain | metric | assistants | difference | 95 % interval | adjusted p | pairs |"


def comparison_markdown(rows: Iterable[Comparison]) -> str:
    """Return the comparisons over all probes as a Markdown table, the better assistant first in each row.

    Significant differences come first, then the smaller p values. At most ROWS rows are shown.
    """
    whole = [row for row in rows if row.slice == "all" and row.difference is not None]
    if not whole:
        return "no assistants to compare"
    ordered = sorted(
        whole, key=lambda row: (row.domain, row.better is None, row.p_adjusted or 1.0, row.metric, row.a)
    )
    lines = [HEAD, "|---" * HEAD.count(" | ") + "|---|"]
    for row in ordered[:ROWS]:
        first, second, sign = (row.b, row.a, -1) if row.better == "b" else (row.a, row.b, 1)
        relation = "not told apart from" if row.better is None else "better than"
        interval = f"none: {row.reason}"
        if row.low is not None and row.high is not None:
            low, high = sorted((sign * row.low, sign * row.high))
            interval = f"{low:+.3f} to {high:+.3f}"
        cells = (
            *(row.domain, row.metric, f"{first} {relation} {second}{' (scripted)' * row.scripted}"),
            *(f"{sign * (row.difference or 0):+.3f}", interval),
            *("" if row.p_adjusted is None else f"{row.p_adjusted:.3f}", f"{row.n:,}"),
        )
        lines.append(f"| {' | '.join(cells)} |")
    if len(ordered) > ROWS:
        lines.append(f"\n{ROWS} of {len(ordered):,} comparisons over all probes.")
    return "\n".join(lines)
