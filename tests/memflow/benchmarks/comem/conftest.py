"""Fixtures: the demo's contexts, and contexts constructed by hand."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import pytest

from memflow.benchmarks import registry
from memflow.benchmarks.api import States
from memflow.benchmarks.comem.benchmark import CoMem
from memflow.benchmarks.comem.contexts import Context, ContextMessage, ContextQuestion
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.registry import find_dataset
from memflow.records import GoldLabel, Probe, Record, Turn
from memflow.resources.data.library import Library


@pytest.fixture(scope="session")
def bench() -> CoMem:
    return CoMem()


@pytest.fixture(scope="session")
def demo() -> Domain:
    return next(domain for domain in registry.domains().values() if domain.name == "comem_demo")


@pytest.fixture(scope="session")
def records(bench: CoMem, demo: Domain) -> list[Record]:
    return [
        row
        for name in demo.datasets
        for row in bench.records(find_dataset(name), Library(None).paths(find_dataset(name)))
    ]


@pytest.fixture(scope="session")
def context() -> Callable[..., Context]:
    """Return a context of messages `m0`, `m1`, ..., two per session, with these questions."""

    def made(messages: int, asked: Sequence[ContextQuestion] = (), name: str = "c") -> Context:
        lines = tuple(
            ContextMessage(f"m{place}", "assistant" if place % 2 else "user", session=place // 2)
            for place in range(messages)
        )
        return Context(name, "d", lines, tuple(asked))

    return made


class Rows(NamedTuple):
    turns: list[Turn]
    labels: list[GoldLabel]
    probes: list[Probe]


@pytest.fixture(scope="session")
def build(bench: CoMem) -> Callable[[Domain, list[Record]], Rows]:
    """Build a domain's rows from its records, with labels that need no annotators."""
    no_chat: Any = None

    async def steps(domain: Domain, records: list[Record]) -> Rows:
        turns = await bench.turns(domain, records, States(), no_chat)
        labels = await bench.gold_labels(domain, records, turns, None)
        return Rows(turns, labels, await bench.probes(domain, records, States(), turns, no_chat, labels))

    return lambda domain, records: asyncio.run(steps(domain, records))
