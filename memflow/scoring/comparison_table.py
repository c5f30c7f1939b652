"""The comparisons of assistants as a Markdown table, for a preview: significant differences first."""

from collections.abc import Iterable

from memflow.records import Comparison
from memflow.scoring.failure_attributions import metric_text
from memflow.scoring.markdown import markdown_table
from memflow.scoring.published_health import FAULTY, SUSPECT

ROWS = 30
COLUMNS = ("domain", "metric", "assistants", "difference", "95 % interval", "adjusted p", "pairs")


def comparison_markdown(rows: Iterable[Comparison]) -> str:
    """Return the comparisons over all probes as a Markdown table, the better assistant first in each row.

    Significant differences come first, then the smaller p values. At most ROWS rows are shown. Lines below name the
    assistants that are not compared, because they are faulty.
    """
    rows = [row for row in rows if row.slice == "all"]
    ordered = sorted(
        (row for row in rows if row.difference is not None),
        key=lambda row: (row.domain, row.better is None, row.p_adjusted or 1.0, row.metric, row.a),
    )
    parts = (
        [markdown_table(COLUMNS, map(_cells, ordered[:ROWS]))] if ordered else ["no assistants to compare"]
    )
    if len(ordered) > ROWS:
        parts.append(f"{ROWS} of {len(ordered):,} comparisons over all probes.")
    faulty = {
        (row.domain, name)
        for row in rows
        for name, state in ((row.a, row.health_a), (row.b, row.health_b))
        if state == FAULTY
    }
    parts += [f"{domain}: {name} is {FAULTY} and compared with nobody" for domain, name in sorted(faulty)]
    return "\n\n".join(parts)


def _cells(row: Comparison) -> tuple[str, ...]:
    """Return the cells of a comparison, which names the better assistant first."""
    sign = -1 if row.better == "b" else 1  # the better assistant comes first
    interval = f"none: {row.reason}"
    if row.low is not None and row.high is not None:
        low, high = sorted((sign * row.low, sign * row.high))
        interval = f"{low:+.3f} to {high:+.3f}"
    name_a = f"{row.a} ({SUSPECT})" if row.health_a == SUSPECT else row.a
    name_b = f"{row.b} ({SUSPECT})" if row.health_b == SUSPECT else row.b
    first, second = (name_b, name_a) if row.better == "b" else (name_a, name_b)
    relation = "not told apart from" if row.better is None else "better than"
    label = " (scripted)" if row.scripted else ""
    return (
        row.domain,
        metric_text(row.metric),
        f"{first} {relation} {second}{label}",
        f"{sign * (row.difference or 0):+.3f}",
        interval,
        "" if row.p_adjusted is None else f"{row.p_adjusted:.3f}",
        f"{row.n:,}",
    )
