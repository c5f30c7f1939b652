"""A season's scenes to a context: its lines in order, and its questions, published or by rule."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace

from memflow.benchmarks.comem.config import Parameters
from memflow.benchmarks.comem.contexts import Asked, Context, Line
from memflow.benchmarks.comem.sources.dialsim import names, published_questions, rule_questions
from memflow.benchmarks.comem.sources.dialsim.scenes import Scene, by_date, scenes, show_of
from memflow.benchmarks.domains import Domain
from memflow.fingerprint import seeded
from memflow.records import Record

NO_PICKLE = (
    "its script is here, and published questions are in the show's pickle: get that, or set questions to by_rule and "
    "keys to rule"
)
NO_RULE = (
    "no rule tells when a published question has which answer: set keys to annotated, imported or published"
)


def contexts(domain: Domain, records: Sequence[Record], parameters: Parameters) -> list[Context]:
    """A context per season of the show whose records these are."""
    show, shown = show_of(records), scenes(records)
    by_season: dict[int, list[Scene]] = {}
    for scene in shown:
        by_season.setdefault(scene.season, []).append(scene)
    found = [
        _context(f"{show}_s{season:02}", records[0].dataset, held, parameters, domain.seed)
        for season, held in sorted(by_season.items())
    ]
    if parameters.names == "as_published":
        return found
    # The same exchange in all of a show's seasons, as it has the same people.
    exchanged = names.shuffled([line for context in found for line in context.lines], domain.seed, show)
    return [names.renamed(context, exchanged) for context in found]


def _context(name: str, dataset: str, shown: Sequence[Scene], parameters: Parameters, seed: int) -> Context:
    ordered = by_date(shown) if parameters.scenes == "date" else shown
    lines = tuple(
        Line(said.text, "user", said.speaker, scene.number, scene.date)
        for scene in ordered
        for said in scene.said
    )
    made = Context(name, dataset, lines, ())
    if not lines:
        return replace(made, reason=f"{name}: nobody says anything in it")
    if parameters.questions == "by_rule":
        return replace(made, asked=tuple(_by_rule(made, parameters, seed)))
    if not any(scene.asks for scene in ordered):
        return replace(made, reason=f"{name}: {NO_PICKLE}")
    return replace(made, asked=tuple(_published(made, ordered, parameters, seed)))


def _by_rule(context: Context, parameters: Parameters, seed: int) -> Iterator[Asked]:
    told = rule_questions.Told(context.lines)
    for kind, count, make in (
        (rule_questions.WHO_SAID, parameters.who_said, rule_questions.who_said),
        (rule_questions.SAID_LAST, parameters.said_last, rule_questions.said_last),
    ):
        yield from make(told, count, random.Random(seeded(seed, kind, context.context_id)))


def _published(
    context: Context, scenes: Sequence[Scene], parameters: Parameters, seed: int
) -> Iterator[Asked]:
    show = context.context_id.rpartition("_")[0]
    end = 0
    for scene in scenes:
        end += len(scene.said)
        chance = random.Random(seeded(seed, "questions", show, scene.name))
        by = published_questions.asker(scene.said, show, chance) if parameters.asker == "speaker" else None
        for drawn in published_questions.drawn(
            published_questions.sorts(scene.asks), scene.date, parameters.per_scene, chance
        ):
            question_id = f"{scene.name}.{drawn.kind}.{drawn.key}"
            asked = published_questions.put(question_id, drawn, by, scene.date, end, context.speakers)
            yield replace(asked, reason=asked.reason or (NO_RULE if parameters.keys == "rule" else None))
