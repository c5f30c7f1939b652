"""Scorers by metric and task, and the judge prompts of a domain."""

from collections.abc import Mapping

from memflow.benchmarks.domains import Domain
from memflow.benchmarks.memorybench.config import parameters_of
from memflow.benchmarks.memorybench.scorers import (
    accuracy,
    articles,
    checklist,
    criteria,
    ideas,
    judgments,
    limitations,
    quality,
    word_overlap,
)
from memflow.benchmarks.memorybench.scorers.scorer import PACKAGE, PUBLISHED, Scorer
from memflow.benchmarks.memorybench.tasks import catalog
from memflow.benchmarks.memorybench.tasks.task import Task
from memflow.chat.prompts import Prompt, load
from memflow.errors import BadInput

SCORERS: Mapping[str, Scorer] = {
    catalog.LOCOMO_F1: word_overlap,
    catalog.ROUGE_L: word_overlap,
    catalog.METEOR: word_overlap,
    catalog.ACCURACY: accuracy,
    catalog.CHECKLIST: checklist,
    catalog.CRITERIA: criteria,
    catalog.QUALITY: quality,
    catalog.RATING: limitations,
}
"""Scorers by the metric of a task."""
MERGED_SCORERS: Mapping[str, Scorer] = {"judge": judgments, "ideabench": ideas, "scitechnews": articles}
"""Scorers by task, for merged scores."""


def scorer_of(task: Task) -> Scorer:
    """Return the scorer of a task. Raises BadInput if there is none."""
    found = MERGED_SCORERS.get(task.name) if task.metric == catalog.INTEGRATED else SCORERS.get(task.metric)
    if found is None:
        raise BadInput(f"task {task.name}: MemoryBench has no metric {task.metric!r}")
    return found


def wants_published(domain: Domain) -> bool:
    """Return whether the variant `published_code` is wanted."""
    return PUBLISHED in parameters_of(domain).variants


def required_backends_of(domain: Domain) -> frozenset[str]:
    """Return the metric backends of the domain, besides a judge."""
    return frozenset(
        name
        for dataset in domain.datasets
        for task in catalog.tasks_of(dataset)
        for name in scorer_of(task).required_backends(task.metric)
    )


def judge_prompts_of(domain: Domain) -> list[Prompt]:
    """Return the judge's prompts of the domain, by its tasks."""
    published = wants_published(domain)
    stems = {
        stem
        for dataset in domain.datasets
        for task in catalog.tasks_of(dataset)
        for stem in scorer_of(task).prompts(published)
    }
    return [load(PACKAGE, stem) for stem in sorted(stems)]
