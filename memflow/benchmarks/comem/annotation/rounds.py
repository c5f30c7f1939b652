"""Annotation of gold labels by two models in two rounds (paper, sections 3.2.2 and A.3.1).

Both models see the context up to the checkpoint, the question and its options. The annotator also sees the published
answer, if any. The verifier, another model, sees the annotator's answer. A question is kept if both models agree at
every checkpoint.
"""

import asyncio
from collections import defaultdict
from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass, replace

from memflow.benchmarks.comem.annotation.labels import drop_unanswerable
from memflow.benchmarks.comem.answers import UNKNOWN_CHOICE, Finding, Review, narrowed_choice
from memflow.benchmarks.comem.config import UNKNOWN, CoMemConfig
from memflow.benchmarks.comem.contexts import Context, ContextQuestion, visible_counts
from memflow.benchmarks.comem.question import PACKAGE, prompt
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.multiple_choice import LETTERS, lettered
from memflow.benchmarks.step_values import Annotators
from memflow.chat.asking import ask
from memflow.chat.prompts import Prompt, translated_stems
from memflow.chat.requests import Chat
from memflow.errors import BadSettings
from memflow.memories.notes import dated_lines
from memflow.records import GoldLabel

CONCURRENT_LABELS = 128
"""Number of labels requested concurrently, which bounds the contexts in memory. The models' own limits bound the
requests in flight."""

_STEMS = ("annotate", "annotate_told", "verify")


def annotation_prompts() -> list[Prompt]:
    """Return the prompts of both rounds, in all languages."""
    return [
        *(prompt(stem) for stem in _STEMS),
        *(prompt(stem, language="zh") for stem in _STEMS if stem in translated_stems(PACKAGE)),
    ]


async def annotate(
    domain: Domain, contexts: Sequence[Context], config: CoMemConfig, annotators: Annotators
) -> list[GoldLabel]:
    """Return both models' labels of every valid question at checkpoints 1 and later.

    If a model gives no usable answer, its label has a reason. Such a label of the annotator is not verified. Raises
    BadSettings, before any request, if both models are the same. Raises FatalChatError after all running
    requests have finished.
    """
    _require_two_models(domain, annotators)
    asked_of = [(context, asked) for context in contexts for asked in context.valid_questions]
    done = annotators.expect(len(asked_of) * len(config.checkpoints))
    waiting = _tasks(domain, contexts, config)
    found: dict[str, list[GoldLabel]] = defaultdict(list)

    async def annotator() -> None:
        # The generator writes contexts on demand. After an error, no worker starts another label.
        try:
            for task in waiting:
                found[task.context.question_id(task.question)] += await _rounds(task, annotators)
                done()
        finally:
            waiting.close()

    for ended in await asyncio.gather(
        *(annotator() for _ in range(CONCURRENT_LABELS)), return_exceptions=True
    ):
        if isinstance(ended, BaseException):
            raise ended
    return [
        label
        for context, asked in asked_of
        for label in compare_annotations(asked, found[context.question_id(asked)])
    ]


def compare_annotations(asked: ContextQuestion, labels: Iterable[GoldLabel]) -> list[GoldLabel]:
    """Return one question's labels in order, marked as dropped if the annotators disagree.

    The labels are also dropped if an answer is unknown and no option means "not enough information". If a label failed,
    agreement is undefined and the question is kept.
    """
    labels = sorted(labels, key=lambda label: (label.checkpoint, label.made_by))
    if any(label.reason is not None for label in labels):
        return labels
    said: dict[int, set[str | None]] = defaultdict(set)
    for label in labels:
        said[label.checkpoint].add(label.answer)
    apart = ", ".join(str(checkpoint) for checkpoint, answers in said.items() if len(answers) > 1)
    if not apart:
        return drop_unanswerable(asked, labels)
    return [
        replace(label, dropped=f"annotator and verifier disagree at checkpoint {apart}") for label in labels
    ]


@dataclass(frozen=True)
class _AnnotationTask:
    """A question at one checkpoint, with the messages visible there."""

    domain: str
    context: Context
    question: ContextQuestion
    checkpoint: int
    visible: int
    said: str

    def label(self, value: Finding) -> str:
        """Return the number of the chosen option, or `unknown` for a "not enough information" option."""
        if value.choice != UNKNOWN_CHOICE:
            return str(1 + LETTERS.index(value.choice))
        return UNKNOWN if self.question.unknown_option is None else str(self.question.unknown_option)

    def shown(self, label: str) -> str:
        """Return a label as it is written in the verifier's prompt: a letter, or the text for an unknown answer."""
        if label == UNKNOWN:
            return UNKNOWN_CHOICE
        number = int(label) - 1
        return f"{LETTERS[number]}. {self.question.options[number]}"


def _tasks(
    domain: Domain, contexts: Iterable[Context], config: CoMemConfig
) -> Generator[_AnnotationTask, None, None]:
    """Yield every valid question at every checkpoint except 0. The order lets consecutive prompts share a prefix."""
    for context in contexts:
        for checkpoint in range(1, len(config.checkpoints) + 1):
            texts: dict[int, str] = {}
            for asked in context.valid_questions:
                index = visible_counts(context, asked, config)[checkpoint]
                if index not in texts:
                    texts[index] = _visible_text(context, index)
                yield _AnnotationTask(domain.name, context, asked, checkpoint, index, texts[index])


def _visible_text(context: Context, index: int) -> str:
    """Return the first messages of a context that are not quarantined, with speakers and dates, as text."""
    lines, date = [], None
    for line in context.messages[:index]:
        date = line.sent_at or date
        if line.reason is None:
            lines.append((f"{line.speaker or line.role}: {line.text}", date))
    return dated_lines(lines)


async def _rounds(task: _AnnotationTask, annotators: Annotators) -> list[GoldLabel]:
    published = task.question.answer
    if published is None:
        first = await _ask_annotator("annotator", annotators.first, "annotate", task, None)
    else:
        first = await _ask_annotator("annotator", annotators.first, "annotate_told", task, str(published))
    if first.answer is None:
        return [first]
    return [first, await _ask_annotator("verifier", annotators.second, "verify", task, first.answer)]


async def _ask_annotator(
    made_by: str, chat: Chat, stem: str, task: _AnnotationTask, told: str | None
) -> GoldLabel:
    """Return one label, requested from a model. `told` is the published or the other annotator's answer, if any."""
    fields = {
        "said": task.said,
        "question": task.question.question,
        "options": lettered(task.question.options),
    }
    options, language = len(task.question.options), task.context.language
    if told is not None:
        fields["told"] = task.shown(told)
    asking = prompt(stem, narrowed_choice(Finding if told is None else Review, options), language)
    answer = await ask(chat, asking, fields)
    value: Finding | None = answer.value
    return GoldLabel(
        domain=task.domain,
        question_id=task.context.question_id(task.question),
        episode_id=task.context.context_id,
        checkpoint=task.checkpoint,
        made_by=made_by,
        visible=task.visible,
        answer=None if value is None else task.label(value),
        agrees=value.right if isinstance(value, Review) else None,
        why=None if value is None else value.why,
        completion=None if answer.completion is None else answer.completion.digest,
        model=chat.fingerprint,
        reason=answer.reason,
    )


def _require_two_models(domain: Domain, annotators: Annotators) -> None:
    """Raise BadSettings if annotator and verifier are the same model.

    The scripted chat may have both roles, because each round has its own scripted handler.
    """
    first, second = annotators.first, annotators.second
    if first.fingerprint == second.fingerprint and not (first.scripted and second.scripted):
        raise BadSettings(
            f"domain {domain.name}: annotator and verifier are the same model. Set two models that "
            "differ in name, revision, temperature or seed in [roles] of memflow.toml, or "
            "set the domain's parameter keys."
        )
