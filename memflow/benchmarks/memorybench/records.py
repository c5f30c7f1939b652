"""Published files -> raw records: one for each conversation, one for each case.

A file that is not what it should be is refused whole, with a message that says where; nothing is repaired.
"""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from memflow.benchmarks.memorybench.conversations import Case, Conversation
from memflow.datasets import Dataset
from memflow.errors import BadInput
from memflow.records import Record


def read(dataset: Dataset, files: Mapping[str, Path]) -> list[Record]:
    """Every record of `dataset`. `files` are its files by their path in the data folder. Raises BadInput."""
    found: list[Record] = []
    for source, path in files.items():
        content = path.read_bytes()
        try:
            text = content.decode("utf-8")
        except UnicodeDecodeError as wrong:
            raise _bad(dataset, source, f"it is not UTF-8 (byte {wrong.start})") from wrong
        published = _cases if source.endswith(".jsonl") else _conversations
        for record_id, raw in published(dataset, source, text):
            found.append(
                Record(
                    dataset=dataset.name,
                    record_id=record_id,
                    position=len(found),
                    source=source,
                    sha256=hashlib.sha256(content).hexdigest(),
                    licence=dataset.licence,
                    origin=dataset.origin,
                    content=json.dumps(raw, ensure_ascii=False),
                )
            )
    seen: set[str] = set()
    for record in found:
        if record.record_id in seen:
            raise _bad(dataset, record.source, f"the id {record.record_id} is there twice")
        seen.add(record.record_id)
    return found


def _conversations(dataset: Dataset, source: str, text: str) -> list[tuple[str, dict[str, Any]]]:
    try:
        published = json.loads(text)
    except json.JSONDecodeError as wrong:
        raise _bad(dataset, source, f"it is cut off or not JSON ({wrong})") from wrong
    if not isinstance(published, list) or not published:
        raise _bad(dataset, source, "it is not a list of LoCoMo conversations")
    found = []
    for place, raw in enumerate(published):
        name = raw.get("sample_id", f"number {place}") if isinstance(raw, dict) else f"number {place}"
        where = f"conversation {name}"
        if not isinstance(raw, dict):
            raise _bad(dataset, source, f"{where} is not an object")
        try:
            conversation = Conversation.read(raw)
        except KeyError as wrong:
            raise _bad(dataset, source, f"{where} has no {wrong.args[0]}") from wrong
        except ValidationError as wrong:
            raise _bad(dataset, source, f"{where}: {_first(wrong)}") from wrong
        except TypeError as wrong:
            raise _bad(dataset, source, f"{where} is not of LoCoMo's shape ({wrong})") from wrong
        _check_messages(dataset, source, where, conversation)
        found.append((conversation.sample_id, raw))
    return found


def _check_messages(dataset: Dataset, source: str, where: str, conversation: Conversation) -> None:
    seen: set[str] = set()
    for session in conversation.sessions:
        for message in session.messages:
            if message.dia_id in seen:
                raise _bad(dataset, source, f"{where}: the message {message.dia_id} is there twice")
            if message.speaker not in (conversation.speaker_a, conversation.speaker_b):
                raise _bad(
                    dataset,
                    source,
                    f"{where}: {message.dia_id} is said by {message.speaker}, no speaker of it",
                )
            seen.add(message.dia_id)


def _cases(dataset: Dataset, source: str, text: str) -> list[tuple[str, dict[str, Any]]]:
    found = []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            raw = json.loads(line)
            case = Case.model_validate(raw)
        except json.JSONDecodeError as wrong:
            raise _bad(dataset, source, f"line {number} is cut off or not JSON ({wrong})") from wrong
        except ValidationError as wrong:
            raise _bad(dataset, source, f"line {number}: {_first(wrong)}") from wrong
        found.append((case, raw))
    rules = {case.case_id for case, _ in found if case.split == "train" and case.rule}
    for case, _ in found:
        for needed in case.rests_on:
            if needed not in rules:
                raise _bad(
                    dataset, source, f"case {case.case_id} rests on {needed}, no training case with a rule"
                )
        if case.split == "train" and not case.rule:
            raise _bad(dataset, source, f"training case {case.case_id} has no rule for its user to give")
    return [(case.case_id, raw) for case, raw in found]


def _first(wrong: ValidationError) -> str:
    error = wrong.errors(include_url=False, include_input=False)[0]
    return f"at {'.'.join(str(part) for part in error['loc']) or 'the whole'}: {error['msg']}"


def _bad(dataset: Dataset, source: str, what: str) -> BadInput:
    mend = "reinstall memflow" if dataset.ships else f"get the file again: {dataset.how}"
    return BadInput(f"{dataset.name}: {source}: {what}; {mend}")
