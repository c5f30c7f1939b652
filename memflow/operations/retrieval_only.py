"""The assistants of `memflow run --retrieval-only`, and those of the demo's second table."""

from collections.abc import Sequence
from itertools import product
from typing import TYPE_CHECKING

from memflow.errors import BadSettings
from memflow.repeats import MARK

if TYPE_CHECKING:
    from memflow.resources.lake.lake import Lake
    from memflow.resources.settings.settings import Settings

MEMORIES = (
    "bm25_message",
    "bm25_session",
    "embed_message",
    "embed_session",
    "hybrid",
    "rag_2_4_30",
    "recent",
)
"""The memories that are measured if none is named."""


DEMO_MEMORIES = (
    *("bm25_message", "embed_message", "hybrid", "bm25_session_2", "embed_session_2", "recent_5"),
)
"""The memories of the demo: they recall a similar number of tokens."""


def demo_retrieval() -> tuple[tuple[str, str], ...]:
    """Return the (domain, assistant) pairs whose retrieval `memflow run --demo` measures."""
    from memflow.benchmarks import registry

    domains = [spec.retrieval_demo for spec in registry.specs() if spec.retrieval_demo]
    return tuple(product(domains, DEMO_MEMORIES))


def require_evidence(lake: "Lake", domain: str) -> None:
    """Raise BadInput if no test question of a generated domain names evidence, before its episodes are played."""
    from memflow.run.rankings import no_evidence

    rows = lake.columns("question.probes", domain, ("split", "evidence"))
    if not any(split == "test" and evidence for split, evidence in rows):
        raise no_evidence(domain)


def check_retrieval(settings: "Settings", domains: Sequence[str], assistants: Sequence[str]) -> None:
    """Raise BadSettings for a domain or a memory whose retrieval cannot be measured without a chat model."""
    from memflow.benchmarks import registry
    from memflow.run.rankings import check_retrieval_only

    for name in assistants:
        if "@" in name or MARK in name:
            raise BadSettings(
                f"--retrieval-only requests no answer, so the assistant {name} needs no model. Name its memory alone: "
                f"--memory {name.partition('@')[0]}."
            )
        for domain in map(settings.domain, domains):
            check_retrieval_only(registry.benchmark(domain.benchmark), domain, settings.memory_of(name))
