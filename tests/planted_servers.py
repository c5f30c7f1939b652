"""A memory server in this process with one planted fault, or with an unusual and healthy design."""

import asyncio
import itertools
import random
import re
import time
from collections.abc import Callable, Mapping
from typing import Any

from memflow.resources.memory_servers.connection import ServerConnection
from memflow.resources.memory_servers.transport import InvalidAnswer, ServerStopped, Transport
from memflow.resources.settings.own_sections import ServerTimeLimits

CAN = {
    "as_of": "writes",
    "export": "live",
    "sources": "message",
    "dates": True,
    "models": "none",
    "deterministic": True,
}
DROPS: Mapping[str, Callable[[str], bool]] = {
    "drops_long": lambda text: len(text) > 1000,
    "drops_short": lambda text: len(text) < 20,
    "drops_cyrillic": lambda text: bool(re.search("[а-я]", text)),
    "drops_digits": lambda text: bool(re.search(r"\d", text)),
    "drops_code": lambda text: "```" in text,
}
DEAF: Mapping[str, Callable[[str], bool]] = {
    "deaf_long": lambda query: len(query.split()) > 12,
    "deaf_scripts": lambda query: not query.isascii(),
    "deaf_cyrillic": lambda query: bool(re.search("[а-я]", query)),
    "deaf_digits": lambda query: bool(re.search(r"\d", query)),
    "deaf_questions": lambda query: query.endswith("?"),
}
CHANGES: Mapping[str, Callable[[str], str]] = {
    "cut_160": lambda text: text[:160],
    "cut_1000": lambda text: text[:1000],
    "lower_case": str.lower,
    "digits_removed": lambda text: re.sub(r"\d", "", text),
    "one_line": lambda text: " ".join(text.split()),
    "nul_removed": lambda text: text.replace("\0", ""),
    "accents_removed": lambda text: text.translate(str.maketrans("éèàë", "eeae")),
}
LAST_WRITE = {"drops_after_20": 20, "drops_after_50": 50}
WINDOWS = {"keeps_20": 20, "keeps_60": 60}
CAPS = {"cap_3": 3, "cap_10": 10, "cap_50": 50}
LIMITS = ServerTimeLimits(hello=20, read=2, write=2)
Object = dict[str, Any]


class PlantedServer(Transport):
    """A list of messages per space, found by common words. `fault` is the one behavior that differs."""

    setting = "`command` of [memories.planted]"
    outlives_run = False

    def __init__(self, fault: str = "", can: Mapping[str, Any] | None = None) -> None:
        super().__init__()
        self.fault = fault
        self.can = {**CAN, **(can or {})}
        self.spaces: dict[str, list[Object]] = {}
        self.writes: dict[str, int] = {}
        self.cache: dict[tuple[str, str], list[Object]] = {}
        self.known_ids = set[str]()
        self.numbers = itertools.count(1)
        self.random = random.Random(1)
        self.starts = 0

    # The transport

    async def start(self) -> None:
        """Start with no spaces, as after a crash."""
        self.starts += 1
        self.spaces, self.is_killed = {}, False

    async def exchange(self, message: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the answer to a message."""
        self.latest = message
        await asyncio.sleep(0)
        if self.fault == "mixed_reads" and message["op"] == self.latest["op"] == "read":
            message = self.latest
        if self.is_killed:
            raise ServerStopped("was killed")
        answer: Mapping[str, Any] = getattr(self, message["op"])(message)
        return answer

    async def stop(self) -> None:
        """Do nothing."""

    async def kill(self) -> str:
        """Lose everything."""
        self.is_killed = True
        return ""

    # The server

    def hello(self, request: Mapping[str, Any]) -> Object:
        return {"name": "planted", "version": "1", "can": self.can}

    def reset(self, request: Mapping[str, Any]) -> Object:
        limit = self.can.get("spaces") or len(self.spaces) + 1
        if request["space"] not in self.spaces and len(self.spaces) >= limit:
            return {"error": {"code": "spaces", "message": f"there are {limit} spaces"}}
        self.spaces[request["space"]] = []
        self.writes[request["space"]] = 0
        return {}

    def close(self, request: Mapping[str, Any]) -> Object:
        self.spaces.pop(request["space"], None)
        return {}

    def write(self, request: Mapping[str, Any]) -> Object:
        space = request["space"]
        number = self.writes[space] = self.writes.get(space, 0) + 1
        if self.fault == "writes_fail_on_digits" and any(
            _has_digit(each["text"]) for each in request["messages"]
        ):
            return {"failures": [{"why": "cannot parse a number", "sources": []}]}
        is_lost = self.fault == "lost_after_restart" and self.starts > 1
        if is_lost or number > LAST_WRITE.get(self.fault, number):
            return {}
        items = self.spaces[space]
        for message in request["messages"]:
            if not self.is_dropped(message, items):
                items.append(self.item(message, request["write"], items))
        self.keep(items)
        return {}

    def item(self, message: Mapping[str, Any], write: int, items: list[Object]) -> Object:
        """Return a message as it is stored."""
        text = CHANGES.get(self.fault, str)(message["text"])
        sources = {"no_sources": [], "strange_sources": [f"item-{len(items)}"]}.get(
            self.fault, [message["id"]]
        )
        if self.fault in ("wrong_sources", "wide_sources") and items:
            sources = items[-1]["sources"] + sources * (self.fault == "wide_sources")
        days = {"wrong_dates": "2026-01-01", "dates_dropped": None}
        return {
            "id": f"{message['id']}.{len(items)}",
            "text": text,
            "sources": sources,
            "sent_at": days.get(self.fault, message.get("sent_at")),
            "since": write,
            "indexed": time.monotonic() + 0.1,
            "words": words_of(text),
        }

    def forget(self, request: Mapping[str, Any]) -> Object:
        space, ids = request["space"], request.get("message_ids", [])
        self.writes[space] += 1
        words = words_of(request.get("text", ""))
        days = (request.get("since", ""), request.get("until", "9999"))
        ended = 0
        for item in self.spaces[space]:
            named = {
                "message": not {*ids}.isdisjoint(item["sources"]),
                "text": words <= item["words"],
                "time": days[0] <= (item["sent_at"] or "")[:10] <= days[1],
            }[request["by"]]
            ends = (named or self.fault == "forgets_all") and self.fault != "forgets_nothing"
            if ends and "until" not in item:
                item["until"] = 0 if self.fault == "forgets_the_past" else request["write"]
                ended += 1
        if self.fault == "refuses_unknown" and not ended:
            return {"failures": [{"why": "not found", "sources": []}]}
        return {}

    def keep(self, items: list[Object]) -> None:
        """Keep what the fault or the design keeps."""
        design = self.can.get("design", {})
        window = WINDOWS.get(self.fault) or design.get("window")
        if window:
            del items[:-window]
        if self.fault == "last_session":
            items[:] = [item for item in items if item["sent_at"] == items[-1]["sent_at"]]
        if items and (design.get("merges") or self.fault == "merges"):
            words = set().union(*(item["words"] for item in items))
            text = " ".join(sorted(words)[:40])
            items[:] = [{**items[-1], "id": "summary", "text": text, "sources": [], "words": words_of(text)}]

    def is_dropped(self, message: Mapping[str, Any], items: list[Object]) -> bool:
        """Return whether a message is not stored."""
        if message["role"] not in self.can.get("design", {}).get("roles", ["user", "assistant"]):
            return True
        if self.fault == "one_role":
            return message["role"] == "assistant"
        if self.fault == "ids_reused":
            is_known = message["id"] in self.known_ids
            self.known_ids.add(message["id"])
            return is_known
        if self.fault == "dedup":
            words = words_of(message["text"])
            return len(words) > 10 and any(
                len(words & item["words"]) > 0.85 * len(words | item["words"]) for item in items
            )
        return self.fault in DROPS and DROPS[self.fault](message["text"])

    def read(self, request: Mapping[str, Any]) -> Object:
        query, k, space = request["query"], request["k"], request["space"]
        if self.fault == "error_on_digits" and _has_digit(query):
            return {"error": {"code": "parse", "message": "a number in the query"}}
        number = next(self.numbers)
        if self.fault == "bad_gateway" and number % 40 == 0:
            raise InvalidAnswer("wrote text that is not JSON: '<html>502 Bad Gateway</html>'")
        is_deaf = self.fault in DEAF and DEAF[self.fault](query)
        if is_deaf or (self.fault == "empty_failures" and number % 7 == 0):
            return {"items": []}
        if self.fault == "cache" and (space, query) in self.cache:
            return {"items": self.cache[space, query][:k]}
        found = self.ranked(query, self.known(request))[: self.limit(k)]
        if self.fault == "reversed":
            found.reverse()
        if self.fault == "random":
            self.random.shuffle(found)
        if self.fault == "shuffled_sources":
            found = [{**item, "sources": found[at - 1]["sources"]} for at, item in enumerate(found)]
        self.cache[space, query] = [_sent(item) for item in found]
        return {"items": self.cache[space, query]}

    def known(self, request: Mapping[str, Any]) -> list[Object]:
        """Return the items that a read may find."""
        items = self.spaces[request["space"]]
        if self.fault == "leaks_rarely" and "station" in request["query"]:
            items = [item for others in self.spaces.values() for item in others]
        if "as_of" in request and self.fault != "ignores_as_of":
            last = request["as_of"] + (self.fault == "as_of_one_later")
            items = [item for item in items if item["since"] <= last < item.get("until", last + 1)]
        else:
            items = [item for item in items if "until" not in item]
        return [item for item in items if self.fault != "lazy" or item["indexed"] <= time.monotonic()]

    def limit(self, k: int) -> int:
        """Return how many items are returned."""
        return min(k, CAPS.get(self.fault, self.can.get("design", {}).get("max_items") or k))

    def ranked(self, query: str, items: list[Object]) -> list[Object]:
        """Return the items that have words of the query, best first."""
        wanted = words_of(query)
        scored = [(len(wanted & item["words"]), item) for item in items]
        if self.fault in ("newest", "newest_unranked"):
            return items[::-1]
        low = 0.0
        if self.fault == "threshold" or self.can.get("design", {}).get("threshold"):
            low = 0.7 * len(wanted)
        best = [(score, item) for score, item in scored if score > low]
        worst_first = self.fault == "worst_first"
        return [item for _, item in sorted(best, key=lambda pair: pair[0] if worst_first else -pair[0])]

    def export(self, request: Mapping[str, Any]) -> Object:
        keeps = self.fault == "export_keeps"
        items = [item for item in self.spaces[request["space"]] if keeps or "until" not in item]
        return {"items": [{**_sent(item), **({"until": None} if keeps else {})} for item in items]}


def planted(fault: str = "", can: Mapping[str, Any] | None = None) -> ServerConnection:
    """Return a connection to a server with a fault."""
    return ServerConnection("planted", PlantedServer(fault, can), LIMITS)


def words_of(text: str) -> set[str]:
    """Return the words of a text."""
    return set(re.findall(r"\w+", text.lower()))


def _has_digit(text: str) -> bool:
    return bool(re.search(r"\d", text))


def _sent(item: Object) -> Object:
    return {key: value for key, value in item.items() if key not in ("indexed", "words")}
