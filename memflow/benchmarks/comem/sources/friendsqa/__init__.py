"""FriendsQA (Yang and Choi, SIGDIAL 2019): scenes of a series with questions, under a free license.

A context is a season and a session is a scene. Each extractive question about a scene becomes a multiple-choice
question about the season. The question names its scene, gets distractors by rule, and has `I don't know.` as last
option. The answer is unknown before its utterance. Stage directions have the speaker `Note`, because they contain a
quarter of the answers.

    scenes.py  the schema of a published scene    spans.py  the gold answer of several annotators, distractors
    text.py    detokenization
"""

import json
import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from memflow.benchmarks.comem.config import CoMemConfig
from memflow.benchmarks.comem.contexts import (
    UNKNOWN_OPTION_TEXTS,
    UNKNOWN_OPTIONS,
    Context,
    ContextMessage,
    ContextQuestion,
    KnownAnswer,
)
from memflow.benchmarks.comem.sources.friendsqa.scenes import (
    PARAPHRASED,
    FriendsQAScene,
    SceneQuestion,
    kind_of,
)
from memflow.benchmarks.comem.sources.friendsqa.spans import (
    WRONG,
    AnswerSpan,
    SeasonSpeakers,
    best,
    spans_of,
    wrong_options,
)
from memflow.benchmarks.comem.sources.friendsqa.text import detokenize
from memflow.benchmarks.datasets import Contents
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.published_file import File, valid_records
from memflow.benchmarks.raw_records import RawRecord, parse_records, validated
from memflow.fingerprint import seeded
from memflow.records import Record

DISAGREE = "its annotators' answers have no word in common"
NO_WORDS = "its answer has no content word"
NO_PERSON = "its answer is a speaker, but its kind is not Who"
TOO_FEW = f"fewer than {WRONG} answers to other questions of its kind can be distractors"


def read(file: File) -> Iterator[RawRecord]:
    """Yield one record per scene. An invalid question is quarantined without its scene. Raises BadInput."""
    published = file.json()
    scenes = published.get("data") if isinstance(published, dict) else None
    if not isinstance(scenes, list) or not scenes:
        raise file.bad("the field `data` is missing, empty, or not a list of scenes")
    named = (RawRecord(_where(number, raw), raw) for number, raw in enumerate(scenes, start=1))
    yield from parse_records(named, validated(FriendsQAScene, "title"))


def contexts(domain: Domain, records: Sequence[Record], config: CoMemConfig) -> list[Context]:
    """Return one context per season, with its scenes sorted by episode and number."""
    seasons: dict[tuple[str, int], list[FriendsQAScene]] = defaultdict(list)
    for record in records:
        scene = FriendsQAScene.model_validate(json.loads(record.content))
        seasons[record.dataset, scene.at[0]].append(scene)
    return [
        _SeasonBuilder(domain, sorted(scenes, key=lambda scene: scene.at)).context(dataset, number)
        for (dataset, number), scenes in sorted(seasons.items())
    ]


def count_contents(records: Sequence[Record]) -> Contents:
    """Return the numbers of scenes, utterances and questions, and the invalid questions."""
    scenes = [FriendsQAScene.model_validate_json(record.content) for record in valid_records(records)]
    invalid = [(scene.title, fault) for scene in scenes for fault in scene.invalid_questions]
    return Contents(
        {
            "scenes": len(records),
            "utterances": sum(len(scene.said) for scene in scenes),
            "questions": sum(len(scene.questions) for scene in scenes) + len(invalid),
        },
        invalid,
    )


def _where(number: int, raw: Any) -> str:
    title = raw.get("title") if isinstance(raw, dict) else None
    return f"scene {number} ({title})" if isinstance(title, str) else f"scene {number}"


@dataclass(frozen=True)
class _CandidateQuestion:
    scene: FriendsQAScene
    question: SceneQuestion
    accepted: Sequence[AnswerSpan]
    gold: AnswerSpan | None

    @property
    def kind(self) -> str:
        """The kind of the question."""
        return kind_of(self.question.id) or ""

    @property
    def dropped(self) -> str | None:
        """The reason why the question is dropped because of its answer, or None."""
        if self.gold is None:
            return DISAGREE
        if self.gold.person is not None and self.kind != "Who":
            return NO_PERSON
        return None if self.gold.words and self.gold.text.casefold() not in UNKNOWN_OPTIONS else NO_WORDS


class _SeasonBuilder:
    def __init__(self, domain: Domain, scenes: Sequence[FriendsQAScene]) -> None:
        self.domain, self.scenes = domain, scenes
        self.people = SeasonSpeakers(scenes)
        self.first: dict[str, int] = {}
        """The number of messages before each scene."""
        before = 0
        self.posed: list[_CandidateQuestion] = []
        for scene in scenes:
            self.first[scene.title] = before
            before += len(scene.said)
            for question in scene.questions:
                accepted = spans_of(scene, question, self.people)
                self.posed.append(_CandidateQuestion(scene, question, accepted, best(accepted)))

    def context(self, dataset: str, number: int) -> Context:
        """Return the season as a context."""
        lines = (
            ContextMessage(detokenize(each.utterance).text, "user", each.speaker, session, scene.place)
            for session, scene in enumerate(self.scenes, start=1)
            for each in scene.said
        )
        return Context(f"season_{number}", dataset, tuple(lines), tuple(self._questions()))

    def _questions(self) -> Iterator[ContextQuestion]:
        """Yield the questions in order, without paraphrased ones."""
        yield from (self._choice(each) for each in self.posed if not each.question.id.endswith(PARAPHRASED))
        for scene in self.scenes:
            for number, fault in enumerate(scene.invalid_questions):
                yield ContextQuestion(f"{scene.title}_invalid{number}", "", (), reason=fault)

    def _choice(self, posed: _CandidateQuestion) -> ContextQuestion:
        gold, scene = posed.gold or posed.accepted[0], posed.scene
        draw = random.Random(seeded(self.domain.seed, posed.question.id, "options"))
        pool = self._pool(posed)
        wrong = wrong_options(gold, posed.accepted, scene, posed.question.question, pool, self.people, draw)
        options = list(wrong)
        place = draw.randrange(len(options) + 1)
        options.insert(place, gold.text)
        since = self.first[scene.title] + gold.utterance
        return ContextQuestion(
            question_id=posed.question.id,
            question=self._worded(scene, posed.question),
            options=(*options, UNKNOWN_OPTION_TEXTS["en"]),
            answer=place + 1,
            category=posed.kind,
            known=(KnownAnswer(since + 1, place + 1, (since,)),),
            dropped=posed.dropped or (TOO_FEW if len(wrong) < WRONG else None),
        )

    def _pool(self, posed: _CandidateQuestion) -> Iterator[AnswerSpan]:
        """Yield the gold answers to questions of the same kind in other scenes of the season."""
        for other in self.posed:
            fits = other.kind == posed.kind and other.scene is not posed.scene and other.dropped is None
            if fits and other.gold is not None:
                yield other.gold

    def _worded(self, scene: FriendsQAScene, question: SceneQuestion) -> str:
        """Return the question with its scene, as in `In season 1, episode 23, scene 6: Who opens the door?`"""
        return f"In {scene.place}: {detokenize(question.question).text}"
