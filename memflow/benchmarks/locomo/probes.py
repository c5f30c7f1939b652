"""The questions of a conversation as probes, all asked at its end.

The evidence of a probe are the messages that the answer key cites; unknown ids are omitted. The gold answer of an
adversarial question is NOT_MENTIONED.
"""

from collections.abc import Iterator, Mapping

from memflow.benchmarks.locomo.config import LoCoMoConfig
from memflow.benchmarks.locomo.known_errors import has_wrong_gold
from memflow.benchmarks.locomo.load import message_id, question_id
from memflow.benchmarks.locomo.turns import dated_lines
from memflow.benchmarks.memorybench.tasks.locomo import NOT_MENTIONED, Conversation, LocomoQuestion
from memflow.benchmarks.partial import InvalidPart
from memflow.records import Probe

ADVERSARIAL_CATEGORY = 5


def make_probes(
    domain: str, dataset: str, conversation: Conversation, config: LoCoMoConfig
) -> Iterator[Probe]:
    """Yield the probes of a conversation in order. An invalid question is a probe with a reason."""
    options = conversation.options()
    lines = dated_lines(conversation, config)
    metric = config.contracts[0]
    for number, question in enumerate(conversation.questions):
        if isinstance(question, InvalidPart):
            if _is_selected(question, config):
                yield _invalid_probe(domain, dataset, conversation, number, question, metric)
            continue
        is_excluded = config.known_errors == "left_out" and has_wrong_gold(
            question_id(conversation, number), question.question
        )
        if question.category in config.categories and not is_excluded:
            choices = options.get(number, ()) if config.adversarial == "options" else ()
            yield _probe(domain, dataset, conversation, number, question, choices, lines, metric)


def _is_selected(question: InvalidPart, config: LoCoMoConfig) -> bool:
    """Return whether an invalid question belongs to the categories of the domain, or has no valid category."""
    category = question.content.get("category") if isinstance(question.content, Mapping) else None
    return category in config.categories or category not in (1, 2, 3, 4, ADVERSARIAL_CATEGORY)


def _probe(
    domain: str,
    dataset: str,
    conversation: Conversation,
    number: int,
    question: LocomoQuestion,
    options: tuple[str, ...],
    lines: Mapping[str, str],
    metric: str,
) -> Probe:
    if question.category == ADVERSARIAL_CATEGORY:
        evidence: list[str] = []
        gold = gold_context = NOT_MENTIONED
    else:
        evidence = [dia_id for dia_id in question.evidence_ids() if dia_id in lines]
        gold = str(question.answer).strip()
        gold_context = "\n".join(lines[dia_id] for dia_id in evidence) or gold
    return Probe(
        domain=domain,
        probe_id=question_id(conversation, number),
        episode_id=conversation.sample_id,
        checkpoint=0,
        kind="open",
        dataset=dataset,
        category=str(question.category),
        metric=metric,
        question=question.question,
        options=list(options),
        variables=[],
        gold=gold,
        revealed=gold_context,
        evidence=[message_id(conversation, dia_id) for dia_id in evidence],
    )


def _invalid_probe(
    domain: str, dataset: str, conversation: Conversation, number: int, question: InvalidPart, metric: str
) -> Probe:
    return Probe(
        domain=domain,
        probe_id=question_id(conversation, number),
        episode_id=conversation.sample_id,
        checkpoint=0,
        kind="open",
        dataset=dataset,
        metric=metric,
        question="",
        options=[],
        variables=[],
        gold="",
        revealed="",
        evidence=[],
        reason=f"question {number} of {conversation.sample_id}: {question.fault}",
    )
