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
    found: list[tuple[str, Conversation]] = []
    seen: set[str] = set()
    for record in valid_records(records)[: domain.limit or None]:
        conversation = Conversation.read(json.loads(record.content))
        if conversation.sample_id in seen:
            raise BadInput(
                f"domain {domain.name}: the conversation {conversation.sample_id} is in two data sets. Remove one of "
                "the data sets from the domain."
            )
        seen.add(conversation.sample_id)
        found.append((record.dataset, conversation))
    return found


def count_contents(records: Sequence[Record]) -> Contents:
    """Return the numbers of conversations, sessions, messages and questions, and the quarantined questions."""
    talks = [Conversation.read(json.loads(record.content)) for record in valid_records(records)]
    sessions = [session for talk in talks for session in talk.sessions]
    return Contents(
        {
            "conversations": len(records),
            "sessions": len(sessions),
            "messages": sum(len(session.messages) for session in sessions),
            "questions": sum(len(talk.questions) for talk in talks),
        },
        [
            (question_id(talk, number), each.fault)
            for talk in talks
            for number, each in enumerate(talk.questions)
            if isinstance(each, InvalidPart)
        ],
    )


def question_id(talk: Conversation, number: int) -> str:
    """Return the probe id of a question, by its position in the conversation: `conv-26/q0`."""
    return f"{talk.sample_id}/q{number}"


def message_id(talk: Conversation, dia_id: str) -> str:
    """Return the id of a message, such as `conv-26/D1:3`."""
    return f"{talk.sample_id}/{dia_id}"
