"""The base class of a memory server, and the answer to one request of memflow's protocol, version 1."""

import os
import re
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

PROTOCOL = 1
OPTIONAL = ("export", "fork", "restore", "forget")
"""Optional operations. Each is declared by the capability of its name."""
_SECRET = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD)$")


class Failed(Exception):
    """A request that failed for a known reason.

    `again` asks memflow to repeat the request after a pause. A write that may be stored already must not be repeated.
    """

    def __init__(self, message: str, *, code: str = "failed", again: bool = False) -> None:
        super().__init__(message)
        self.code, self.again = code, again


class Unsupported(Failed):
    """An operation that the server does not have."""

    def __init__(self) -> None:
        super().__init__("this server does not support the operation", code="unsupported")


@dataclass(frozen=True)
class Message:
    """A message of a dialogue. `sent_at` is a date in ISO format, if the dialogue has dates."""

    id: str
    role: str
    text: str
    speaker: str | None = None
    sent_at: str | None = None

    @property
    def line(self) -> str:
        """The message as one text, with its date and speaker: for services that have no field for them."""
        date = f"[{self.sent_at}] " if self.sent_at else ""
        return f"{date}{self.speaker or self.role}: {self.text}"


@dataclass(frozen=True)
class ForgetRequest:
    """What a user takes back: messages by their ids, or all that contains the words of a text."""

    message_ids: tuple[str, ...] = ()
    text: str = ""

    def names(self, text: str, sources: Sequence[str]) -> bool:
        """Return whether the request names an item. Words in scripts without spaces are found inside others."""
        lower, wanted = text.lower(), re.findall(r"\w+", self.text.lower())
        words = re.findall(r"\w+", lower)
        has_words = all(word in words or (not word.isascii() and word in lower) for word in wanted)
        return not set(self.message_ids).isdisjoint(sources) or (bool(wanted) and has_words)

    def delete_from(self, items: Sequence[Mapping[str, Any]], delete: Callable[[str], Any]) -> None:
        """Delete the exported items that the request names, each by its id."""
        for each in items:
            if self.names(each["text"], each["sources"]):
                delete(each["id"])


def item(
    id: object,
    text: str,
    *,
    score: float | None = None,
    sources: Sequence[object] = (),
    sent_at: str | None = None,
    kind: str = "memory",
) -> dict[str, Any]:
    """Return a remembered item. `sources` are ids of messages, or numbers of writes, as the capability declares."""
    found: dict[str, Any] = {
        "id": str(id),
        "text": text,
        "sources": [str(one) for one in sources],
        "kind": kind,
    }
    return found | {
        key: value for key, value in (("score", score), ("sent_at", sent_at)) if value is not None
    }


class MemoryServer:
    """A memory that memflow uses through a server. Subclasses implement `reset`, `write` and `read`."""

    name: ClassVar[str] = "memory"
    workers: ClassVar[int] = 1
    """The maximum number of requests processed concurrently. Requests of one space are processed in order."""

    def version(self) -> str:
        """Return the version of the memory, such as that of the library. It is part of the assistant's fingerprint."""
        return "1"

    def can(self) -> Mapping[str, Any]:
        """Return the capabilities, as in memflow's `Capabilities`. It is requested after `hello`."""
        return {}

    def settings(self) -> Mapping[str, Any]:
        """Return the settings that change what is remembered. They must contain no secret."""
        return {}

    def configure(self, settings: Mapping[str, Any]) -> None:
        """Use the settings of memflow.toml: they replace the options of the command line, by the same names."""
        for name, value in settings.items():
            if not hasattr(getattr(self, "options", None), name):
                raise Failed(f"{self.name} has no setting {name!r}", code="settings")
            setattr(self.options, name, value)  # type: ignore[attr-defined]

    def hello(self, endpoints: Mapping[str, Mapping[str, str]], seed: int) -> None:
        """Prepare the memory. `endpoints` has `chat` and `embed` (`url`, `model`, `key`) if models are given."""

    def reset(self, space: str) -> None:
        """Empty a space, or create it."""
        raise Unsupported

    def write(
        self, space: str, number: int, messages: Sequence[Message]
    ) -> Sequence[Mapping[str, Any]] | None:
        """Store messages and return when `read` finds them. Failures of single messages are `{why, sources}`."""
        raise Unsupported

    def read(
        self, space: str, query: str, k: int, asked_at: str | None, as_of: int | None
    ) -> Sequence[Mapping[str, Any]] | str:
        """Return at most `k` items, best first, or one text if the memory returns no items."""
        raise Unsupported

    def export(self, space: str) -> Sequence[Mapping[str, Any]]:
        """Return all items of a space."""
        raise Unsupported

    def forget(self, space: str, request: ForgetRequest) -> None:
        """Delete what a request names. A period comes as its messages."""
        raise Unsupported

    def fork(self, space: str, to: str) -> None:
        """Copy a space."""
        raise Unsupported

    def restore(self, space: str, items: Sequence[Mapping[str, Any]]) -> None:
        """Fill an empty space with exported items, without a model."""
        raise Unsupported

    def close(self, space: str) -> None:
        """Delete a space that is not used any more."""
        self.reset(space)

    def shutdown(self) -> None:
        """Release resources when the server ends."""


def answer(server: MemoryServer, request: Any) -> dict[str, Any]:
    """Return the answer to one request. An exception becomes an error in the answer, and is logged to stderr."""
    number = request.get("n") if isinstance(request, dict) else None
    try:
        return {"n": number, **_answer(server, request)}
    except Failed as error:
        code, message, again = error.code, str(error), error.again
    except Exception as error:  # noqa: BLE001 - a server must survive every failure of its library
        traceback.print_exc(file=sys.stderr)
        code, message = "failed", f"{type(error).__name__}: {error}"
        # Only a read has the same effect twice; a write may have stored some of its messages.
        again = request.get("op") != "write" and isinstance(error, ConnectionError | TimeoutError)
    return {"n": number, "error": {"code": code, "message": mask(message)[:2000], "again": again}}


def mask(text: str) -> str:
    """Replace the values of environment variables that name a secret, because errors of services repeat keys."""
    for name, value in os.environ.items():
        if _SECRET.search(name.upper()) and len(value) >= 8:
            text = text.replace(value, f"<{name}>")
    return text


def _answer(server: MemoryServer, request: Any) -> dict[str, Any]:
    if not isinstance(request, dict):
        raise Failed("a request is a JSON object", code="bad_request")
    op = request.get("op")
    if op == "hello":
        return _hello(server, request)
    if op not in ("reset", "write", "read", "close", *OPTIONAL):
        raise Failed(f"unknown operation {op!r}", code="unknown_op")
    try:
        return _operate(server, op, request)
    except KeyError as error:
        if error.args and error.args[0] in ("space", "write", "messages", "query", "to", "items"):
            raise Failed(f"the request {op!r} lacks {error}", code="bad_request") from error
        raise


def _hello(server: MemoryServer, request: Mapping[str, Any]) -> dict[str, Any]:
    if request.get("protocol", PROTOCOL) != PROTOCOL:
        raise Failed(f"protocol {request['protocol']} is not supported, only {PROTOCOL}", code="protocol")
    server.configure(request.get("settings") or {})
    given = request.get("endpoints") or {}
    server.hello({use: each for use, each in given.items() if each}, int(request.get("seed") or 0))
    can = dict(server.can())
    for op in OPTIONAL:
        if can.get(op) not in (None, False, "none", []) and getattr(type(server), op) is getattr(
            MemoryServer, op
        ):
            raise Failed(f"{server.name} declares {op} but has no method {op}", code="capabilities")
    return {"name": server.name, "version": server.version(), "settings": dict(server.settings()), "can": can}


def _operate(server: MemoryServer, op: str, request: Mapping[str, Any]) -> dict[str, Any]:
    space = request["space"]
    if not isinstance(space, str) or not space:
        raise Failed("`space` is a text that is not empty", code="bad_request")
    match op:
        case "write":
            fields = Message.__dataclass_fields__
            messages = [
                Message(**{key: value for key, value in each.items() if key in fields})
                for each in request["messages"]
            ]
            return {"failures": list(server.write(space, int(request["write"]), messages) or ())}
        case "read":
            if not request["query"].strip():  # services refuse it, and nothing matches it
                return {"items": []}
            k = int(request.get("k") or 10)
            found = server.read(space, request["query"], k, request.get("asked_at"), request.get("as_of"))
            return {"notes": found} if isinstance(found, str) else {"items": list(found)[:k]}
        case "export":
            return {"items": list(server.export(space))}
        case "forget":
            server.forget(
                space, ForgetRequest(tuple(request.get("message_ids", ())), request.get("text", ""))
            )
        case "fork":
            server.fork(space, request["to"])
        case "restore":
            server.restore(space, request["items"])
        case _:
            getattr(server, op)(space)
    return {}
