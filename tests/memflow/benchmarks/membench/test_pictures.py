"""What is drawn of MemBench's figures: which columns stand where, what chance is, and what is left out and said."""

from dataclasses import replace

import factories

from memflow.benchmarks.domains import Domain
from memflow.benchmarks.membench.pictures import pictures, pictures_over
from memflow.chat.scripted import LABEL
from memflow.plots.shapes import Curve, Point

D = Domain("d", "membench", ("memdaily",), "d")
FIGURE = factories.score(slice="level factual", value=0.5, low=0.4, high=0.6, n=40, n_episodes=40)
LOST = {"value": None, "low": None, "high": None, "reason": "lost"}


def of(assistant, **given):
    memory, _, model = assistant.partition("@")
    return replace(FIGURE, assistant=assistant, memory=memory, model=model or "m", **given)


def test_levels_stand_beside_each_other_by_mechanism_with_chance_below_them() -> None:
    figures = [
        of("retrieval", value=0.75, low=0.7, high=0.8, scripted=True),
        of("full"),
        of("full", slice="level reflective", value=0.25, low=0.1, high=0.3),
        of("recent", **LOST),
        of("full", metric="random", value=0.25),
        of("retrieval", metric="random", value=0.25),
    ]
    drawn = pictures(figures, D)["mechanisms"]
    assert drawn.place_names == ("full", "retrieval") and not drawn.log
    assert drawn.curves == (
        Curve("factual", (Point(0, 0.5, 0.4, 0.6), Point(1, 0.75, 0.7, 0.8)), True),
        Curve("reflective", (Point(0, 0.25, 0.1, 0.3),)),
    )
    assert drawn.beside == (Curve("chance", (Point(0, 0.25), Point(1, 0.25))),)
    assert drawn.caption == (
        "40 questions of 40 episodes a column; 95 % intervals by bootstrap over episodes; "
        "1 without a figure: see `memflow show mechanisms`"
    )
    assert drawn.label == f"{LABEL}: factual"


def test_chance_that_differs_between_columns_is_drawn_for_each() -> None:
    figures = [
        each
        for slice_, chance in (("level factual", 0.25), ("level reflective", 0.2))
        for each in (of("full", slice=slice_), of("full", slice=slice_, metric="random", value=chance))
    ]
    assert pictures(figures, D)["mechanisms"].beside == (
        Curve("chance, factual", (Point(0, 0.25, 0.4, 0.6),)),
        Curve("chance, reflective", (Point(0, 0.2, 0.4, 0.6),)),
    )


def test_kinds_stand_in_the_papers_order_and_models_where_there_are_several() -> None:
    figures = [
        of("full", slice="category noisy"),
        of("full", slice="category simple"),
        of("recent", slice="category simple"),
        of("oracle", slice="category simple"),
        of("full", slice="all", value=0.3),
        of("full@x", slice="all", value=0.4),
    ]
    drawn = pictures(figures, D)
    assert drawn["kinds"].place_names == ("sh", "noisy")
    assert [(curve.name, [point.at for point in curve.points]) for curve in drawn["kinds"].curves] == [
        ("full", [0, 1]),
        ("recent", [0]),
    ]
    assert drawn["models"].place_names == ("m", "x") and drawn["models"].curves[0].name == "full"
    assert [point.value for point in drawn["models"].curves[0].points] == [0.3, 0.4]
    assert "models" not in pictures(figures[:5], D) and "mechanisms" not in drawn


def test_times_stand_on_a_log_scale_without_those_that_are_nothing() -> None:
    whole = {"slice": "all", "low": None, "high": None}
    figures = [
        of("none", metric="read_time", **{**whole, **LOST, "slice": "all"}),
        of("full", metric="read_time", value=0.0, **whole),
        of("full", metric="write_time", value=0.001, **whole),
        of("retrieval", metric="read_time", value=0.04, **whole),
        of("retrieval", metric="write_time", **{**LOST, "slice": "all"}),
    ]
    drawn = pictures(figures, D)["times"]
    assert drawn.log and drawn.place_names == ("full", "retrieval")
    assert drawn.curves == (Curve("read", (Point(1, 0.04),)), Curve("write", (Point(0, 0.001),)))
    assert "no time at all: read of full" in drawn.caption and "1 without a figure" in drawn.caption


def test_other_domains_are_not_drawn() -> None:
    capacity = replace(D, parameters={"protocol": "capacity"})
    assert pictures([FIGURE], capacity) == pictures([FIGURE], replace(D, benchmark="amemgym")) == {}
    assert pictures([], D) == {} == pictures_over([], [D])


def test_over_several_domains_each_is_a_column_of_every_mechanism() -> None:
    figures = [of("full"), of("full", domain="e", value=0.9), of("full", slice="level reflective")]
    drawn = pictures_over(figures, [D, replace(D, name="e")])
    assert list(drawn) == ["factual_mechanisms", "reflective_mechanisms"]
    assert [curve.name for curve in drawn["factual_mechanisms"].curves] == ["d", "e"]
