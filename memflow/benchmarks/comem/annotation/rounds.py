"""Two rounds of annotation by two models (paper, sections 3.2.2 and A.3.1).

Both see the context up to the checkpoint, the question and its options. The annotator also sees the published answer,
if any; the verifier, another model, sees the annotator's answer. A question is kept where both agree at every
checkpoint.
"""

import asyncio
from collections import defaultdict
from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass, replace

from memflow.benchmarks.api import Annotators
from memflow.benchmarks.comem.annotation.labels import kept
from memflow.benchmarks.comem.answers import UNKNOWN_CHOICE, Finding, Review, narrowed
from memflow.benchmarks.comem.config import UNKNOWN, CoMemConfig
from memflow.benchmarks.comem.contexts import Context, ContextQuestion, visible_counts
from memflow.benchmarks.comem.question import prompt, twins
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.multiple_choice import LETTERS, lettered
from memflow.chat.asking import ask
from memflow.chat.prompts import Prompt
from memflow.chat.requests import Chat
from memflow.errors import BadSettings
from memflow.memories.chunks import passage
from memflow.records import GoldLabel

CONCURRENT_LABELS = 128
"""Number of labels requested concurrently, which bounds the contexts in memory. The models' own limits bound the
requests in flight."""

_STEMS = ("annotate", "annotate_told", "verify")


def annotation_prompts() -> list[Prompt]:
    """Return the prompts of both rounds, in every language."""
    return [
        *(prompt(stem) for stem in _STEMS),
        *(prompt(stem, language="zh") for stem in _STEMS if stem in twins()),
    ]


async def annotated(
    domain: Domain, contexts: Sequence[Context], config: CoMemConfig, annotators: Annotators
) -> list[GoldLabel]:
    """Return both models' labels of every valid question at checkpoints 1 and later. Without a usable answer, a label
    has a reason and is not verified.

    Raises BadSettings where both models are the same, before any request; BudgetSpent and EndpointDown after the
    requests in flight are answered.
    """
    _require_two_models(domain, annotators)
    asked_of = [(context, asked) for context in contexts for asked in context.sound]
    done = annotators.expect(len(asked_of) * len(config.checkpoints))
    waiting = _places(domain, contexts, config)
    found: dict[str, list[GoldLabel]] = defaultdict(list)

    async def hand() -> None:
        # The generator writes contexts on demand. A failing worker closes it, so that no other worker starts a new label.
        try:
            for place in waiting:
                found[place.context.question_id(place.asked)] += await _rounds(place, annotators)
                done()
        finally:
            waiting.close()

    for ended in await asyncio.gather(*(hand() for _ in range(CONCURRENT_LABELS)), return_exceptions=True):
        if isinstance(ended, BaseException):
            raise ended
    return [
        key for context, asked in asked_of for key in agreed(asked, found[context.question_id(asked)], config)
    ]


def agreed(asked: ContextQuestion, keys: Iterable[GoldLabel], config: CoMemConfig) -> list[GoldLabel]:
    """Return one question's labels in order, dropped where the models disagree at a checkpoint, or where the answer
    is unknown and no option says so. With a failed label, agreement is undefined and the question is not dropped."""
    keys = sorted(keys, key=lambda key: (key.checkpoint, key.made_by))
    if any(key.reason is not None for key in keys):
        return keys
    said: dict[int, set[str | None]] = defaultdict(set)
    for key in keys:
        said[key.checkpoint].add(key.answer)
    apart = ", ".join(str(checkpoint) for checkpoint, answers in said.items() if len(answers) > 1)
    if not apart:
        return kept(asked, keys, config)
    return [replace(key, dropped=f"annotator and verifier disagree at checkpoint {apart}") for key in keys]


@dataclass(frozen=True)
class _AnnotationTask:
    """A question at a checkpoint, and the visible messages."""

    domain: str
    context: Context
    asked: ContextQuestion
    checkpoint: int
    visible: int
    said: str

    def key(self, value: Finding) -> str:
        """Return the option's number, or `unknown`. A "not enough information" option stands for UNKNOWN."""
        if value.choice != UNKNOWN_CHOICE:
            return str(1 + LETTERS.index(value.choice))
        return UNKNOWN if self.asked.unknown_option is None else str(self.asked.unknown_option)

    def shown(self, key: str) -> str:
        """Return a label as the prompt shows it."""
        if key == UNKNOWN:
            return UNKNOWN_CHOICE
        number = int(key) - 1
        return f"{LETTERS[number]}. {self.asked.options[number]}"


def _places(
    domain: Domain, contexts: Iterable[Context], config: CoMemConfig
) -> Generator[_AnnotationTask, None, None]:
    """Yield every valid question at every checkpoint but 0, ordered so that consecutive prompts share a prefix."""
    for context in contexts:
        for checkpoint in range(1, len(config.checkpoints) + 1):
            written: dict[int, str] = {}
            for asked in context.sound:
                index = visible_counts(context, asked, config)[checkpoint]
                if index not in written:
                    written[index] = _said(context, index)
                yield _AnnotationTask(domain.name, context, asked, checkpoint, index, written[index])


def _said(context: Context, index: int) -> str:
    """Return the first messages of a context that are not quarantined, with speakers and dates."""
    lines, date = [], None
    for line in context.lines[:index]:
        date = line.sent_at or date
        if line.reason is None:
            lines.append((f"{line.speaker or line.role}: {line.text}", date))
    return passage(lines)


async def _rounds(place: _AnnotationTask, annotators: Annotators) -> list[GoldLabel]:
    published = place.asked.answer
    if published is None:
        first = await _ask_annotator("annotator", annotators.first, "annotate", place, None)
    else:
        first = await _ask_annotator("annotator", annotators.first, "annotate_told", place, str(published))
    if first.answer is None:
        return [first]
    return [first, await _ask_annotator("verifier", annotators.second, "verify", place, first.answer)]


async def _ask_annotator(
    made_by: str, chat: Chat, stem: str, place: _AnnotationTask, told: str | None
) -> GoldLabel:
    """Request one label, with another annotator's or the published answer in `told`, if any."""
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


def _require_two_models(domain: Domain, annotators: Annotators) -> None:
    """Raise BadSettings where a model would verify itself. The scripted chat has one handler per round."""
    first, second = annotators.first, annotators.second
    if first.fingerprint == second.fingerprint and not (first.scripted and second.scripted):
        raise BadSettings(
            f"domain {domain.name}: annotator and verifier are the same model, which would verify itself; name two in "
            "[roles] of memflow.toml, or by --annotator and --verifier (another model, revision, temperature or seed "
            "makes it another), or take its keys from elsewhere (parameter keys)"
        )
