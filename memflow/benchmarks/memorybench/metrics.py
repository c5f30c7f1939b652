"""The metrics of MemoryBench. Primary metrics are each task's own metric, and min-max and z score over all tasks."""

from memflow.benchmarks.memorybench.tasks.catalog import PRIMARY
from memflow.scoring.catalog import ACCURACY
from memflow.scoring.metric import Metric

NAME = "memorybench"
_A11, _A12 = "MemoryBench, A.1.1", "MemoryBench, A.1.2"
_SCALE_VARIANTS = {
    "pooled": "relative to all assistants that were run in the domain with the same chat model",
    "substituted": "`pooled`, with a metric without a backend replaced by the one that needs none",
}
_PUBLISHED = {"published_code": "as the published evaluation code computes it"}
_JUDGED = {"without_bertscore": "without the measures that need an encoder", **_PUBLISHED}


def _grade(name: str, title: str) -> Metric:
    return Metric(name, title, "lower", "School grade that the text needs.", low=None, high=None, source=_A11)


def _bertscore(name: str, title: str) -> Metric:
    text = "F1 of contextual embeddings beside the gold text."
    return Metric(name, title, "higher", text, low=-1.0, source=_A11, variants=_PUBLISHED)


_ALL = (
    Metric("locomo_f1", "LoCoMo F1", "higher", "F1 of stemmed words beside the gold answer.", source=_A11),
    Metric("rouge_l", "ROUGE-L", "higher", "F1 of the longest common subsequence.", source=_A11, variants=_PUBLISHED),
    Metric("meteor", "METEOR", "higher", "Aligned words with synonyms.", source=_A11, variants=_PUBLISHED),
    Metric("meteor_nowordnet", "METEOR without WordNet", "higher", "Aligned words without synonyms."),
    Metric(
        "checklist", "Checklist", "higher", "Mean of a judge's answers to the questions of a list.", source=_A11,
        variants=_PUBLISHED,
    ),
    Metric(
        "criteria", "Criteria", "higher", "Mean of a judge's grades by criteria.", low=1.0, high=10.0, source=_A11,
        variants=_PUBLISHED,
    ),
    Metric(
        "quality", "Quality", "higher", "A judge's grade of an answer.", low=1.0, high=5.0, source=_A11,
        variants=_PUBLISHED,
    ),
    Metric("rating", "Rating", "higher", "A judge's rating of the best limitation.", high=5.0, source=_A11),
    Metric(
        "integrated", "Integrated score", "higher", "Several measures merged into one grade by a judge.", low=1.0,
        high=10.0, source=_A12, variants=_JUDGED,
    ),
    Metric(
        "min_max", "Min-max score", "higher", "(value - low) / (high - low) of each task's metric, relative to the "
        "published scores.", low=None, high=None, source="MemoryBench, section 3", variants=_SCALE_VARIANTS,
    ),
    Metric(
        "z_score", "Z score", "higher", "(value - mean) / deviation of each task's metric, relative to the published "
        "scores.", low=None, high=None, source="MemoryBench, section 3", variants=_SCALE_VARIANTS,
    ),
    _bertscore("bertscore", "BERTScore"),
    _bertscore("reasoning_bertscore", "BERTScore of the reasoning"),
    _bertscore("judgment_bertscore", "BERTScore of the judgment"),
    *(
        Metric(f"{part}_meteor", f"METEOR of the {part}", "higher", "", source=_A11, variants=_PUBLISHED)
        for part in ("reasoning", "judgment")
    ),
    *(
        Metric(
            f"{what}_{measure}", f"{what.capitalize()} {measure}", "higher",
            f"{measure.capitalize()} of the {what}s of a judgment.", source=_A11, variants=_PUBLISHED,
        )
        for what in ("charge", "statute")
        for measure in ("recall", "precision")
    ),
    Metric("time", "Prison term", "higher", "Closeness of the prison term.", source=_A11, variants=_PUBLISHED),
    Metric("fine", "Fine", "higher", "Closeness of the fine.", source=_A11, variants=_PUBLISHED),
    Metric(
        "llm_rating", "Rating of the idea", "higher", "A judge's rating of what is common with the real idea.",
        low=1.0, high=10.0, source=_A11, variants=_JUDGED,
    ),
    *(
        Metric(
            f"{what}_rank", f"{what.capitalize()} rank", "higher",
            f"Share of the ideas that a judge ranks above the real one by {what}.", source=_A11, variants=_PUBLISHED,
        )
        for what in ("novelty", "feasibility")
    ),
    _grade("cli", "Coleman-Liau index"),
    _grade("fkgl", "Flesch-Kincaid grade"),
    _grade("dcrs", "Dale-Chall score"),
)  # fmt: skip

METRICS = tuple(
    each.primary_in(NAME) if each.name in {*PRIMARY, "min_max", "z_score"} else each
    for each in (ACCURACY, *_ALL)
)
