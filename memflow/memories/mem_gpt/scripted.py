"""The scripted chat's handlers for MemGPT: they save what users state, and search for the question."""

import re
from typing import Any

from memflow.chat.requests import ChatRequest
from memflow.chat.scripted import Handler
from memflow.memories.mem_gpt.answers import (
    Acts,
    AnySearchCall,
    AnyWriteCall,
    ArchivalInsert,
    ArchivalSearch,
    RecallSearch,
    Saves,
    Searches,
    Summary,
    WorkingAppend,
    WorkingReplace,
)
from memflow.memories.mem_gpt.context import NOTHING
from memflow.memories.script_helpers import statements, subject, word_overlap
from memflow.tokens import estimate

MAX_SAVES = 4  # calls in one answer
_NUMBERED = re.compile(r"^(\d{1,4})\. (.*)$", re.MULTILINE)


def _lines(part: str) -> dict[int, str]:
    return {int(number): text for number, text in _NUMBERED.findall(part)}


def _stated(request: ChatRequest) -> list[tuple[int, str]]:
    """Return the users' statements in the main context, with the numbers of their messages."""
    return [
        (number, sentence[:200])
        for number, line in _lines(request.fields["messages"]).items()
        if not re.match(r"(\[[^\]]*\] )?assistant:", line)
        for sentence in statements(line)
    ]


def _save(request: ChatRequest) -> Saves:
    """Return up to MAX_SAVES calls that replace the line on a subject, add one, or archive what exceeds the tokens."""
    lines = _lines(request.fields["human"])
    line_by_subject = {subject(text): (line_number, text) for line_number, text in lines.items()}
    free_tokens = int(request.fields["room"])
    calls: dict[str, AnyWriteCall] = {}
    for message_number, text in _stated(request):
        topic = subject(text)
        line_number, old_text = line_by_subject.get(topic, (0, ""))
        remaining_tokens = free_tokens + estimate(old_text) - estimate(text)
        if old_text == text or topic in calls:
            continue
        if remaining_tokens < 0:
            calls[topic] = _insert(text, message_number)
            continue
        free_tokens = remaining_tokens
        arguments: dict[str, Any] = {"text": text, "rests_on": [message_number], "request_heartbeat": False}
        if line_number:
            calls[topic] = WorkingReplace(function="working_replace", line=line_number, **arguments)
        else:
            calls[topic] = WorkingAppend(function="working_append", section="human", **arguments)
    return Saves(calls=[*calls.values()][:MAX_SAVES])


def _insert(text: str, number: int) -> ArchivalInsert:
    return ArchivalInsert(function="archival_insert", text=text, rests_on=[number], request_heartbeat=False)


def _searches(request: ChatRequest) -> list[AnySearchCall]:
    """Return searches of both stores for the first 120 characters of the question; empty for a blank question."""
    query = request.fields["question"].strip()[:120]
    if not query.strip():
        return []
    return [
        RecallSearch(function="recall_search", query=query, page=1, request_heartbeat=False),
        ArchivalSearch(function="archival_search", query=query, page=1, request_heartbeat=False),
    ]


def _act(request: ChatRequest) -> Acts:
    """Return function calls that search, and that archive a statement that shares words with the question."""
    question = request.fields["question"]
    related = [(number, text) for number, text in _stated(request) if word_overlap(text, question) > 0]
    inserts = [_insert(text, number) for number, text in related[:1]]
    return Acts(calls=[*_searches(request), *inserts])


def _summarise(request: ChatRequest) -> Summary:
    parts = (request.fields["summary"], request.fields["messages"])
    sentences = " ".join(sentence for part in parts if part != NOTHING for sentence in statements(part))
    return Summary(summary=sentences[-400:].strip() or "Nothing was stated.")


HANDLERS: dict[str, Handler] = {
    "mem_gpt/act": _act,
    "mem_gpt/save": _save,
    "mem_gpt/search": lambda request: Searches(calls=_searches(request)),
    "mem_gpt/summarise": _summarise,
}
