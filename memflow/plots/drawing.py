"""A chart to SVG or PNG, with matplotlib. It is an extra, and imported when something is drawn.

The colours can be told apart by the colour-blind (Okabe and Ito); markers and lightness tell the same again. What
is drawn is charts.py's business. The same chart gives the same bytes with the same matplotlib.
"""

import base64
import io
from importlib.util import find_spec
from itertools import cycle
from typing import TYPE_CHECKING, Any, Literal

from memflow.errors import BadSettings
from memflow.plots.charts import FAILURES, Bars, Chart, Curve, Panel, gaps

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Form = Literal["svg", "png"]

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">")
PARTS = dict(zip(FAILURES.values(), ("#D55E00", "#56B4E9", "#F0E442"), strict=True))
"""The colour of each kind of failure: they differ in lightness as well."""
GREY = "#555555"
EDGE: Any = {"edgecolor": "#666666", "linewidth": 0.4}
WIDTH, HEIGHT, DOTS = 7.6, 4.2, 110
"""Inches, and dots to an inch of a PNG: 836 dots wide, which the UI shows whole."""
HEAD, LABELLED, FOOT = 0.34, 0.30, 0.26
"""Inches for the title, for the line below it (the label where there is one, a legend of bars), and for the caption."""
ACROSS = 3
"""Panels side by side."""
MISSING = "pictures are drawn with matplotlib, which is not installed: pip install 'memflow[plots]'"

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
    """Whether matplotlib is installed."""
    return find_spec("matplotlib") is not None


def drawn(chart: Chart | Bars, form: Form = "svg") -> bytes:
    """The picture's bytes. Raises BadSettings, with what to install, where there is no matplotlib."""
    if not can_draw():
        raise BadSettings(MISSING)
    import matplotlib as mpl

    with mpl.rc_context({**mpl.rcParamsDefault, **STYLE}):
        figure = _chart(chart) if isinstance(chart, Chart) else _bars(chart)
        written = io.BytesIO()
        undated = {"Date": None} if form == "svg" else {"Software": None}
        figure.savefig(written, format=form, dpi=DOTS, metadata=undated)
    return written.getvalue()


def markdown(chart: Chart | Bars) -> str:
    """The picture as Markdown that holds it whole."""
    image = base64.b64encode(drawn(chart)).decode()
    return f"![{chart.title}](data:image/svg+xml;base64,{image})"


def _figure(chart: Chart | Bars, height: float) -> "Figure":
    """An empty figure with title, caption, and the label where a scripted chat stands behind it."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    head = HEAD + (LABELLED if chart.label is not None or isinstance(chart, Bars) else 0.0)
    height += head + FOOT
    bottom, top = FOOT / height, 1 - head / height
    layout = ConstrainedLayoutEngine(rect=(0, bottom, 1, top - bottom))
    figure = Figure(figsize=(WIDTH, height), layout=layout, facecolor="white")
    FigureCanvasAgg(figure)
    left, upper = 0.1 / WIDTH, 1 - 0.1 / height
    figure.text(left, upper, chart.title, va="top", fontsize=11.5, fontweight="bold")
    figure.text(left, 0.08 / height, chart.caption, va="bottom", fontsize=8, color=GREY)
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
    styles = zip(cycle(COLOURS), cycle(MARKERS), strict=False)
    count = len(chart.curves)
    for place, (curve, (colour, marker)) in enumerate(zip(chart.curves, styles, strict=False)):
        aside = (place - (count - 1) / 2) * min(0.09, 0.5 / max(1, count))
        dashed = place >= len(COLOURS)
        _line(axes, curve, aside, color=colour, marker=marker, linestyle="--" if dashed else "-")
    for curve, dots in zip(chart.beside, cycle((":", (0, (6, 3)), "-.")), strict=False):
        _line(axes, curve, 0.0, color=GREY, linestyle=dots, linewidth=1.2, bare=True)
    axes.set_xticks(chart.at)
    axes.set_xlim(min(chart.at) - 0.5, max(chart.at) + 0.5)
    axes.set_xlabel(chart.x)
    axes.set_ylabel(chart.y)
    axes.grid(axis="x", visible=False)
    axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), frameon=False, fontsize=9, borderaxespad=0)
    return figure


def _line(axes: "Axes", curve: Curve, aside: float, *, bare: bool = False, **style: Any) -> None:
    """A curve, a little aside of its checkpoints, so that intervals do not hide each other."""
    label: str | None = curve.name
    for stretch in gaps(curve.points):
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
        highest = max(highest, _stack(axes, panel))
        axes.set_xticks(bars.at)
        if number + across >= len(bars.panels):  # nothing stands below it
            axes.set_xlabel(bars.x)
            axes.tick_params(axis="x", labelbottom=True)
        if number % across == 0:
            axes.set_ylabel(bars.y)
    grid.flat[0].set_ylim(0, 1.05 * highest or 1)
    handles = [Patch(facecolor=colour, **EDGE) for colour in PARTS.values()]
    names = [f"{name} failure" for name in PARTS]
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


def _stack(axes: "Axes", panel: Panel) -> float:
    """One panel; how high its bars reach."""
    below: dict[int, float] = {}
    for name, values in panel.parts.items():
        there = sorted(values)
        heights, bottoms = [values[at] for at in there], [below.get(at, 0.0) for at in there]
        axes.bar(there, heights, bottom=bottoms, width=0.8, color=PARTS[name], **EDGE)
        below |= {at: below.get(at, 0.0) + values[at] for at in there}
    axes.set_title(panel.name, fontsize=10, loc="left")
    axes.grid(axis="x", visible=False)
    axes.tick_params(axis="both", labelsize=8)
    if not any(below.values()):
        axes.text(0.5, 0.5, "no failures", ha="center", transform=axes.transAxes, color=GREY, fontsize=9)
    return max(below.values(), default=0.0)
