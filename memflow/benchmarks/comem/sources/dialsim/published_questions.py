"""DialSim's own questions: what its pickle asks of a scene, and which of it is asked.

`hard_q` are questions over a temporal graph, `easy_q` a fan quiz; both by kinds. DialSim asks one question a scene in a
run, drawn afresh; here it is drawn by the domain's seed.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pydantic import BaseModel, Field

from memflow.benchmarks.comem.contexts import Asked
from memflow.benchmarks.comem.wording import UNKNOWING
from memflow.benchmarks.published_file import Said
from memflow.benchmarks.tv_scripts import CHATBOTS, Utterance

HARD = 0.7
"""The share of scenes about which a question over the temporal graph is asked, where they have both sorts."""
CANNOT = {"hard_q": ("fu", 0.215), "easy_q": ("unans", 0.27)}
"""By sort: what is in the names of kinds that nobody can answer, and below which share of the draws they are held."""
ASKER = 3
"""Utterances to either side of one by whom the assistant plays, of whose speakers one asks."""


class Quiz(BaseModel):
    """A question as the pickle has it: in neutral words (`default`), and in those of each who may ask."""

    questions: dict[str, str]
    options: tuple[Said, ...] = Field((), max_length=10)
    answer: str

    @property
    def words(self) -> str:
        """The neutral words; some are published without any, and cannot be asked."""
        return self.questions.get("default", "").strip()


@dataclass(frozen=True)
class Drawn:
    """A question of a scene: its sort and kind, its key among them, and what it asks."""

    sort: str
    kind: str
    key: str
    quiz: Quiz


Sorts = Mapping[str, Mapping[str, Sequence[Drawn]]]
"""By sort and kind, the questions of a scene that can be asked; no kind and no sort is empty."""


def sorts(scene: Mapping[str, Any]) -> Sorts:
    """The questions of a scene that have words."""
    found: dict[str, dict[str, list[Drawn]]] = {}
    for sort in CANNOT:
        for kind, held in scene.get(sort, {}).items():
            for key, raw in held.items():
                drawn = Drawn(sort, kind, key, Quiz.model_validate(raw))
                if drawn.quiz.words:
                    found.setdefault(sort, {}).setdefault(kind, []).append(drawn)
    return found


def drawn(asks: Sorts, date: str, times: int, chance: random.Random) -> list[Drawn]:
    """What of a scene is asked: `times` draws as DialSim has its one, what comes again left out; all where it is 0."""
    if not times:
        return [each for kinds in asks.values() for held in kinds.values() for each in held]
    found: dict[tuple[str, str, str], Drawn] = {}
    for _ in range(times if asks else 0):
        # Drawn whether it is needed or not, so that one scene's sorts do not shift the draws of the next.
        hard = chance.random() < HARD
        sort = next((one for one in asks if (one == "hard_q") == hard), next(iter(asks)))
        kind = chance.choice(_weighed(sort, list(asks[sort]), chance))
        fit = [each for each in asks[sort][kind] if sort != "hard_q" or not _dated(each.quiz.words, date)]
        if fit:
            one = chance.choice(fit)
            found[one.sort, one.kind, one.key] = one
    return list(found.values())


def _weighed(sort: str, kinds: Sequence[str], chance: random.Random) -> list[str]:
    """The kinds to draw from: those that can be answered come in so often that they hold the others below their
    share."""
    mark, share = CANNOT[sort]
    sound = [kind for kind in kinds if mark not in kind]
    chance.shuffle(sound)
    found, more = list(kinds), 0
    while sound and (len(kinds) - len(sound)) / len(found) >= share:
        found.append(sound[more % len(sound)])
        more += 1
    return found


def _dated(words: str, date: str) -> bool:
    """Whether a question names the month or the year in which it is asked; DialSim passes over it."""
    month, _, year = (*date.replace(",", "").split(), "", "", "")[:3]
    return bool(year) and (f"{month} {year}" in words or f"in {year}" in words)


def asker(said: Sequence[Utterance], show: str, chance: random.Random) -> str | None:
    """Who asks: somebody who speaks near a random utterance of the one whom the assistant plays; None where nobody."""
    chatbot = CHATBOTS.get(show)
    places = [place for place, each in enumerate(said) if each.speaker == chatbot]
    if not places:
        return None
    at = chance.choice(places)
    near = {each.speaker for each in said[max(0, at - ASKER) : at + ASKER + 1]} - {chatbot}
    return chance.choice(sorted(near)) if near else None


def put(question_id: str, asks: Drawn, by: str | None, date: str, end: int, speakers: Sequence[str]) -> Asked:
    """The question as it is put: in the words of the one who asks, where they have some, after `end` messages.

    It has an option that says that there is no telling; DialSim gives it last. An option that is a speaker's name is
    true of that speaker. One whose answer is none of its options has a reason.
    """
    names = {speaker.casefold(): speaker for speaker in speakers}
    words = asks.quiz.questions.get(by or "default", "").strip() or asks.quiz.words
    asked = Asked(question_id, words, asks.quiz.options, category=asks.kind, asked_at=date, end=end)
    if asked.unknowing is None:
        asked = replace(asked, options=(*asked.options, UNKNOWING["en"]))
    folded = [option.strip().casefold() for option in asked.options]
    asked = replace(asked, true_of=tuple(names.get(option, "") for option in folded))
    return replace(asked, **_right(asks.quiz.answer, folded))


def _right(answer: str, options: Sequence[str]) -> Mapping[str, Any]:
    if len(set(options)) < len(options):
        return {"reason": "an option is there twice"}
    if answer.strip().casefold() not in options:
        return {"reason": f"its answer {answer!r} is none of its options"}
    return {"answer": options.index(answer.strip().casefold()) + 1}
