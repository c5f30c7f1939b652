"""DialSim: television shows as dialogues with many speakers, one context per season (paper, A.3.1).

The input is DialSim's pickle with its questions, or a show's script with questions by rule. memflow ships neither.

    scenes.py               conversion of files to records, and of records to scenes with seasons
    seasons.py              dates, and the seasons of a script
    published_questions.py  the pickle's questions, and their sampling
    rule_questions.py       questions by rule: who says a line, and who says certain words last
    names.py                replacement of people's names
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace

from memflow.benchmarks.comem.config import CoMemConfig
from memflow.benchmarks.comem.contexts import Context, ContextMessage, ContextQuestion
from memflow.benchmarks.comem.sources.dialsim import names, published_questions, rule_questions
from memflow.benchmarks.comem.sources.dialsim.scenes import (
    PICKLE,
    SCRIPT,
    DialSimScene,
    by_date,
    read,
    scenes,
    show_of,
)
from memflow.benchmarks.domains import Domain
from memflow.fingerprint import seeded
from memflow.records import Record

__all__ = ["PICKLE", "SCRIPT", "contexts", "read"]

NO_PICKLE = (
    "published questions need the show's pickle, and only its script is available: get the pickle, or set "
    "questions to by_rule and keys to rule"
)
NO_RULE = "published questions have no labels by rule: set keys to annotated, imported or published"


def contexts(domain: Domain, records: Sequence[Record], config: CoMemConfig) -> list[Context]:
    """Return one context per season of a show."""
    show, shown = show_of(records), scenes(records)
    by_season: dict[int, list[DialSimScene]] = {}
    for scene in shown:
        by_season.setdefault(scene.season, []).append(scene)
    found = [
        _context(f"{show}_s{season:02}", records[0].dataset, held, config, domain.seed)
        for season, held in sorted(by_season.items())
    ]
    if config.names == "as_published":
        return found
    # All seasons of a show share one mapping, because they share their characters.
    exchanged = names.shuffle_names(
        [line for context in found for line in context.messages], domain.seed, show
    )
    return [names.rename_people(context, exchanged) for context in found]


def _context(
    name: str, dataset: str, shown: Sequence[DialSimScene], config: CoMemConfig, seed: int
) -> Context:
    ordered = by_date(shown) if config.scenes == "date" else shown
    lines = tuple(
        ContextMessage(said.text, "user", said.speaker, scene.number, scene.date)
        for scene in ordered
        for said in scene.said
    )
    made = Context(name, dataset, lines, ())
    if not lines:
        return replace(made, reason=f"{name}: it has no messages")
    if config.questions == "by_rule":
        return replace(made, questions=tuple(_by_rule(made, config, seed)))
    if not any(scene.asks for scene in ordered):
        return replace(made, reason=f"{name}: {NO_PICKLE}")
    return replace(made, questions=tuple(_published(made, ordered, config, seed)))


def _by_rule(context: Context, config: CoMemConfig, seed: int) -> Iterator[ContextQuestion]:
    index = rule_questions.SpeakerIndex(context.messages)
    for kind, count, make in (
        (rule_questions.WHO_SAID, config.who_said, rule_questions.who_said),
        (rule_questions.SAID_LAST, config.said_last, rule_questions.said_last),
    ):
        yield from make(index, count, random.Random(seeded(seed, kind, context.context_id)))


def _published(
    context: Context, scenes: Sequence[DialSimScene], config: CoMemConfig, seed: int
) -> Iterator[ContextQuestion]:
    show = context.context_id.rpartition("_")[0]
    end = 0
    for scene in scenes:
        end += len(scene.said)
        chance = random.Random(seeded(seed, "questions", show, scene.name))
        by = published_questions.choose_asker(scene.said, show, chance) if config.asker == "speaker" else None
        for drawn in published_questions.draw_questions(
            published_questions.questions_by_sort(scene.asks), scene.date, config.per_scene, chance
        ):
            question_id = f"{scene.name}.{drawn.kind}.{drawn.key}"
            asked = published_questions.build_question(
                question_id, drawn, by, scene.date, end, context.speakers
            )
            yield replace(asked, reason=asked.reason or (NO_RULE if config.keys == "rule" else None))
