"""The questions of a conversation as probes, all asked at its end.

The evidence of a probe are the messages that the answer key cites; unknown ids are omitted. The gold answer of an
adversarial question is NOT_MENTIONED.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from memflow.benchmarks.locomo.config import LoCoMoConfig
from memflow.benchmarks.locomo.known_errors import has_wrong_gold
from memflow.benchmarks.locomo.load import message_id, question_id
from memflow.benchmarks.locomo.turns import dated_lines
from memflow.benchmarks.memorybench.tasks.locomo import NOT_MENTIONED, Conversation
from memflow.benchmarks.partial import InvalidPart
from memflow.records import Probe

ADVERSARIAL_CATEGORY = 5


def make_probes(
    domain: str, dataset: str, conversation: Conversation, config: LoCoMoConfig
) -> Iterator[Probe]:
    """Yield the probes of a conversation in order. An invalid question is a probe with a reason."""
    options = conversation.options() if config.adversarial == "options" else {}
    lines = dated_lines(conversation, config)
    common: dict[str, Any] = {
        "domain": domain,
        "dataset": dataset,
        "episode_id": conversation.sample_id,
        "checkpoint": 0,
        "kind": "open",
        "metric": config.contracts[0],
        "variables": [],
    }
    for number, question in enumerate(conversation.questions):
        probe_id = question_id(conversation, number)
        if isinstance(question, InvalidPart):
            if _is_selected(question, config):
                reason = f"question {number} of {conversation.sample_id}: {question.fault}"
                empty_columns: dict[str, Any] = {
                    "question": "",
                    "options": [],
                    "gold": "",
                    "revealed": "",
                    "evidence": [],
                }
                yield Probe(**common, **empty_columns, probe_id=probe_id, reason=reason)
            continue
        is_excluded = config.known_errors == "left_out" and has_wrong_gold(probe_id, question.question)
        if question.category not in config.categories or is_excluded:
            continue
        evidence: list[str] = []
        gold = NOT_MENTIONED
        if question.category != ADVERSARIAL_CATEGORY:
            evidence = [dia_id for dia_id in question.evidence_ids() if dia_id in lines]
            gold = str(question.answer).strip()
        yield Probe(
            **common,
            probe_id=probe_id,
            category=str(question.category),
            question=question.question,
            options=list(options.get(number, ())),
            gold=gold,
            revealed="\n".join(lines[dia_id] for dia_id in evidence) or gold,
            evidence=[message_id(conversation, dia_id) for dia_id in evidence],
        )


def _is_selected(question: InvalidPart, config: LoCoMoConfig) -> bool:
    """Return whether an invalid question belongs to the categories of the domain, or has no valid category."""
    category = question.content.get("category") if isinstance(question.content, Mapping) else None
    return category in config.categories or category not in (1, 2, 3, 4, ADVERSARIAL_CATEGORY)
