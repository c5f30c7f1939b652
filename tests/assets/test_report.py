"""What a materialization says of itself."""

import pytest

from assets.report import pictures, preview, report
from memflow.records import Figure, Verdict


def verdict(number: int, domain: str = "d", value: float | None = 1.0) -> Verdict:
    return Verdict(
        domain=domain,
        assistant="full",
        probe_id=f"p{number}",
        episode_id="e",
        checkpoint=0,
        dataset="s",
        category=None,
        metric="accuracy",
        variant="standard",
        value=value,
        reason=None if value is not None else "no answer | at all",
    )


def test_a_preview_leaves_out_what_the_partition_says_and_what_is_empty() -> None:
    head, _, first, *rest = preview([verdict(number) for number in range(9)]).splitlines()
    assert head == "| probe_id | episode_id | checkpoint | dataset | metric | variant | value |"
    assert first == "| p0 | e | 0 | s | accuracy | standard | 1.0 |"
    assert len(rest) == 4


def test_a_preview_keeps_the_domain_where_there_are_several() -> None:
    assert preview([verdict(0), verdict(1, domain="other")]).startswith("| domain | probe_id |")


def test_a_bar_in_a_cell_does_not_part_it() -> None:
    assert "no answer \\| at all" in preview([verdict(0, value=None)])


def test_accounts_are_left_out_where_nothing_was_asked() -> None:
    idle = report("score.verdicts", [verdict(0)], "x", {"asked": 0.0, "kept": 0.0})
    busy = report("score.verdicts", [verdict(0)], "x", {"asked": 0.0, "kept": 2.0})
    assert idle.metadata is not None and busy.metadata is not None
    assert "asked" not in idle.metadata
    assert {"asked", "kept"} <= set(busy.metadata)


def test_quarantined_rows_are_counted_and_the_first_says_why() -> None:
    said = report("score.verdicts", [verdict(0), verdict(1, value=None)], "x").metadata
    assert said is not None
    assert (said["quarantined"], said["first_reason"]) == (1, "no answer | at all")


def test_figures_by_period_are_seen_in_the_metadata_or_what_to_install_is_said(monkeypatch) -> None:
    by_period = [
        Figure(
            domain="d",
            assistant="full",
            memory="full",
            model="m",
            metric="accuracy",
            slice=f"period {period}",
            value=0.5,
            n=4,
            n_episodes=2,
            coverage=1.0,
            simulator="s",
            scripted=False,
        )
        for period in range(2)
    ]
    assert pictures(by_period[:1]) == {}
    monkeypatch.setattr("assets.report.can_draw", lambda: False)
    assert "memflow[plots]" in pictures(by_period)["plots"]
    assert pictures(by_period[:1]) == {}
    monkeypatch.undo()
    pytest.importorskip("matplotlib", reason="matplotlib (the extra `plots`) is not installed")
    (name,) = pictures(by_period)
    assert name == "plot d accuracy"
    assert pictures(by_period)[name].md_str.startswith(
        "![Overall accuracy by period, d](data:image/svg+xml;base64,"
    )
