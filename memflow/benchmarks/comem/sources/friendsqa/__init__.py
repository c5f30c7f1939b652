"""FriendsQA (Yang and Choi, SIGDIAL 2019): scenes of a series with questions, as a freely licensed dialogue of many.

Its scenes are one season's after the other: a context is a season, a session a scene. Questions are about one scene and
ask for words of it; here they are asked of the whole season, so each says which scene it is of, and each becomes a
multiple choice by rule, with `I don't know.` as the last option. What is right follows from where the answer stands:
before that has been said there is no telling.

    form.py      a scene as published     golds.py     the right answer of several annotators'
    text.py      tokens as text           options.py   wrong ones beside it

Stage directions are said by `Note`, since a quarter of the answers stands in them.
"""

import json
import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memflow.benchmarks.comem.config import Parameters
from memflow.benchmarks.comem.contexts import UNKNOWING, Asked, Context, Known, Line
from memflow.benchmarks.comem.sources.friendsqa.options import WRONG, Option, wrong_options
from memflow.benchmarks.comem.sources.friendsqa.scenes import PARAPHRASED, Question, Scene, kind_of
from memflow.benchmarks.comem.sources.friendsqa.spans import People, Span, best, spans_of
from memflow.benchmarks.comem.sources.friendsqa.text import written
from memflow.benchmarks.comem.wording import UNKNOWING as UNKNOWN_OPTION
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.published_file import File
from memflow.fingerprint import seeded
from memflow.records import Record

DISAGREE = "its annotators' answers have no word in common"
NO_WORDS = "its answer has no word that tells anything"
NO_PERSON = "it asks for no person, and its answer is who speaks"
TOO_FEW = f"fewer than {WRONG} answers to other questions of its kind could stand beside the right one"


def read(file: File) -> list[tuple[str, dict[str, Any]]]:
    """A record per scene. Raises BadInput."""
    published = file.json()
    scenes = published.get("data") if isinstance(published, dict) else None
    if not isinstance(scenes, list) or not scenes:
        raise file.bad("it has no list of scenes under `data`, or an empty one")
    return [
        (file.shaped(Scene, raw, _where(number, raw)).title, raw)
        for number, raw in enumerate(scenes, start=1)
    ]


def contexts(domain: Domain, records: Sequence[Record], parameters: Parameters) -> list[Context]:
    """A context per season, its scenes by episode and number."""
    seasons: dict[tuple[str, int], list[Scene]] = defaultdict(list)
    for record in records:
        scene = Scene.model_validate(json.loads(record.content))
        seasons[record.dataset, scene.at[0]].append(scene)
    return [
        _Season(domain, sorted(scenes, key=lambda scene: scene.at), parameters).context(dataset, number)
        for (dataset, number), scenes in sorted(seasons.items())
    ]


def _where(number: int, raw: Any) -> str:
    title = raw.get("title") if isinstance(raw, dict) else None
    return f"scene {number} ({title})" if isinstance(title, str) else f"scene {number}"


@dataclass(frozen=True)
class _Posed:
    """A question of a scene, its accepted answers, and the right one of these, where there is one."""

    scene: Scene
    question: Question
    accepted: Sequence[Span]
    gold: Span | None

    @property
    def kind(self) -> str:
        """Its kind of question."""
        return kind_of(self.question.id) or ""

    @property
    def dropped(self) -> str | None:
        """Why it is not asked, as far as its answer tells."""
        if self.gold is None:
            return DISAGREE
        if self.gold.person is not None and self.kind != "Who":
            return NO_PERSON
        return None if self.gold.words and self.gold.text.casefold() not in UNKNOWING else NO_WORDS


class _Season:
    """The scenes of a season, and what is asked of them."""

    def __init__(self, domain: Domain, scenes: Sequence[Scene], parameters: Parameters) -> None:
        self.domain, self.scenes, self.parameters = domain, scenes, parameters
        self.people = People(scenes)
        self.first: Mapping[str, int] = dict(
            zip((scene.title for scene in scenes), _starts(scenes), strict=True)
        )
        self.posed = [self._posed(scene, question) for scene in scenes for question in scene.asked]

    def context(self, dataset: str, number: int) -> Context:
        """The season as a context."""
        lines = (
            Line(written(each.utterance).text, "user", each.speaker, session, scene.place)
            for session, scene in enumerate(self.scenes, start=1)
            for each in scene.said
        )
        return Context(f"season_{number}", dataset, tuple(lines), tuple(self._asked()))

    def _posed(self, scene: Scene, question: Question) -> _Posed:
        accepted = spans_of(scene, question, self.people)
        return _Posed(scene, question, accepted, best(accepted))

    def _asked(self) -> Iterator[Asked]:
        """The questions in order: all, or as many as are to be, drawn from those that can be asked."""
        asked = [
            self._choice(each)
            for each in self.posed
            if self.parameters.paraphrases or not each.question.id.endswith(PARAPHRASED)
        ]
        most = self.parameters.most_questions
        sound = [each.question_id for each in asked if each.dropped is None]
        if most and len(sound) > most:
            draw = random.Random(seeded(self.domain.seed, self.scenes[0].at[0], "questions"))
            sound = draw.sample(sound, most)
        kept = frozenset(sound)
        yield from (each for each in asked if each.dropped is not None or each.question_id in kept)

    def _choice(self, posed: _Posed) -> Asked:
        gold, scene = posed.gold or posed.accepted[0], posed.scene
        draw = random.Random(seeded(self.domain.seed, posed.question.id, "options"))
        pool = self._pool(posed)
        wrong = wrong_options(gold, posed.accepted, scene, posed.question.question, pool, self.people, draw)
        options = list(wrong)
        place = draw.randrange(len(options) + 1)
        options.insert(place, Option(gold.text, gold.true_of))
        since = self.first[scene.title] + gold.utterance
        return Asked(
            question_id=posed.question.id,
            question=self._worded(scene, posed.question),
            options=(*(option.text for option in options), UNKNOWN_OPTION["en"]),
            answer=place + 1,
            category=posed.kind,
            known=(Known(since + 1, place + 1, (since,)),),
            true_of=(*(option.true_of for option in options), ""),
            dropped=posed.dropped or (TOO_FEW if len(wrong) < WRONG else None),
        )

    def _pool(self, posed: _Posed) -> Iterator[Span]:
        """The right answers to questions of the same kind in other scenes."""
        for other in self.posed:
            fits = other.kind == posed.kind and other.scene is not posed.scene and other.dropped is None
            if fits and other.gold is not None:
                yield other.gold

    def _worded(self, scene: Scene, question: Question) -> str:
        """The question with its scene: `In season 1, episode 23, scene 6: Who opens the door?`"""
        told = []
        if self.parameters.scene != "speakers":
            told.append(f"In {scene.place}")
        if self.parameters.scene != "place":
            names = scene.speakers
            told.append(
                f"{'with' if told else 'In the scene with'} {_listed(names) or 'nobody who is named'}"
            )
        return f"{', '.join(told)}: {written(question.question).text}"


def _starts(scenes: Iterable[Scene]) -> Iterator[int]:
    """How many messages come before each scene."""
    before = 0
    for scene in scenes:
        yield before
        before += len(scene.said)


def _listed(names: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))
