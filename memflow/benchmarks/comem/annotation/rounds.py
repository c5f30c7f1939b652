"""Two rounds of annotation by two models: what is right at each checkpoint, and what both say alike (paper, sections
3.2.2 and A.3.1).

Whoever annotates is shown the context up to the checkpoint, the question and its options: the annotator with the
published answer, where there is one; the verifier, another model, with what the annotator found. A question is kept
where both say the same at every checkpoint. How they are asked is in prompts/; keys that need no model are keys.py.
"""

import asyncio
from collections import defaultdict
from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass, replace

from memflow.benchmarks.api import Annotators
from memflow.benchmarks.comem.annotation.labels import kept
from memflow.benchmarks.comem.answers import UNTOLD, Finding, Review, narrowed
from memflow.benchmarks.comem.config import UNKNOWN, Parameters
from memflow.benchmarks.comem.contexts import Asked, Context
from memflow.benchmarks.comem.truncation import visible
from memflow.benchmarks.comem.wording import prompt, twins
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.multiple_choice import LETTERS, lettered
from memflow.chat.asking import ask
from memflow.chat.prompts import Prompt
from memflow.chat.requests import Chat
from memflow.errors import BadSettings
from memflow.memories.chunks import passage
from memflow.records import GoldLabel

IN_HAND = 128
"""Questions at a checkpoint that are asked at once, and so how many contexts are written out at a time. Of their
requests, as many are in flight as the models' own limits let through."""

_STEMS = ("annotate", "annotate_told", "verify")


def annotation_prompts() -> list[Prompt]:
    """All that the two are asked with, in every language."""
    return [
        *(prompt(stem) for stem in _STEMS),
        *(prompt(stem, language="zh") for stem in _STEMS if stem in twins()),
    ]


async def annotated(
    domain: Domain, contexts: Sequence[Context], parameters: Parameters, annotators: Annotators
) -> list[GoldLabel]:
    """The keys of every sound question at each checkpoint but 0, by both hands; a hand that gave no usable answer is a
    row with its reason, and is not verified.

    Raises BadSettings where both are the same model, before anything is asked; BudgetSpent and EndpointDown when what
    was in flight is answered.
    """
    _two(domain, annotators)
    asked_of = [(context, asked) for context in contexts for asked in context.sound]
    done = annotators.expect(len(asked_of) * len(parameters.checkpoints))
    waiting = _places(domain, contexts, parameters)
    found: dict[str, list[GoldLabel]] = defaultdict(list)

    async def hand() -> None:
        # Contexts are written out when their turn comes. Who fails lets nobody begin another.
        try:
            for place in waiting:
                found[place.context.question_id(place.asked)] += await _rounds(place, annotators)
                done()
        finally:
            waiting.close()

    for ended in await asyncio.gather(*(hand() for _ in range(IN_HAND)), return_exceptions=True):
        if isinstance(ended, BaseException):
            raise ended
    return [
        key
        for context, asked in asked_of
        for key in agreed(asked, found[context.question_id(asked)], parameters)
    ]


def agreed(asked: Asked, keys: Iterable[GoldLabel], parameters: Parameters) -> list[GoldLabel]:
    """One question's keys in order, with why it is dropped: the two disagree somewhere, or there is no telling and no
    option that says so. Where one failed, nobody knows whether they agree: it is not dropped."""
    keys = sorted(keys, key=lambda key: (key.checkpoint, key.made_by))
    if any(key.reason is not None for key in keys):
        return keys
    said: dict[int, set[str | None]] = defaultdict(set)
    for key in keys:
        said[key.checkpoint].add(key.answer)
    apart = ", ".join(str(checkpoint) for checkpoint, answers in said.items() if len(answers) > 1)
    if not apart:
        return kept(asked, keys, parameters)
    return [replace(key, dropped=f"annotator and verifier disagree at checkpoint {apart}") for key in keys]


@dataclass(frozen=True)
class _Place:
    """A question at a checkpoint, and all that was said by then."""

    domain: str
    context: Context
    asked: Asked
    checkpoint: int
    visible: int
    said: str

    def key(self, value: Finding) -> str:
        """The option's number, or `unknown`. The option that says that there is no telling stands for UNKNOWN."""
        if value.choice != UNTOLD:
            return str(1 + LETTERS.index(value.choice))
        return UNKNOWN if self.asked.unknowing is None else str(self.asked.unknowing)

    def shown(self, key: str) -> str:
        """A key as the one who is told it reads it."""
        if key == UNKNOWN:
            return UNTOLD
        number = int(key) - 1
        return f"{LETTERS[number]}. {self.asked.options[number]}"


def _places(
    domain: Domain, contexts: Iterable[Context], parameters: Parameters
) -> Generator[_Place, None, None]:
    """Every sound question at every checkpoint but 0: all of a context at a checkpoint together, since their requests
    begin alike, and checkpoints in order, since a later one begins like an earlier."""
    for context in contexts:
        for checkpoint in range(1, len(parameters.checkpoints) + 1):
            written: dict[int, str] = {}
            for asked in context.sound:
                index = visible(context, asked, parameters)[checkpoint]
                if index not in written:
                    written[index] = _said(context, index)
                yield _Place(domain.name, context, asked, checkpoint, index, written[index])


def _said(context: Context, index: int) -> str:
    """The first messages of a context that can be played, with who said them and when."""
    lines, date = [], None
    for line in context.lines[:index]:
        date = line.sent_at or date
        if line.reason is None:
            lines.append((f"{line.speaker or line.role}: {line.text}", date))
    return passage(lines)


async def _rounds(place: _Place, annotators: Annotators) -> list[GoldLabel]:
    published = place.asked.answer
    if published is None:
        first = await _say("annotator", annotators.first, "annotate", place, None)
    else:
        first = await _say("annotator", annotators.first, "annotate_told", place, str(published))
    if first.answer is None:
        return [first]
    return [first, await _say("verifier", annotators.second, "verify", place, first.answer)]


async def _say(made_by: str, chat: Chat, stem: str, place: _Place, told: str | None) -> GoldLabel:
    """What one says of a place, told another's answer or none."""
    fields = {
        "said": place.said,
        "question": place.asked.question,
        "options": lettered(place.asked.options),
    }
    options, language = len(place.asked.options), place.context.language
    if told is not None:
        fields["told"] = place.shown(told)
    asking = prompt(stem, narrowed(Finding if told is None else Review, options), language)
    answer = await ask(chat, asking, fields)
    value: Finding | None = answer.value
    return GoldLabel(
        domain=place.domain,
        question_id=place.context.question_id(place.asked),
        episode_id=place.context.context_id,
        checkpoint=place.checkpoint,
        made_by=made_by,
        visible=place.visible,
        answer=None if value is None else place.key(value),
        agrees=value.right if isinstance(value, Review) else None,
        why=None if value is None else value.why,
        completion=None if answer.completion is None else answer.completion.digest,
        model=chat.fingerprint,
        reason=answer.reason,
    )


def _two(domain: Domain, annotators: Annotators) -> None:
    """Raise BadSettings where a model would verify itself. A scripted chat reads each round by another handler."""
    first, second = annotators.first, annotators.second
    if first.fingerprint == second.fingerprint and not (first.scripted and second.scripted):
        raise BadSettings(
            f"domain {domain.name}: annotator and verifier are the same model, which would verify itself; name two in "
            "[roles] of memflow.toml, or by --annotator and --verifier (another model, revision, temperature or seed "
            "makes it another), or take its keys from elsewhere (parameter keys)"
        )
