"""The retrieval of assistants without a chat model, computed from the stored rows of score.rankings."""

from collections.abc import Collection
from statistics import fmean

from memflow.benchmarks import registry
from memflow.labels import HASHED, HASHING
from memflow.resources.lake.lake import Lake
from memflow.resources.settings.settings import Settings
from memflow.run.recording import SCRIPTED
from memflow.scoring.completeness import INCOMPLETE
from memflow.scoring.rankings import AssistantRetrieval, retrieval_scores

RANKINGS = "score.rankings"
REAL = "real retrieval"
"""The label of retrieval in which nothing is scripted."""
SCRIPTED_DATA = "data of the scripted chat"


def stored_retrieval(
    settings: Settings, lake: Lake, partitions: Collection[str] | None = None, *, slices: bool = True
) -> list[AssistantRetrieval]:
    """Return the retrieval of all measured assistants, or of some partitions, by domain and best first."""
    results = []
    for partition in lake.current_partitions(RANKINGS):
        if partitions is not None and partition not in partitions:
            continue
        domain, _, assistant = partition.partition("/")
        facts = lake.facts(RANKINGS, partition)
        if facts is None:
            continue
        rows, meta = lake.read(RANKINGS, partition), facts.meta
        embedder = meta.get("embedder")
        labels = [SCRIPTED_DATA] if meta.get(SCRIPTED) == "yes" else []
        labels += [HASHED] if (embedder or "").startswith(HASHING) else []
        independent: Collection[str] = ()
        if settings.has_domain(domain):
            independent = registry.benchmark(settings.domain(domain).benchmark).independent_episodes
        recalled = [row for row in rows if row.k is not None]
        results.append(
            AssistantRetrieval(
                domain=domain,
                assistant=assistant,
                embedder=embedder,
                label="; ".join(labels) or None,
                incomplete=meta.get(INCOMPLETE),
                probes=len(recalled),
                returned=fmean(row.k or 0 for row in recalled) if recalled else None,
                tokens=fmean(row.tokens or 0 for row in recalled) if recalled else None,
                scores=retrieval_scores(rows, independent, slices=slices),
            )
        )

    def rank(row: AssistantRetrieval) -> tuple[str, float]:
        score = row.score("recall", 5)
        value = score.value if score is not None and score.value is not None else None
        own = row.score("own_recall")
        return row.domain, -(value if value is not None else (own and own.value) or 0.0)

    return sorted(results, key=rank)
