"""The registry of scorers by metric and task, with the backends and judge prompts that a domain needs."""

from collections.abc import Mapping

from memflow.benchmarks.domains import Domain
from memflow.benchmarks.memorybench.config import parameters_of
from memflow.benchmarks.memorybench.scorers.articles import ArticleScorer
from memflow.benchmarks.memorybench.scorers.ideas import IdeaScorer
from memflow.benchmarks.memorybench.scorers.judged import (
    AccuracyScorer,
    ChecklistScorer,
    CriteriaScorer,
    QualityScorer,
)
from memflow.benchmarks.memorybench.scorers.judgments import JudgmentScorer
from memflow.benchmarks.memorybench.scorers.limitations import LimitationScorer
from memflow.benchmarks.memorybench.scorers.scorer import PACKAGE, PUBLISHED, Scorer
from memflow.benchmarks.memorybench.scorers.word_overlap import WordOverlapScorer
from memflow.benchmarks.memorybench.tasks import catalog
from memflow.benchmarks.memorybench.tasks.task import Task
from memflow.chat.prompts import Prompt, load

SCORERS: Mapping[str, Scorer] = {
    **dict.fromkeys((catalog.LOCOMO_F1, catalog.ROUGE_L, catalog.METEOR), WordOverlapScorer()),
    catalog.ACCURACY: AccuracyScorer(),
    catalog.CHECKLIST: ChecklistScorer(),
    catalog.CRITERIA: CriteriaScorer(),
    catalog.QUALITY: QualityScorer(),
    catalog.RATING: LimitationScorer(),
    "judge": JudgmentScorer(),
    "ideabench": IdeaScorer(),
    "scitechnews": ArticleScorer(),
}
"""Scorers by the metric of a task; those of merged scores by task."""

JUDGED_METRICS = frozenset(metric for scorer in SCORERS.values() for metric in scorer.judged)
"""The metrics whose values a judge decides."""


def scorer_of(task: Task) -> Scorer:
    """Return the scorer of a task."""
    return SCORERS[task.name if task.metric == catalog.INTEGRATED else task.metric]


def wants_published(domain: Domain) -> bool:
    """Return whether the domain requests the variant `published_code`."""
    return PUBLISHED in parameters_of(domain).variants


def required_backends_of(domain: Domain) -> frozenset[str]:
    """Return the metric backends that the domain needs, without the judge."""
    tasks = [task for dataset in domain.datasets for task in catalog.tasks_of(dataset)]
    return frozenset(name for task in tasks for name in scorer_of(task).required_backends(task.metric))


def judge_prompts_of(domain: Domain) -> list[Prompt]:
    """Return the judge's prompts for the tasks of the domain."""
    scorers = [scorer_of(task) for dataset in domain.datasets for task in catalog.tasks_of(dataset)]
    stems = {stem for scorer in scorers for stem in scorer.stems}
    if wants_published(domain):
        stems |= {stem for scorer in scorers for stem in scorer.published_stems}
    return [load(PACKAGE, stem) for stem in sorted(stems)]
