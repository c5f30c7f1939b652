"""Functions that read LoCoMo's file and convert records to conversations. MemoryBench's reader parses the file."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from memflow.benchmarks.datasets import Contents, Dataset
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.memorybench.tasks import locomo
from memflow.benchmarks.memorybench.tasks.locomo import Conversation
from memflow.benchmarks.partial import InvalidPart
from memflow.benchmarks.published_file import records_of, valid_records
from memflow.errors import BadInput
from memflow.records import Record


def read_records(dataset: Dataset, files: Mapping[str, Path]) -> list[Record]:
    """Return one record per conversation. `files` maps paths in the data folder to files. Raises BadInput."""
    return records_of(dataset, files, lambda source: locomo.read)


def load_conversations(domain: Domain, records: Sequence[Record]) -> list[tuple[str, Conversation]]:
    """Return the valid conversations of a domain with the names of their data sets, up to the domain's limit.

    Raises BadInput if two data sets have a conversation with the same id.
    """
    conversations: list[tuple[str, Conversation]] = []
    ids: set[str] = set()
    for record in valid_records(records)[: domain.limit or None]:
        conversation = Conversation.read(json.loads(record.content))
        if conversation.sample_id in ids:
            raise BadInput(
                f"domain {domain.name}: the conversation {conversation.sample_id} is in two data sets. Remove one of "
                "the data sets from the domain."
            )
        ids.add(conversation.sample_id)
        conversations.append((record.dataset, conversation))
    return conversations


def count_contents(records: Sequence[Record]) -> Contents:
    """Return the numbers of conversations, sessions, messages and questions, and the quarantined questions."""
    conversations = [Conversation.read(json.loads(record.content)) for record in valid_records(records)]
    sessions = [session for conversation in conversations for session in conversation.sessions]
    invalid_questions = []
    for conversation in conversations:
        for number, question in enumerate(conversation.questions):
            if isinstance(question, InvalidPart):
                invalid_questions.append((question_id(conversation, number), question.fault))
    return Contents(
        {
            "conversations": len(records),
            "sessions": len(sessions),
            "messages": sum(len(session.messages) for session in sessions),
            "questions": sum(len(conversation.questions) for conversation in conversations),
        },
        invalid_questions,
    )


def question_id(conversation: Conversation, number: int) -> str:
    """Return the probe id of a question, by its position in the conversation: `conv-26/q0`."""
    return f"{conversation.sample_id}/q{number}"


def message_id(conversation: Conversation, dia_id: str) -> str:
    """Return the id of a message, such as `conv-26/D1:3`."""
    return f"{conversation.sample_id}/{dia_id}"
