"""`memflow plot`: written files and error messages."""

import pytest

from memflow.chat.scripted import LABEL
from memflow.plots.drawing import can_draw


def test_plot_command_writes_svg_and_png_with_the_scripted_label(measured, tmp_path) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib (the extra `plots`) is not installed")
    told = measured.json("plot", "amemgym_demo~1", "--out", str(tmp_path / "out"))
    names = {
        f"{metric}.{form}" for metric in ("accuracy", "memory_score", "failures") for form in ("svg", "png")
    }
    written = {path.name for path in (tmp_path / "out").iterdir()}
    assert names <= written == {row["file"].split("/")[-1] for row in told}
    assert LABEL in (tmp_path / "out" / "failures.svg").read_text()
    shown = measured(
        "plot", "amemgym_demo~1", "--metric", "state_match", "--out", str(tmp_path / "out")
    ).stdout
    assert "state_match.png" in shown and LABEL in shown


def test_plot_command_without_matplotlib_names_the_extra_to_install(measured, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("memflow.plots.drawing.can_draw", lambda: False)
    assert "memflow-bench[plots]" in measured.error("plot", "amemgym_demo~1", "--out", str(tmp_path / "out"))
    assert not (tmp_path / "out").exists()
    assert isinstance(can_draw(), bool)


def test_plot_command_rejects_unknown_domain_or_metric(measured, empty) -> None:
    for arguments, said in (
        (("beauty",), "no domain 'beauty'. Use one of: amemgym_demo~1"),
        (
            ("amemgym_demo~1", "--metric", "beauty"),
            "no scores of beauty per period. Use a metric with such scores: accuracy",
        ),
    ):
        assert said in measured.error("plot", *arguments)
    assert "There are none yet" in empty("plot", "amemgym_demo~1").stderr
