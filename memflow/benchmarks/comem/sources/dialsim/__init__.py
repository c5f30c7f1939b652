"""DialSim: television shows as dialogues with many speakers, one context per season (paper, A.3.1).

The input is DialSim's pickle with its questions, which memflow does not ship.

    scenes.py               conversion of files to records, and of records to scenes with seasons
    published_questions.py  the pickle's questions, and their sampling
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace

from memflow.benchmarks.comem.config import CoMemConfig
from memflow.benchmarks.comem.contexts import Context, ContextMessage, ContextQuestion
from memflow.benchmarks.comem.sources.dialsim import published_questions
from memflow.benchmarks.comem.sources.dialsim.scenes import (
    PICKLE,
    DialSimScene,
    by_date,
    read,
    scenes,
    show_of,
)
from memflow.benchmarks.domains import Domain
from memflow.fingerprint import seeded
from memflow.records import Record

__all__ = ["PICKLE", "contexts", "read"]

NO_RULE = "published questions have no labels by rule: set keys to annotated or published"


def contexts(domain: Domain, records: Sequence[Record], config: CoMemConfig) -> list[Context]:
    """Return one context per season of a show."""
    show = show_of(records)
    by_season: dict[int, list[DialSimScene]] = {}
    for scene in scenes(records):
        by_season.setdefault(scene.season, []).append(scene)
    return [
        _context(f"{show}_s{season:02}", records[0].dataset, held, config, domain.seed)
        for season, held in sorted(by_season.items())
    ]


def _context(
    name: str, dataset: str, shown: Sequence[DialSimScene], config: CoMemConfig, seed: int
) -> Context:
    ordered = by_date(shown)
    lines = tuple(
        ContextMessage(said.text, "user", said.speaker, scene.number, scene.date)
        for scene in ordered
        for said in scene.said
    )
    made = Context(name, dataset, lines, ())
    if not lines:
        return replace(made, reason=f"{name}: it has no messages")
    return replace(made, questions=tuple(_published(made, ordered, config, seed)))


def _published(
    context: Context, scenes: Sequence[DialSimScene], config: CoMemConfig, seed: int
) -> Iterator[ContextQuestion]:
    show = context.context_id.rpartition("_")[0]
    end = 0
    for scene in scenes:
        end += len(scene.said)
        chance = random.Random(seeded(seed, "questions", show, scene.name))
        for drawn in published_questions.draw_questions(
            published_questions.questions_by_sort(scene.asks), scene.date, config.per_scene, chance
        ):
            question_id = f"{scene.name}.{drawn.kind}.{drawn.key}"
            asked = published_questions.build_question(question_id, drawn, scene.date, end)
            yield replace(asked, reason=asked.reason or (NO_RULE if config.keys == "rule" else None))
