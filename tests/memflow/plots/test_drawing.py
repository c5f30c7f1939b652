"""Rendering of charts with matplotlib: texts, sizes and reproducible bytes."""

import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest

from memflow.chat.scripted import LABEL
from memflow.plots.drawing import render
from memflow.plots.shapes import Bars, Chart, Columns, Curve, Panel, Point

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
TIMES = Bars(
    "Times, d",
    "",
    "seconds",
    (0, 1),
    (
        Panel("LiSo", {"memory": {0: 1.0}, "predict": {0: 2.0, 1: 3.0}}),
        Panel("SiSo", {"memory": {}, "predict": {}}),
    ),
    "a caption",
    ("rag", "none"),
    "time",
)
COLUMNS = Columns(
    "Scores, d",
    "score",
    ("open", "legal"),
    tuple(
        Curve(f"memory {n}", (Point(0, n / 10, 0.0, 1.0), Point(1, -0.1)), LABEL if n == 8 else None)
        for n in range(9)
    ),
    "a caption",
)


def texts_of(chart) -> str:
    """Return all texts in the rendered SVG."""
    return "\n".join(ET.fromstring(render(chart)).itertext())


class TestRendering:
    @pytest.fixture(autouse=True)
    def matplotlib(self):
        pytest.importorskip("matplotlib", reason="matplotlib (the extra `plots`) is not installed")

    def test_line_chart_shows_names_caption_and_scripted_curves(self):
        text = texts_of(LINES)
        for part in ("Evolution, d", "Cycle", "recall", "awi", "none", "chance", "a caption"):
            assert part in text
        assert "scripted, not a language model: none" in text

    def test_bar_chart_shows_part_names_and_marks_empty_panels(self):
        text = texts_of(BARS)
        for part in ("Failures, d", "write failure", "utilization failure", "rag", "oracle", "no failures"):
            assert part in text
        assert "scripted" not in text

    def test_column_chart_shows_position_names_and_scripted_curves(self):
        text = texts_of(COLUMNS)
        for part in ("Scores, d", "open", "legal", "memory 0", "memory 8", "a caption"):
            assert part in text
        assert "scripted, not a language model: memory 8" in text

    def test_column_chart_draws_log_scale_and_reference_lines(self):
        tall = replace(
            COLUMNS,
            curves=(Curve("write", (Point(0, 0.001), Point(1, 10.0))),),
            beside=(Curve("chance", (Point(0, 0.25), Point(1, 0.25))),),
            log=True,
            place_names=("a name of many letters, and more of them", "another name of many letters"),
        )
        text = texts_of(tall)
        assert "chance" in text and "write" in text
        assert render(tall) != render(replace(tall, log=False)) != render(replace(tall, log=False, beside=()))

    @pytest.mark.parametrize(
        "chart", [LINES, BARS, TIMES, COLUMNS], ids=["lines", "bars", "times", "columns"]
    )
    @pytest.mark.parametrize("form", ["svg", "png"])
    def test_rendering_the_same_chart_twice_gives_the_same_bytes(self, chart, form):
        assert render(chart, form) == render(chart, form)

    def test_render_restores_matplotlib_settings(self):
        import matplotlib as mpl

        before = dict(mpl.rcParams)
        render(LINES)
        assert dict(mpl.rcParams) == before
