"""The transport of memories behind the contract of aml.py: a write is an Add, a read a Search.

The contract has no reset, so each space of memflow is a new user.
"""

import asyncio
from collections.abc import Collection, Mapping
from itertools import pairwise
from secrets import token_hex
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from memflow.errors import ServerDown, ServerFailed
from memflow.memories.server.protocol import Capabilities
from memflow.resources.endpoints.rate_limits import retry_after
from memflow.resources.memory_servers.aml import (
    ADD_REPEATS,
    SEARCH_REPEATS,
    AddAnswer,
    SearchAnswer,
    date_of,
    milliseconds,
)
from memflow.resources.memory_servers.http_transport import HttpTransport
from memflow.resources.memory_servers.transport import (
    InvalidAnswer,
    ServerStopped,
    decode,
    encode,
    shown,
)

A = TypeVar("A", bound=BaseModel)
ATTEMPTS = 8
PAUSE_S, LONGEST_PAUSE_S = 0.5, 60.0
"""Seconds before the first repetition, doubled for each further one, and the most that a server may ask for."""


class AmlTransport(HttpTransport):
    """An endpoint with `/health`, `/add` and `/search`. The time limits are of one attempt, without the pauses."""

    def __init__(self, url: str, key_variable: str = "", setting: str = "`url`") -> None:
        super().__init__(url, key_variable, setting)
        self._users: dict[str, str] = {}

    async def request(self, message: Mapping[str, Any], limit: float) -> Mapping[str, Any]:
        """Return the answer to a message of memflow's protocol. Raises ServerDown, ServerFailed or InvalidAnswer."""
        space = message.get("space", "")
        match message["op"]:
            case "hello":
                can = capabilities(message["settings"], {"dates": True})
                await self._attempts("/health", None, SEARCH_REPEATS, limit)
                return {"name": "aml", "version": "1", "settings": message["settings"], "can": can}
            case "reset":
                self._users[space] = f"memflow-{token_hex(12)}"
            case "close":
                self._users.pop(space, None)
            case "write":
                await self._add(self._users[space], message, limit)
            case "read":
                return {"items": await self._search(self._users[space], message, limit)}
            case operation:
                return {"error": {"code": "unsupported", "message": f"the contract has no {operation}"}}
        return {}

    async def _add(self, user: str, message: Mapping[str, Any], limit: float) -> None:
        name = f"{user}-{message['write']}"
        body = {"request_id": name, "user_id": user, "session_id": name}
        sent = {**body, "messages": [*map(_sent, message["messages"])]}
        answer = _parsed(AddAnswer, "/add", await self._attempts("/add", sent, ADD_REPEATS, limit))
        if answer.model_dump(exclude={"success"}) != body:
            raise InvalidAnswer(
                f"answered /add for the request {answer.request_id!r} of the user {answer.user_id!r}, and not for the "
                "one that was sent"
            )

    async def _search(self, user: str, message: Mapping[str, Any], limit: float) -> list[dict[str, Any]]:
        sent = {"query": message["query"], "user_id": user, "top_k": message["k"]}
        content = await self._attempts("/search", sent, SEARCH_REPEATS, limit)
        memories = _parsed(SearchAnswer, "/search", content).data
        ids = [memory.id for memory in memories]
        if repeated := next((name for name in ids if ids.count(name) > 1), None):
            raise InvalidAnswer(f"answered /search with the memory {repeated!r} twice")
        scores = [memory.score for memory in memories if memory.score is not None]
        if wrong := next((pair for pair in pairwise(scores) if pair[0] < pair[1]), None):
            raise InvalidAnswer(
                f"answered /search with the score {wrong[0]:g} before {wrong[1]:g}, and the best memory has to be first"
            )
        return [
            {
                "id": memory.id,
                "text": memory.content,
                "score": memory.score,
                "sent_at": None if memory.created_at is None else _date(memory.created_at),
            }
            for memory in memories
        ]

    async def _attempts(
        self, path: str, message: Mapping[str, Any] | None, repeats: Collection[int], limit: float
    ) -> bytes:
        """Return the content of a response with status 200; repeat the request as the contract does."""
        content = None if message is None else encode(message)
        for attempt in range(ATTEMPTS):
            asked = 0.0
            try:
                async with asyncio.timeout(limit):
                    status, received, headers = await self._send(content, path)
            except TimeoutError:
                reason = f"did not answer {path} within its time limit of {limit:g} s"
            except ServerStopped as stopped:
                reason = str(stopped)
            else:
                if status == 200:
                    return received
                reason = f"returned HTTP status {status} for {path}: {shown(received)}"
                if status == 202:
                    reason += ". Nothing shows when the session can be found; answer 200 as soon as it can"
                if status not in repeats:
                    raise ServerFailed(reason)
                asked = retry_after(headers)
            if attempt + 1 < ATTEMPTS:
                await asyncio.sleep(min(max(asked, PAUSE_S * 2**attempt), LONGEST_PAUSE_S))
        raise ServerDown(f"{reason}, and so in {ATTEMPTS} attempts")


def capabilities(settings: Mapping[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    """Return the capabilities of a server whose contract has no way to declare them: those of the settings.

    Raises ServerFailed for a setting that is no capability.
    """
    if unknown := sorted(settings.keys() - Capabilities.model_fields.keys()):
        raise ServerFailed(
            f"has the setting {unknown[0]!r} in `settings`, which is no capability. Use "
            f"{', '.join(Capabilities.model_fields)}, or remove it"
        )
    return {**defaults, **settings}


def _sent(message: Mapping[str, Any]) -> dict[str, Any]:
    """Return a message as Add has it. The name of the speaker, and a date that is no moment, are in its text."""
    text, date = message["text"], message.get("sent_at")
    timestamp = None if date is None else milliseconds(date)
    if message.get("speaker"):
        text = f"{message['speaker']}: {text}"
    if date is not None and timestamp is None and date not in text:
        text = f"[{date}] {text}"
    sent = {"role": message["role"], "content": text}
    return sent if timestamp is None else {**sent, "timestamp": timestamp}


def _date(text: str) -> str:
    timestamp = milliseconds(text)
    return text if timestamp is None else date_of(timestamp)


def _parsed(answer: type[A], path: str, content: bytes) -> A:
    try:
        return answer.model_validate(decode(content))
    except ValidationError as wrong:
        first = wrong.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise InvalidAnswer(
            f"answered {path} with an invalid `{place}` ({first['msg']}): {shown(content)}"
        ) from wrong
