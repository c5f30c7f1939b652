"""Rows of the paper's tables: order, missing scores with reasons, and accuracies at chance level."""

from dataclasses import replace

import factories

from memflow.benchmarks.domains import Domain
from memflow.benchmarks.membench.tables import (
    LEVEL_SLICES,
    NOT_MEASURED,
    rows,
    stands_for,
    tabled,
)

SCORE = factories.score(
    assistant="retrieval", memory="retrieval", slice="level factual", value=0.5, low=0.3, high=0.7, n=40,
    n_episodes=40,
)  # fmt: skip


def domain(name="d", benchmark="membench", **parameters):
    return Domain(name, benchmark, ("memdaily",), name, parameters)


def test_table_rows_are_assistants_per_domain_in_order_of_paper() -> None:
    scores = [
        replace(SCORE, assistant=name, memory=name.partition("@")[0], model=name.partition("@")[2] or "m")
        for name in ("oracle", "bm25_message", "mem_gpt_1024", "full", "none", "full@a")
    ]
    scores.append(replace(SCORE, domain="e"))
    found = rows(scores, [domain("e"), domain()], LEVEL_SLICES)
    assert [(row.domain, row.assistant) for row in found] == [
        ("e", "retrieval"),
        ("d", "full@a"),
        ("d", "none"),
        ("d", "full"),
        ("d", "mem_gpt_1024"),
        ("d", "bm25_message"),
        ("d", "oracle"),
    ]


def test_table_row_has_reason_for_each_missing_score() -> None:
    lost = replace(SCORE, metric="read_time", value=None, low=None, high=None, reason="no read was timed")
    [row] = rows([SCORE, lost], [domain()], LEVEL_SLICES)
    assert (row.value("accuracy"), row.reason("accuracy")) == (0.5, None)
    assert (row.value("read_time"), row.reason("read_time")) == (None, "no read was timed")
    assert (row.value("write_time"), row.reason("write_time")) == (None, NOT_MEASURED)
    plain = row.plain()
    assert (plain["n"], plain["low"], plain["high"], plain["read_time"]) == (40, 0.3, 0.7, None)
    assert "read_time: no read was timed" in plain["reasons"] and "accuracy" not in plain["reasons"]


def test_at_floor_is_true_if_accuracy_interval_starts_at_or_below_chance() -> None:
    chance = replace(SCORE, metric="random", value=0.25, low=0.25, high=0.25)

    def at_floor(**interval):
        [row] = rows([replace(SCORE, **interval), chance], [domain()], LEVEL_SLICES)
        return row.at_floor

    assert not at_floor(low=0.26, high=0.7)
    assert at_floor(low=0.25, high=0.7) and at_floor(value=0.1, low=0.05, high=0.2)
    assert not at_floor(low=None, high=None)  # one trajectory has no interval, and nothing can be said
    [row] = rows([SCORE], [domain()], LEVEL_SLICES)
    assert not row.at_floor


def test_paper_tables_exclude_capacity_domains_and_chinese_domains() -> None:
    at_end, capacity = domain(), domain("c", protocol="capacity")
    assert tabled([at_end, capacity, domain("a", benchmark="amemgym")]) == [at_end]
    assert stands_for(at_end) == ("participation", 1)
    assert stands_for(domain(scene="observation", noise_tokens=100_000)) == ("observation", 2)
    assert stands_for(Domain("l", "membench", ("membench_participation_100k",), "l")) == ("participation", 2)
    assert stands_for(domain(language="zh")) is None
