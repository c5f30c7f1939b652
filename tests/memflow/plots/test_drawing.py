"""Rendering of charts with matplotlib: texts, sizes and reproducible bytes."""

import xml.etree.ElementTree as ET

import pytest

from memflow.chat.scripted import LABEL
from memflow.plots.drawing import render
from memflow.plots.shapes import Bars, Chart, Curve, Panel, Point

LINES = Chart(
    "Evolution, d",
    "Cycle",
    "recall",
    (0, 1, 2, 3),
    (
        Curve("awi", (Point(0, 0.1, 0.0, 0.2), Point(1, 0.3, 0.2, 0.4), Point(3, 0.5))),
        Curve("none", (Point(0, 0.1), Point(1, 0.1)), label=LABEL),
    ),
    "a caption",
    (Curve("chance", (Point(0, 0.25), Point(3, 0.25))),),
)
PARTS = {"write": {0: 0.1, 1: 0.2}, "read": {0: 0.0, 1: 0.1}, "utilization": {0: 0.3, 1: 0.0}}
NOTHING = {name: {0: 0.0, 1: 0.0} for name in PARTS}
BARS = Bars(
    "Failures, d",
    "Period",
    "share",
    (0, 1),
    (Panel("rag", PARTS), Panel("oracle", NOTHING)),
    "a caption",
    what="failure",
)


pytest.importorskip("matplotlib", reason="matplotlib (the extra `plots`) is not installed")


def texts_of(chart) -> str:
    """Return all texts in the rendered SVG."""
    return "\n".join(ET.fromstring(render(chart)).itertext())


def test_line_chart_shows_names_caption_and_scripted_curves():
    text = texts_of(LINES)
    for part in ("Evolution, d", "Cycle", "recall", "awi", "none", "chance", "a caption"):
        assert part in text
    assert "scripted, not a language model: none" in text


def test_bar_chart_shows_part_names_and_marks_empty_panels():
    text = texts_of(BARS)
    for part in ("Failures, d", "write failure", "utilization failure", "rag", "oracle", "no failures"):
        assert part in text
    assert "scripted" not in text


@pytest.mark.parametrize("chart", [LINES, BARS], ids=["lines", "bars"])
@pytest.mark.parametrize("form", ["svg", "png"])
def test_rendering_the_same_chart_twice_gives_the_same_bytes(chart, form):
    assert render(chart, form) == render(chart, form)
