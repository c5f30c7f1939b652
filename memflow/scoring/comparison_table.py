"""The comparisons of assistants as a Markdown table, for a preview: significant differences first."""

from collections.abc import Iterable

from memflow.records import Comparison
from memflow.scoring.failure_attributions import metric_text
from memflow.scoring.published_health import FAULTY, SUSPECT

ROWS = 30
HEAD = "| domain | metric | assistants | difference | 95 % interval | adjusted p | pairs |"


def comparison_markdown(rows: Iterable[Comparison]) -> str:
    """Return the comparisons over all probes as a Markdown table, the better assistant first in each row.

    Significant differences come first, then the smaller p values. At most ROWS rows are shown. Lines below name the
    assistants that are not compared, because they are faulty.
    """
    rows = [row for row in rows if row.slice == "all"]
    whole = [row for row in rows if row.difference is not None]
    faults = sorted(
        {
            f"{row.domain}: {name} is {FAULTY} and compared with nobody"
            for row in rows
            for name, state in ((row.a, row.health_a), (row.b, row.health_b))
            if state == FAULTY
        }
    )
    if not whole:
        return "\n\n".join(("no assistants to compare", *faults))
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
        states = {
            name: f" ({state})"
            for name, state in ((row.a, row.health_a), (row.b, row.health_b))
            if state == SUSPECT
        }
        names = [f"{name}{states.get(name, '')}" for name in (first, second)]
        cells = (
            *(
                row.domain,
                metric_text(row.metric),
                f"{names[0]} {relation} {names[1]}{' (scripted)' * row.scripted}",
            ),
            *(f"{sign * (row.difference or 0):+.3f}", interval),
            *("" if row.p_adjusted is None else f"{row.p_adjusted:.3f}", f"{row.n:,}"),
        )
        lines.append(f"| {' | '.join(cells)} |")
    if len(ordered) > ROWS:
        lines.append(f"\n{ROWS} of {len(ordered):,} comparisons over all probes.")
    return "\n".join([*lines, *(f"\n{fault}" for fault in faults)])
