"""Cells per partition and charts over several domains: compared domains and missing scores."""

from dataclasses import replace

import factories

from memflow.benchmarks.domains import Domain
from memflow.benchmarks.memorybench.domains import DOMAINS
from memflow.benchmarks.memorybench.partitions import NOT_MEASURED, cells, partitions
from memflow.benchmarks.memorybench.plots import noise_charts, partition_columns, time_bars
from memflow.benchmarks.memorybench.times import Times
from memflow.benchmarks.registry import find_domain
from memflow.chat.scripted import LABEL
from memflow.plots.shapes import Point

SCORE = factories.score(
    domain="memorybench_legal", assistant="rag", memory="rag", metric="min_max", value=0.5, low=0.4, high=0.6,
    interval_units="cases", deviation=0.2, n=50,
)  # fmt: skip
LEGAL, OPEN = find_domain("memorybench_legal"), find_domain("memorybench_open")
LOST = {**dict.fromkeys(("value", "low", "high", "deviation")), "reason": "only 1 of 4 probes have a score"}


def both(**given):
    """Return the two scores of a cell: the z score is twice the min-max score."""
    min_max = replace(SCORE, **given)
    z_score = None if min_max.value is None else 2 * min_max.value
    return [min_max, replace(min_max, metric="z_score", value=z_score)]


def test_partitions_returns_the_seven_off_policy_domains_of_the_paper():
    assert [domain.name for domain in partitions(DOMAINS)] == [
        f"memorybench_{name}" for name in ("open", "legal", "academic", "liso", "silo", "lilo", "siso")
    ]


def test_every_assistant_has_one_cell_per_partition_with_reason_if_not_measured():
    scores = [
        *both(),
        *both(domain="memorybench_open", **LOST),
        *both(assistant="none", value=0.25),
        *both(value=0.9, variant="pooled"),
        *both(value=0.8, slice="macro"),
    ]
    found = cells(scores, [LEGAL, OPEN])
    assert [(cell.assistant, cell.partition, cell.reason) for cell in found] == [
        ("none", "legal", None),
        ("none", "open", NOT_MEASURED),
        ("rag", "legal", None),
        ("rag", "open", "only 1 of 4 probes have a score"),
    ]
    values = [(cell.min_max.value, cell.z_score.value) for cell in (found[0], found[2])]
    assert values == [(0.25, 0.5), (0.5, 1.0)]
    [macro] = [cell for cell in cells(scores, [LEGAL], slice_="macro") if cell.assistant == "rag"]
    assert macro.min_max.value == 0.8
    [pooled] = cells(scores, [LEGAL], variant="pooled")
    assert pooled.min_max.value == 0.9


def test_partition_chart_has_one_column_per_partition_and_best_memory_first():
    scores = [*both(), *both(assistant="none", value=0.7, scripted=True), *both(domain=OPEN.name, value=0.1)]
    chart = partition_columns(cells(scores, [OPEN, LEGAL]))
    assert chart is not None and chart.place_names == ("open", "legal")
    assert [curve.name for curve in chart.curves] == ["none", "rag"]
    assert chart.curves[1].points == (Point(0, 0.1, 0.4, 0.6), Point(1, 0.5, 0.4, 0.6))
    assert chart.caption == (
        "50 probes of 1 episode a column; 95 % intervals over cases; "
        "1 without a score: see `memflow show partitions`"
    )
    assert chart.label == f"{LABEL}: none"
    assert partition_columns(cells(both(**LOST), [LEGAL])) is None


def noisy(name, **parameters):
    parameters = {"partition": "legal", "learn_from": "liked", **parameters}
    return Domain(name, "memorybench", ("judge",), name, parameters)


def test_noise_chart_groups_domains_that_differ_only_in_noise():
    domains = [noisy("calm"), noisy("loud", noise=1.2), noisy("mild", noise=0.5), find_domain("amemgym_demo")]
    domains += [
        noisy("lenient", actions={"like_midpoint": 3}),
        noisy("other", noise=0.7, right="published_code"),
    ]
    scores = [
        replace(SCORE, domain=name, assistant=assistant, value=value + place / 10)
        for name, value in (("calm", 0.5), ("mild", 0.4), ("loud", 0.3), ("lenient", 0.6), ("other", 0.9))
        for place, assistant in enumerate(("rag", "none"))
    ]
    found = noise_charts(scores, domains)
    assert [*found] == ["noise_calm", "like_midpoint_lenient"]
    chart = found["noise_calm"]
    assert chart.at == (0.0, 0.5, 1.2) and chart.y == "min max"
    assert [curve.name for curve in chart.curves] == ["none", "rag"]
    assert [point.value for point in chart.curves[1].points] == [0.5, 0.4, 0.3]
    assert found["like_midpoint_lenient"].at == (3.0, 7.5)
    assert chart.caption.startswith("50 probes of 1 episode a point")


def timed(**given):
    counted = {"dialogues": 4, "corpora": 0, "cases": 2, "label": None}
    own = {"memory_own_s": 0.1, "recall_s": 0.2, "recall_own_s": 0.2, "corpus_s": None}
    seconds = {"memory_s": 1.0, "predict_s": 2.0, **own}
    return Times(**{"domain": "d", "assistant": "rag", "format": "LiSo", **counted, **seconds, **given})


def test_time_chart_has_one_panel_per_task_format():
    rows = [
        timed(),
        timed(format="SiSo", label=LABEL),
        timed(assistant="none", memory_s=None, dialogues=0),
        timed(domain="later", memory_s=9.0),
    ]
    chart = time_bars(rows, "Time")
    assert chart is not None and chart.place_names == ("rag", "none")
    assert [panel.name for panel in chart.panels] == ["LiSo", "SiSo"]
    assert chart.panels[0].parts == {"memory": {0: 1.0}, "predict": {0: 2.0, 1: 2.0}}
    assert chart.caption.startswith("a bar rests on so many dialogues and cases: 0 to 4, 2;")
    assert chart.label == f"{LABEL}: SiSo"
    assert time_bars([timed(predict_s=None)], "Time") is None
