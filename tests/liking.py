"""Tasks of somebody who likes comedies, sour dishes and poetry, for tests of plans that rest on likings."""

import random
from typing import Any

from memflow.benchmarks.membench.config import Parameters
from memflow.benchmarks.membench.generation import preferences, vocabulary
from memflow.benchmarks.membench.generation.graphs import Graph, Node
from memflow.benchmarks.membench.generation.plans import PlanRequest
from memflow.benchmarks.membench.generation.vocabulary import Language
from memflow.benchmarks.membench.kinds import KINDS

LIKED = {
    "en": {"movie": "Comedy", "food": "Sour", "book": "Poetry"},
    "zh": {"movie": "喜剧片", "food": "酸", "book": "历史"},
}


def task_of(
    kind: str = "highlevel",
    scenario: str = "movie",
    language: Language = "en",
    seed: int = 0,
    liked: dict[str, str] | None = None,
    **parameters: Any,
) -> PlanRequest:
    """A task of that kind; other likings, and parameters of the domain, where they are given."""
    attributes = LIKED[language] if liked is None else liked
    return PlanRequest(
        graph=Graph("u1", (Node("self", "self", "Ada Berg", "self", attributes),)),
        kind=KINDS[kind],
        scenario=scenario,
        number=0,
        parameters=Parameters.model_validate({"language": language, **parameters}),
        vocabulary=vocabulary.bundled_vocabulary(language),
        preferences=preferences.bundled_preferences(language),
        rng=random.Random(seed),
    )
