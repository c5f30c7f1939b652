"""Sampled graphs: dependent values, unique values, distributions, and their rows."""

import re
from datetime import datetime
from typing import get_args

from memflow.benchmarks.membench.config import Parameters
from memflow.benchmarks.membench.generation import preferences, values, vocabulary
from memflow.benchmarks.membench.generation.graph_sampling import sample_graph
from memflow.benchmarks.membench.generation.graphs import (
    Graph,
)
from memflow.benchmarks.membench.generation.vocabulary import Language

LANGUAGES: tuple[Language, ...] = get_args(Language)


def is_relative(time: str) -> bool:
    return re.search(r"\d{4}", time) is None


def sampled(language: Language = "en", number: int = 0, seed: int = 42, **sizes: int) -> Graph:
    words, likes = vocabulary.bundled_vocabulary(language), preferences.bundled_preferences(language)
    return sample_graph(seed, number, Parameters(language=language, **sizes), words, likes)


def test_event_locations_and_times_follow_probabilities_of_paper() -> None:
    graphs = [sampled("en", number) for number in range(300)]
    events = [(graph, event) for graph in graphs for event in graph.events]
    at_work = sum(event["location"] == graph.user["work_location"] for graph, event in events) / len(events)
    relative = sum(is_relative(event["time"]) for _, event in events) / len(events)
    # 0.8, and in one of 8 big cities the same by chance: 0.8 + 0.1 / 8 + 0.1 / 28.
    assert abs(at_work - 0.816) < 0.02
    # Fixed times are fewer and so drawn again more often: a little over one half.
    assert 0.48 < relative < 0.58
    start = datetime(2024, 10, 1)
    fixed = [
        values.resolve_time(event["time"], start) for _, event in events if not is_relative(event["time"])
    ]
    assert {moment.day for moment in fixed} == set(range(11, 18))
