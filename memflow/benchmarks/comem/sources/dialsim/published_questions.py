"""DialSim's published questions: parsing and sampling.

`hard_q` are questions about a temporal graph and `easy_q` are a fan quiz. Both have several kinds. DialSim samples one
question per scene in each run; here the domain's seed determines the sample.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pydantic import BaseModel, Field

from memflow.benchmarks.comem.contexts import UNKNOWN_OPTION_TEXTS, ContextQuestion
from memflow.benchmarks.published_file import Said

HARD = 0.7
"""Share of scenes with a question over the temporal graph, where a scene has both sorts."""
CANNOT = {"hard_q": ("fu", 0.215), "easy_q": ("unans", 0.27)}
"""Per sort: the mark of unanswerable kinds, and the share of samples below which they are kept."""


class PublishedQuestion(BaseModel):
    """A question of DialSim's pickle file, in neutral wording (`default`) and in the wording of each asker.

    The neutral wording is asked.
    """

    questions: dict[str, str]
    options: tuple[Said, ...] = Field((), max_length=10)
    answer: str

    @property
    def words(self) -> str:
        """The neutral wording. A question without a neutral wording cannot be asked."""
        return self.questions.get("default", "").strip()


@dataclass(frozen=True)
class DrawnQuestion:
    """A sampled question of a scene, with its sort (`hard_q` or `easy_q`), kind and key."""

    sort: str
    kind: str
    key: str
    quiz: PublishedQuestion


QuestionsBySort = Mapping[str, Mapping[str, Sequence[DrawnQuestion]]]
"""The questions of a scene that have a wording, by sort and kind."""


def questions_by_sort(scene: Mapping[str, Any]) -> QuestionsBySort:
    """Return the questions of a scene that have a neutral wording, by sort (`hard_q` or `easy_q`)."""
    found: dict[str, dict[str, list[DrawnQuestion]]] = {}
    for sort in CANNOT:
        for kind, held in scene.get(sort, {}).items():
            for key, raw in held.items():
                drawn = DrawnQuestion(sort, kind, key, PublishedQuestion.model_validate(raw))
                if drawn.quiz.words:
                    found.setdefault(sort, {}).setdefault(kind, []).append(drawn)
    return found


def draw_questions(
    asks: QuestionsBySort, date: str, times: int, chance: random.Random
) -> list[DrawnQuestion]:
    """Return the distinct questions of `times` draws by DialSim's procedure, or all questions if `times` is 0."""
    if not times:
        return [each for kinds in asks.values() for held in kinds.values() for each in held]
    found: dict[tuple[str, str, str], DrawnQuestion] = {}
    for _ in range(times if asks else 0):
        # Always sampled, so that one scene's sorts do not shift later samples.
        hard = chance.random() < HARD
        sort = next((one for one in asks if (one == "hard_q") == hard), next(iter(asks)))
        kind = chance.choice(_weighed(sort, list(asks[sort]), chance))
        fit = [ask for ask in asks[sort][kind] if sort != "hard_q" or not _dated(ask.quiz.words, date)]
        if fit:
            one = chance.choice(fit)
            found[one.sort, one.kind, one.key] = one
    return list(found.values())


def _weighed(sort: str, kinds: Sequence[str], chance: random.Random) -> list[str]:
    """Return the question kinds to sample from. Answerable kinds are repeated to limit the share of others."""
    mark, share = CANNOT[sort]
    sound = [kind for kind in kinds if mark not in kind]
    chance.shuffle(sound)
    found, more = list(kinds), 0
    while sound and (len(kinds) - len(sound)) / len(found) >= share:
        found.append(sound[more % len(sound)])
        more += 1
    return found


def _dated(words: str, date: str) -> bool:
    """Return whether a question contains the month or year of its own date. DialSim skips such questions."""
    month, _, year = (*date.replace(",", "").split(), "", "", "")[:3]
    return bool(year) and (f"{month} {year}" in words or f"in {year}" in words)


def build_question(question_id: str, asks: DrawnQuestion, date: str, end: int) -> ContextQuestion:
    """Return the question, to be asked after `end` messages.

    A "not enough information" option is added last, as in DialSim. A question whose answer is not an option is
    quarantined.
    """
    quiz = asks.quiz
    asked = ContextQuestion(question_id, quiz.words, quiz.options, category=asks.kind, asked_at=date, end=end)
    if asked.unknown_option is None:
        asked = replace(asked, options=(*asked.options, UNKNOWN_OPTION_TEXTS["en"]))
    folded = [option.strip().casefold() for option in asked.options]
    return replace(asked, **_right(quiz.answer, folded))


def _right(answer: str, options: Sequence[str]) -> Mapping[str, Any]:
    if len(set(options)) < len(options):
        return {"reason": "two options of the question are equal"}
    if answer.strip().casefold() not in options:
        return {"reason": f"its answer {answer!r} is not an option"}
    return {"answer": options.index(answer.strip().casefold()) + 1}
