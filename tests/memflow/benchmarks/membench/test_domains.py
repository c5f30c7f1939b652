"""Sampling of MemBench's domains, on files in the published format with the paper's counts."""

from collections import Counter
from dataclasses import replace

import pytest
from membench_files import ids, read, sampled_files

from memflow.benchmarks.membench.benchmark import MemBench
from memflow.benchmarks.membench.kinds import KINDS, Level
from memflow.benchmarks.membench.selection import select_trajectories
from memflow.benchmarks.registry import find_domain
from memflow.records import Record


@pytest.fixture(
    scope="module",
    params=[
        # As published, there are 100 trajectories of each kind and scenario, but 50 of an observed factual one; of
        # those lengthened by noise 20 and 10.
        ("participation", "", {"factual": 50, "reflective": 100}, (360, 120)),
        ("observation", "", {"factual": 50, "reflective": 100}, (280, 60)),
        ("participation", "_100k", {"factual": 20, "reflective": 20}, (90, 30)),
        ("observation", "_100k", {"factual": 10, "reflective": 20}, (84, 15)),
    ],
    ids=lambda case: f"{case[0]}{case[1]}",
)
def published(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[str, list[Record], tuple[int, int], dict[Level, int]]:
    scene, length, each, sizes = request.param
    name = f"membench_{scene}{length}"
    files = sampled_files(scene, length, each)
    return name, read(name, files, tmp_path_factory.mktemp(name)), sizes, each


def counts(names: list[str]) -> Counter[str]:
    return Counter(name.rpartition("/")[0] for name in names)


async def test_sampled_domains_have_question_counts_of_paper(published) -> None:
    name, records, (factual, reflective), _ = published
    domain, bench = find_domain(name), MemBench()
    states = await bench.states(domain, records, None)  # type: ignore[arg-type]
    turns = await bench.turns(domain, records, states, None)  # type: ignore[arg-type]
    probes = await bench.probes(domain, records, states, turns, None)  # type: ignore[arg-type]
    assert Counter(KINDS[probe.category or ""].level for probe in probes) == {
        "factual": factual,
        "reflective": reflective,
    }
    drawn = {probe.episode_id for probe in probes}
    assert {turn.episode_id for turn in turns} == drawn
    assert not [probe for probe in probes if probe.reason is not None]
    assert not any("/emotion/" in each for each in drawn)
    assert len(set(counts(sorted(drawn)).values())) <= 2
    again = [each.trajectory_id for each in select_trajectories(domain, records)]
    assert set(again) == drawn
    assert {each.trajectory_id for each in select_trajectories(replace(domain, seed=7), records)} != drawn


def test_domains_with_all_trajectories_include_emotion_questions(published) -> None:
    name, records, _, each = published
    whole = [one.trajectory_id for one in select_trajectories(find_domain(f"{name}_all"), records)]
    assert sorted(whole) == sorted(ids(records))
    assert counts(whole)[f"{name.split('_')[1]}/highlevel/emotion"] == each["reflective"]
