"""Charts of MemBench's scores: columns, chance, and what the caption reports as missing."""

from dataclasses import replace

import factories

from memflow.benchmarks.domains import Domain
from memflow.benchmarks.membench.pictures import pictures, pictures_over
from memflow.chat.scripted import LABEL
from memflow.plots.shapes import Curve, Point

D = Domain("d", "membench", ("memdaily",), "d")
SCORE = factories.score(slice="level factual", value=0.5, low=0.4, high=0.6, n=40, n_episodes=40)
LOST = {"value": None, "low": None, "high": None, "reason": "lost"}


def of(assistant, **given):
    memory, _, model = assistant.partition("@")
    return replace(SCORE, assistant=assistant, memory=memory, model=model or "m", **given)


def test_mechanisms_chart_has_one_curve_per_level_and_chance_line() -> None:
    scores = [
        of("retrieval", value=0.75, low=0.7, high=0.8, scripted=True),
        of("full"),
        of("full", slice="level reflective", value=0.25, low=0.1, high=0.3),
        of("recent", **LOST),
        of("full", metric="random", value=0.25),
        of("retrieval", metric="random", value=0.25, scripted=True),
    ]
    chart = pictures(scores, D)["mechanisms"]
    assert chart.place_names == ("full", "retrieval") and not chart.log
    assert chart.curves == (
        Curve("factual", (Point(0, 0.5, 0.4, 0.6), Point(1, 0.75, 0.7, 0.8)), f"{LABEL}: retrieval"),
        Curve("reflective", (Point(0, 0.25, 0.1, 0.3),)),
    )
    assert chart.beside == (Curve("chance", (Point(0, 0.25), Point(1, 0.25))),)
    assert chart.caption == (
        "40 questions of 40 episodes a column; 95 % intervals over episodes; "
        "1 without a value: see `memflow show mechanisms`"
    )
    assert chart.label == f"{LABEL}: retrieval: factual"


def test_kinds_chart_follows_paper_order_and_models_chart_needs_two_models() -> None:
    scores = [
        of("full", slice="category noisy"),
        of("full", slice="category simple"),
        of("recent", slice="category simple"),
        of("oracle", slice="category simple"),
        of("full", slice="all", value=0.3),
        of("full@x", slice="all", value=0.4),
    ]
    chart = pictures(scores, D)
    assert chart["kinds"].place_names == ("sh", "noisy")
    assert [(curve.name, [point.at for point in curve.points]) for curve in chart["kinds"].curves] == [
        ("full", [0, 1]),
        ("recent", [0]),
    ]
    assert chart["models"].place_names == ("m", "x") and chart["models"].curves[0].name == "full"
    assert [point.value for point in chart["models"].curves[0].points] == [0.3, 0.4]
    assert "models" not in pictures(scores[:5], D) and "mechanisms" not in chart


def test_times_chart_is_logarithmic_and_omits_zero_times() -> None:
    whole = {"slice": "all", "low": None, "high": None}
    scores = [
        of("none", metric="read_time", **{**whole, **LOST, "slice": "all"}),
        of("full", metric="read_time", value=0.0, **whole),
        of("full", metric="write_time", value=0.001, **whole),
        of("retrieval", metric="read_time", value=0.04, **whole),
        of("retrieval", metric="write_time", **{**LOST, "slice": "all"}),
    ]
    chart = pictures(scores, D)["times"]
    assert chart.log and chart.place_names == ("full", "retrieval")
    assert chart.curves == (Curve("read", (Point(1, 0.04),)), Curve("write", (Point(0, 0.001),)))
    assert "no time at all: read of full" in chart.caption and "1 without a value" in chart.caption


def test_mechanisms_chart_over_several_domains_has_one_curve_per_domain() -> None:
    scores = [of("full"), of("full", domain="e", value=0.9), of("full", slice="level reflective")]
    chart = pictures_over(scores, [D, replace(D, name="e")])
    assert list(chart) == ["factual_mechanisms", "reflective_mechanisms"]
    assert [curve.name for curve in chart["factual_mechanisms"].curves] == ["d", "e"]
