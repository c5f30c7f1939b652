"""Drawing of charts as SVG or PNG. Matplotlib is an optional dependency and is imported on first use.

The colors are Okabe and Ito's, for color-blind readers; markers and lightness also differ. With one version of
matplotlib, equal charts give equal bytes. The content of a chart is defined in shapes.py.
"""

import io
import textwrap
from collections.abc import Sequence
from importlib.util import find_spec
from itertools import cycle, pairwise
from typing import TYPE_CHECKING, Any

from memflow.errors import BadSettings
from memflow.plots.shapes import Bars, Chart, Curve, Drawable, Panel, gaps

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BLACK = "#000000"
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", BLACK)
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">")
PARTS = ("#D55E00", "#56B4E9", "#F0E442")
"""The colors of the parts of bars, from below: they differ in lightness as well."""
GREY = "#555555"
EDGE: Any = {"edgecolor": "#666666", "linewidth": 0.4}
WIDTH, HEIGHT, DOTS = 7.6, 4.2, 110
"""Inches, and dots to an inch of a PNG: 836 dots wide, which the UI shows whole."""
HEAD, LABELLED, FOOT = 0.34, 0.30, 0.26
"""Inches for the title, for the line below it (the label where there is one, a legend of bars), and for the caption."""
LETTERS, LINE = 118, 0.15
"""Letters in a line of the caption, and the inches that each further line takes."""
ACROSS = 3
"""Panels side by side."""
MISSING = (
    "matplotlib, which draws the charts, is not installed. Install it: pip install 'memflow-bench[plots]'"
)

STYLE: Any = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans", "Arial", "Helvetica"],
    "font.size": 9.5,
    "axes.titlesize": 11,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#888888",
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e4e4e4",
    "svg.hashsalt": "memflow",
    "svg.fonttype": "none",
}


def can_draw() -> bool:
    """Return whether matplotlib is installed."""
    return find_spec("matplotlib") is not None


def render(chart: Drawable, form: str = "svg") -> bytes:
    """Return a chart as an image file, `svg` or `png`. Raises BadSettings if matplotlib is not installed."""
    if not can_draw():
        raise BadSettings(MISSING)
    import matplotlib as mpl

    with mpl.rc_context({**mpl.rcParamsDefault, **STYLE}):
        figure = _chart(chart) if isinstance(chart, Chart) else _bars(chart)
        written = io.BytesIO()
        undated = {"Date": None} if form == "svg" else {"Software": None}
        figure.savefig(written, format=form, dpi=DOTS, metadata=undated)
    return written.getvalue()


def _figure(chart: Drawable, height: float) -> "Figure":
    """Return a figure without axes: title, caption and the label of the values, if any."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    head = HEAD + (LABELLED if chart.label is not None or isinstance(chart, Bars) else 0.0)
    lines = textwrap.wrap(chart.caption, LETTERS) or [""]
    foot = FOOT + LINE * (len(lines) - 1)
    height += head + foot
    bottom, top = foot / height, 1 - head / height
    layout = ConstrainedLayoutEngine(rect=(0, bottom, 1, top - bottom))
    figure = Figure(figsize=(WIDTH, height), layout=layout, facecolor="white")
    FigureCanvasAgg(figure)
    left, upper = 0.1 / WIDTH, 1 - 0.1 / height
    figure.text(left, upper, chart.title, va="top", fontsize=11.5, fontweight="bold")
    figure.text(left, 0.08 / height, "\n".join(lines), va="bottom", fontsize=8, color=GREY)
    if chart.label is not None:
        box = {"boxstyle": "round,pad=0.3", "facecolor": "#A32020", "edgecolor": "none"}
        at = 1 - (HEAD + 0.06) / height
        figure.text(
            left + 0.006, at, chart.label, va="top", fontsize=9, color="white", fontweight="bold", bbox=box
        )
    return figure


def _chart(chart: Chart) -> "Figure":
    figure = _figure(chart, HEIGHT)
    axes = figure.subplots()
    styles = zip(cycle(COLORS), cycle(MARKERS), strict=False)
    count = len(chart.curves)
    step = min((after - before for before, after in pairwise(sorted(chart.at))), default=1)
    for place, (curve, (color, marker)) in enumerate(zip(chart.curves, styles, strict=False)):
        aside = (place - (count - 1) / 2) * min(0.09, 0.5 / max(1, count)) * step
        dashed = place >= len(COLORS)
        style: Any = {"color": color, "marker": marker, "linestyle": "--" if dashed else "-"}
        _line(axes, curve, chart.at, aside, **style)
    for curve, dots in zip(chart.beside, cycle((":", (0, (6, 3)), "-.")), strict=False):
        _line(axes, curve, chart.at, 0.0, color=GREY, linestyle=dots, linewidth=1.2, bare=True)
    axes.set_xticks(chart.at)
    axes.set_xlim(min(chart.at) - 0.5 * step, max(chart.at) + 0.5 * step)
    axes.set_xlabel(chart.x)
    axes.set_ylabel(chart.y)
    axes.grid(axis="x", visible=False)
    axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), frameon=False, fontsize=9, borderaxespad=0)
    return figure


def _line(
    axes: "Axes", curve: Curve, places: Sequence[float], aside: float, *, bare: bool = False, **style: Any
) -> None:
    """Draw a curve, shifted horizontally by `aside` so that the error bars of several curves do not overlap."""
    label: str | None = curve.name
    for stretch in gaps(curve.points, places):
        at = [point.at + aside for point in stretch]
        axes.plot(at, [point.value for point in stretch], markersize=4.5, label=label, **style)
        label = None
    for point in () if bare else curve.points:
        if point.low is not None and point.high is not None:
            place = point.at + aside
            axes.plot([place, place], [point.low, point.high], color=style["color"], linewidth=1, alpha=0.55)


def _bars(bars: Bars) -> "Figure":
    from matplotlib.patches import Patch

    across = min(ACROSS, len(bars.panels))
    down = -(-len(bars.panels) // across)
    figure = _figure(bars, 0.5 + 1.75 * down)
    grid = figure.subplots(down, across, sharex=True, sharey=True, squeeze=False)
    for axes in grid.flat[len(bars.panels) :]:
        axes.set_visible(False)
    highest = 0.0
    for number, (axes, panel) in enumerate(zip(grid.flat, bars.panels, strict=False)):
        highest = max(highest, _stack(axes, panel, bars.what))
        axes.set_xticks(bars.at)
        if number + across >= len(bars.panels):  # nothing stands below it
            axes.set_xlabel(bars.x)
            axes.tick_params(axis="x", labelbottom=True)
        if number % across == 0:
            axes.set_ylabel(bars.y)
    grid.flat[0].set_ylim(0, 1.05 * highest or 1)
    names = [f"{name} {bars.what}".strip() for name in bars.panels[0].parts]
    handles = [Patch(facecolor=color, **EDGE) for _, color in zip(names, PARTS, strict=False)]
    figure.legend(
        handles,
        names,
        loc="upper right",
        bbox_to_anchor=(1, 1 - (HEAD - 0.02) / figure.get_figheight()),
        ncols=len(names),
        frameon=False,
        fontsize=8.5,
    )
    return figure


def _stack(axes: "Axes", panel: Panel, what: str) -> float:
    """Draw the stacked bars of one panel and return the height of the highest bar."""
    below: dict[int, float] = {}
    for values, color in zip(panel.parts.values(), PARTS, strict=False):
        there = sorted(values)
        heights, bottoms = [values[at] for at in there], [below.get(at, 0.0) for at in there]
        axes.bar(there, heights, bottom=bottoms, width=0.8, color=color, **EDGE)
        below |= {at: below.get(at, 0.0) + values[at] for at in there}
    axes.set_title(panel.name, fontsize=10, loc="left")
    axes.grid(axis="x", visible=False)
    axes.tick_params(axis="both", labelsize=8)
    if not any(below.values()):
        text = f"no {what}s" if what else "nothing measured"
        axes.text(0.5, 0.5, text, ha="center", transform=axes.transAxes, color=GREY, fontsize=9)
    return max(below.values(), default=0.0)
