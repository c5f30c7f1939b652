"""Plots of answers over checkpoints: their contents and their rendering."""

import pytest
from checkpoint_scores import leaderboard_rows

from memflow.chat.scripted import LABEL
from memflow.plots.charts import chart, charts
from memflow.plots.checkpoints import checkpoint_pictures
from memflow.plots.drawing import render
from memflow.plots.shapes import Bars, Chart, Curve, Point

ANSWERS = [[1, 1, 0], [0, 1, 1], [0, 0, 0], [1, 1, 1]]
NOTHING = [[1, 1, 1], [0, 0, 0], [0, 0, 0], [1, 1, 1]]


def test_accuracy_plot_starts_with_no_context_accuracy_and_shows_constant_answer_and_chance() -> None:
    drawing = checkpoint_pictures(leaderboard_rows({"full": ANSWERS, "none": NOTHING}), "d")["checkpoints"]
    assert isinstance(drawing, Chart)
    assert drawing.at == (0, 1, 2) and drawing.place_names == ("before", "1", "2")
    full, none = drawing.curves
    assert (full.name, none.name) == ("full", "none")
    assert full.points[0] == Point(0, 0.5, 0.4, 0.6) and [point.value for point in full.points] == [
        0.5,
        0.75,
        0.5,
    ]
    assert drawing.beside == (
        Curve("constant answer", tuple(Point(at, 0.3) for at in range(3))),
        Curve("chance", tuple(Point(at, 0.25) for at in range(3))),
    )
    assert drawing.caption == (
        "4 questions of 5 episodes with an answer at every checkpoint; 95 % intervals over episodes"
    )


def test_accuracy_plot_labels_the_position_of_no_context_accuracy_as_before() -> None:
    rows = [row for row in leaderboard_rows({"full": ANSWERS}, first=-1) if row.slice != "checkpoint -1"]
    drawing = checkpoint_pictures(rows, "d")["checkpoints"]
    assert drawing.at == (-1, 0, 1) and drawing.place_names == ("before", "0", "1")
    assert [point.at for point in drawing.curves[0].points] == [-1, 0, 1]
    assert [point.at for point in drawing.beside[0].points] == [0, 1]


def test_stability_plot_stacks_always_right_changing_and_always_wrong_shares() -> None:
    rows = leaderboard_rows({"oracle": ANSWERS, "none": NOTHING, "full": ANSWERS, "full@x": NOTHING})
    drawing = checkpoint_pictures(rows, "d")["stability"]
    assert isinstance(drawing, Bars) and drawing.place_names == ("none", "full", "oracle")
    assert [panel.name for panel in drawing.panels] == ["m", "x"]
    assert drawing.panels[0].parts == {
        "always wrong": {0: 0.5, 1: 0.25, 2: 0.25},
        "wavering": {0: 0.0, 1: 0.25, 2: 0.25},
        "always right": {0: 0.5, 1: 0.5, 2: 0.5},
    }
    assert drawing.panels[1].parts["always right"] == {1: 0.5}
    for place in range(3):
        assert sum(part[place] for part in drawing.panels[0].parts.values()) == pytest.approx(1)


def test_forgetting_and_forward_transfer_have_a_chart_by_checkpoint() -> None:
    rows = leaderboard_rows({"full": ANSWERS, "none": NOTHING})
    assert {"accuracy", "forgetting", "forward_transfer"} <= set(charts(rows, "d"))
    drawing = chart(rows, "d", "forgetting")
    assert drawing.title == "Forgetting by checkpoint, d" and drawing.at == (1, 2)
    assert drawing.caption.startswith("4 questions of 5 episodes a checkpoint")


def test_checkpoint_plots_label_scripted_assistants_and_omit_unknown_domain() -> None:
    rows = leaderboard_rows({"full": ANSWERS}, scripted=True)
    pictures = checkpoint_pictures(rows, "d")
    assert [picture.label for picture in pictures.values()] == [LABEL, LABEL]
    assert checkpoint_pictures(rows, "other") == {} == checkpoint_pictures([], "d")


def test_checkpoint_plots_can_be_rendered_as_svg() -> None:
    pytest.importorskip("matplotlib", reason="matplotlib (the extra `plots`) is not installed")
    for picture in checkpoint_pictures(leaderboard_rows({"full": ANSWERS, "none": NOTHING}), "d").values():
        text = render(picture).decode()
        assert "always right" in text or "before" in text
