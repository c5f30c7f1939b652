"""Reading of BEAM's conversations: rows of Parquet and of JSON Lines, and the folders of a checkout (`chats/SIZE/ID`).

A conversation is a record, with its questions. In a checkout it can have two texts, which are two records; rows have
the full text.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from memflow.benchmarks.beam.config import parse_config
from memflow.benchmarks.beam.conversations import BeamConversation, read_conversation, read_questions
from memflow.benchmarks.datasets import Contents, Dataset
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.published_file import File, add_records, require_valid, valid_records
from memflow.benchmarks.raw_records import RawRecord, RecordFault, parse_records
from memflow.errors import BadInput
from memflow.records import Record

_QUESTIONS, _FULL, _TRUNCATED = "probing_questions.json", "chat.json", "chat_trunecated.json"
_PLAN = re.compile(r"plan-\d+")
TRUNCATED_RECORD = "/truncated"
"""The end of the record id of a truncated text."""
Folder = dict[str, tuple[str, Path]]
"""The files of a conversation in a checkout, by name; those of a plan as `plan-N`."""


def read_records(dataset: Dataset, files: Mapping[str, Path]) -> list[Record]:
    """Return one record per conversation and text. `files` maps paths in the data folder to files. Raises BadInput."""
    found: list[Record] = []
    seen: set[str] = set()
    file = File(dataset, next(iter(files), ""), b"")
    folders: dict[str, Folder] = {}
    for source, path in files.items():
        if source.endswith((".parquet", ".jsonl")):
            with path.open("rb") as stream:
                file = File(dataset, source, b"", hashlib.file_digest(stream, "sha256").hexdigest())
            is_parquet = source.endswith(".parquet")
            rows = file.parquet_rows(_columns, path=path, batch=1) if is_parquet else _json_lines(path)
            add_records(file, parse_records(rows, _parse), found, seen, ascii_only=True)
        else:
            _add_file(folders, source, path)
    for name, folder in sorted(folders.items(), key=lambda item: (len(item[0]), item[0])):
        for source, raw in _of_folder(dataset, name, folder):
            path = folder[source][1]
            file = File(dataset, folder[source][0], b"", hashlib.sha256(path.read_bytes()).hexdigest())
            add_records(file, parse_records([raw], _parse), found, seen, ascii_only=True)
    if found:
        require_valid(file, found, fewest=1)
    return found


def _parse(content: Any) -> tuple[str, Any]:
    if not isinstance(content, Mapping) or content.get("conversation_id") in (None, ""):
        raise RecordFault("at conversation_id: the conversation has no id. Add one that no other has.")
    chat = content.get("chat")
    if not chat and content.get("plans"):
        plans = content["plans"]
        chat = [{f"plan-{number}": plan.get("chat") or []} for number, plan in enumerate(plans, 1)]
    truncated = bool(content.get("truncated"))
    name = str(content["conversation_id"])
    kept = {
        "conversation_id": name,
        "truncated": truncated,
        "in_plans": bool(content.get("in_plans")),
        "left_out": content.get("left_out") or [],
        "chat": chat,
        "probing_questions": content.get("probing_questions"),
    }
    read_conversation(kept)
    return f"{name}{TRUNCATED_RECORD if truncated else ''}", kept


def _json_lines(path: Path) -> Iterator[RawRecord]:
    """Yield the lines of a file, one at a time: a line of 10M tokens has 98 MB."""
    with path.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            if line.strip():
                try:
                    yield RawRecord(f"line {number}", json.loads(line.decode("utf-8-sig")))
                except (ValueError, RecursionError) as wrong:
                    fault = f"the line is truncated or invalid JSON ({wrong})"
                    yield RawRecord(f"line {number}", "", fault=fault)


def _columns(names: Sequence[str]) -> Sequence[str]:
    """Return the columns to read. The plans of a conversation of 10M tokens have its chat a second time."""
    chat = "plans" if "plans" in names and "chat" not in names else "chat"
    return ("conversation_id", chat, "probing_questions")


def _add_file(folders: dict[str, Folder], source: str, path: Path) -> None:
    """Add a file of a checkout to its conversation. Authoring material is left out."""
    location = PurePosixPath(source)
    parent = location.parent
    if location.name == _QUESTIONS:
        parent = parent.parent if parent.name == "probing_questions" else parent
        folders.setdefault(str(parent), {})[_QUESTIONS] = source, path
    elif location.name in (_FULL, _TRUNCATED):
        if _PLAN.fullmatch(parent.name):
            folders.setdefault(str(parent.parent), {}).setdefault(parent.name, (source, path))
        else:
            folders.setdefault(str(parent), {})[location.name] = source, path


def _of_folder(dataset: Dataset, name: str, folder: Folder) -> Iterator[tuple[str, RawRecord]]:
    """Yield the records of a conversation, each with its main file; one with a fault if a part is missing."""
    conversation = PurePosixPath(name).name

    def whole(file: str) -> RawRecord:
        source, path = folder[file]
        return File(dataset, source, path.read_bytes()).whole("")

    texts = [text for text in (_FULL, _TRUNCATED) if text in folder]
    # Numbers of messages go on from plan to plan, so those after a missing plan are not known.
    given = {file for file in folder if _PLAN.fullmatch(file)}
    plans = [plan for plan in given if {f"plan-{number}" for number in range(int(plan[5:]))} <= given]
    plans.sort(key=lambda plan: int(plan[5:]))
    main = next(iter(texts), next(iter(plans), _QUESTIONS))
    where = f"conversation {conversation}"
    if _QUESTIONS not in folder or not (texts or plans):
        lacking = f"{_FULL}, {_TRUNCATED} and plan-0/{_FULL}" if _QUESTIONS in folder else _QUESTIONS
        kept: dict[str, Any] = {"conversation_id": conversation}
        if _QUESTIONS in folder:
            kept["probing_questions"] = whole(_QUESTIONS).content
        yield main, RawRecord(where, kept, conversation, f"its folder lacks {lacking}")
        return
    questions = whole(_QUESTIONS)
    for text in texts or [main]:
        parts = [whole(file) for file in ([text] if texts else plans)]
        kept = {
            "conversation_id": conversation,
            "truncated": text == _TRUNCATED,
            "in_plans": not texts,
            "left_out": [] if texts else sorted(given - {*plans}),
            "chat": parts[0].content if texts else dict_per_plan(plans, parts),
            "probing_questions": questions.content,
        }
        record_id = conversation + (TRUNCATED_RECORD if text == _TRUNCATED else "")
        fault = next((part.fault for part in (questions, *parts) if part.fault), None)
        yield text, RawRecord(where, kept, record_id, fault)


def dict_per_plan(plans: Sequence[str], parts: Sequence[RawRecord]) -> list[dict[str, Any]]:
    """Return a dict {plan: chat} per plan folder, the form of a conversation of 10M tokens."""
    return [{plan: part.content} for plan, part in zip(plans, parts, strict=True)]


def chosen_records(domain: Domain, records: Iterable[Record]) -> list[Record]:
    """Return the valid record of each conversation in the text that the domain plays, without its limit."""
    wants_truncated = parse_config(domain).text == "truncated"
    chosen: dict[tuple[str, str], Record] = {}
    for record in valid_records(records):
        key = record.dataset, record.record_id.removesuffix(TRUNCATED_RECORD)
        is_truncated = record.record_id.endswith(TRUNCATED_RECORD)
        if key not in chosen or is_truncated == wants_truncated:
            chosen[key] = record
    return list(chosen.values())


def load_conversations(
    domain: Domain, records: Sequence[Record]
) -> Iterator[tuple[str, str, BeamConversation]]:
    """Yield the name of the data set, the episode and the conversation, one at a time, up to the domain's limit.

    Raises BadInput if the domain has two data sets with the same conversation.
    """
    datasets: dict[str, str] = {}
    for record in chosen_records(domain, records)[: domain.limit or None]:
        conversation = read_conversation(json.loads(record.content))
        episode = f"{record.dataset.removeprefix('beam_')}/{conversation.name}"
        if episode in datasets:
            raise BadInput(
                f"domain {domain.name}: the data sets {datasets[episode]} and {record.dataset} both have the "
                f"conversation {episode}. Remove one of them from `datasets`."
            )
        datasets[episode] = record.dataset
        yield record.dataset, episode, conversation


def count_contents(records: Sequence[Record]) -> Contents:
    """Return the numbers of conversations, batches, exchanges, messages and questions, and the damaged parts.

    Each conversation counts once; batches to messages are those of the truncated text where there is one, which the
    published loader reads. The questions of a conversation without a chat count, too.
    """
    counts = dict.fromkeys(("conversations", "batches", "exchanges", "messages", "questions"), 0)
    quarantined: list[tuple[str, str]] = []
    by_name: dict[str, Record] = {}
    for record in records:
        name = record.record_id.removesuffix(TRUNCATED_RECORD)
        if name not in by_name or record.record_id.endswith(TRUNCATED_RECORD):
            by_name[name] = record
    for name, record in by_name.items():
        counts["conversations"] += 1
        content = json.loads(record.content)
        if record.reason is not None:
            counts["questions"] += _count_questions(content)
            continue
        conversation = read_conversation(content)
        turns = [turn for batch in conversation.batches for turn in batch.exchanges]
        counts["batches"] += len(conversation.batches)
        counts["exchanges"] += len(turns)
        counts["messages"] += sum(map(len, turns))
        counts["questions"] += len(conversation.questions)
        quarantined += [(f"{name}, {place}", fault) for place, fault in conversation.faults]
    return Contents(counts, quarantined)


def _count_questions(content: Any) -> int:
    try:
        return len(read_questions(content["probing_questions"]))
    except (RecordFault, KeyError, TypeError):
        return 0
