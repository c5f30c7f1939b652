"""The echo server: a memory server that keeps messages, and finds them by common words. For tests, and to read.

It uses the standard library only, and runs on its own: `python echo.py` over stdio, `python echo.py --http PORT` over
HTTP. `--fault NAME` or `NAME=VALUE`, or MEMFLOW_ECHO_FAULTS with a list separated by commas, makes it break a rule.
"""

import argparse
import json
import os
import re
import sys
import threading
import time
import uuid
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

FAULTS = {
    "slow": "every write takes VALUE seconds",
    "crash": "ends at the VALUE-th write of the process",
    "crash_on": "ends at a write that contains the word VALUE",
    "hang": "never answers the VALUE-th write of the process",
    "hang_on": "never answers a write that contains the word VALUE",
    "stray": "prints a line of text before the answer to a write",
    "order": "answers two reads in the other order",
    "wrong_n": "answers reads with another number",
    "random_ids": "items have other ids at every read",
    "no_sources": "items have no sources, although they are declared",
    "leaks": "reads find the messages of all spaces",
    "leftovers": "reset does not empty a space",
    "read_writes": "a read is stored as a message",
    "no_time_travel": "declares as_of, and answers with the present",
    "no_export": "declares export, and reports an error",
    "no_fork": "declares fork, and the copy is empty",
    "no_restore": "declares restore, and restores nothing",
    "shared_fork": "a fork and its origin stay one space",
    "unstable": "another version at every hello",
    "not_deterministic": "declares deterministic, and leaves out an item at every third read",
    "huge": "answers a read with a line of 17 MiB",
    "too_many": "answers more than k items",
    "error": "reports an error at every write",
}
CAN = {
    "as_of": "writes",
    "fork": True,
    "restore": True,
    "export": "history",
    "sources": "message",
    "dates": True,
    "pure_reads": True,
    "ranked": True,
    "batch": "any",
    "spaces": 0,
    "models": "none",
    "deterministic": True,
}
LOCK = threading.Lock()
Object = Mapping[str, Any]


class Echo:
    """The spaces of the server, and the operations on them."""

    def __init__(self, faults: Mapping[str, str], can: Object) -> None:
        self.faults, self.can = faults, can
        self.spaces: dict[str, list[dict[str, Any]]] = {}
        self.writes, self.reads = 0, 0

    def answer(self, request: Object) -> dict[str, Any]:
        """Return the answer to a request, without its number."""
        operation = getattr(self, "do_" + str(request.get("op")), None)
        if operation is None:
            return {"error": {"code": "unknown_op", "message": str(request.get("op"))}}
        answer: dict[str, Any] = operation(request)
        return answer

    def do_hello(self, request: Object) -> dict[str, Any]:
        version = f"1.{time.time_ns()}" if "unstable" in self.faults else "1"
        return {
            "name": "echo",
            "version": version,
            "settings": request.get("settings") or {},
            "can": self.can,
        }

    def do_reset(self, request: Object) -> dict[str, Any]:
        if "leftovers" not in self.faults:
            self.spaces[request["space"]] = []
        return {}

    def do_close(self, request: Object) -> dict[str, Any]:
        self.spaces.pop(request["space"], None)
        return {}

    def do_write(self, request: Object) -> dict[str, Any]:
        self.writes += 1
        words = " ".join(message["text"] for message in request["messages"])
        if self.is_at("crash", words):
            os._exit(3)
        if self.is_at("hang", words):
            time.sleep(86400)
        if "error" in self.faults:
            return {"error": {"code": "full", "message": "the disk is full"}}
        time.sleep(float(self.faults.get("slow", 0)))
        for message in request["messages"]:
            self.store(request, message)
        return {"failures": [], "counts": {"messages": len(request["messages"])}}

    def store(self, request: Object, message: Object) -> None:
        speaker = message.get("speaker") or message["role"]
        item = {
            "id": message["id"],
            "text": f"{speaker}: {message['text']}",
            "sources": [message["id"]],
            "kind": "memory",
        }
        item["since"] = request["write"]
        if message.get("sent_at"):
            item["sent_at"] = message["sent_at"]
        if "no_sources" in self.faults:
            item["sources"] = []
        self.spaces.setdefault(request["space"], []).append(item)

    def do_read(self, request: Object) -> dict[str, Any]:
        self.reads += 1
        if "leaks" in self.faults:
            items = [item for space in self.spaces.values() for item in space]
        else:
            items = self.spaces.get(request["space"], [])
        if "as_of" in request and "no_time_travel" not in self.faults:
            items = [item for item in items if item["since"] <= request["as_of"]]
        wanted = words_of(request["query"])
        scored = [(len(wanted & words_of(item["text"])), place, item) for place, item in enumerate(items)]
        best = sorted((each for each in scored if each[0]), key=lambda each: (-each[0], each[1]))
        k = request["k"] + 5 if "too_many" in self.faults else request["k"]
        found = [{**self.shown(item), "score": score} for score, _, item in best[:k]]
        if "too_many" in self.faults and found:
            found = (found * (k // len(found) + 1))[:k]
        if "not_deterministic" in self.faults and self.reads % 3 == 0:
            found = found[:-1]
        if "read_writes" in self.faults:
            message = {"id": f"read-{self.reads}", "role": "user", "text": request["query"]}
            self.store({"space": request["space"], "write": 0}, message)
        notes = "x" * (17 << 20) if "huge" in self.faults else ""
        return {"items": found, "notes": notes}

    def do_export(self, request: Object) -> dict[str, Any]:
        if "no_export" in self.faults:
            return {"error": {"code": "not_supported", "message": "export"}}
        return {"items": [self.shown(item) for item in self.spaces.get(request["space"], [])]}

    def do_fork(self, request: Object) -> dict[str, Any]:
        items = self.spaces.get(request["space"], [])
        copied = items if "shared_fork" in self.faults else list(items)
        self.spaces[request["to"]] = [] if "no_fork" in self.faults else copied
        return {}

    def do_restore(self, request: Object) -> dict[str, Any]:
        items = [] if "no_restore" in self.faults else request["items"]
        self.spaces[request["space"]] = [{"since": 0, **item} for item in items]
        return {}

    def shown(self, item: Object) -> dict[str, Any]:
        """Return an item as it is sent."""
        return {**item, "id": uuid.uuid4().hex} if "random_ids" in self.faults else dict(item)

    def is_at(self, fault: str, words: str) -> bool:
        """Return whether a fault applies to this write: by number, or by a word in it."""
        by_number = self.faults.get(fault) == str(self.writes)
        word = self.faults.get(f"{fault}_on")
        return by_number or (word is not None and word in words)


def words_of(text: str) -> set[str]:
    """Return the words of a text."""
    return set(re.findall(r"\w+", text.lower()))


def serve_stdio(echo: Echo) -> None:
    """Answer one JSON object per line, until the end of the input."""
    delayed: list[str] = []
    for line in sys.stdin:
        request = json.loads(line)
        answer = {**echo.answer(request), "n": request["n"]}
        reads = request.get("op") == "read"
        if reads and "wrong_n" in echo.faults:
            answer["n"] += 1000
        if request.get("op") == "write" and "stray" in echo.faults:
            print("Batches: 100%|##########| 1/1")
        text = json.dumps(answer)
        if reads and "order" in echo.faults and not delayed:
            delayed.append(text)
            threading.Timer(0.05, release, (delayed,)).start()  # if no second read comes
            continue
        write_line(text)
        if reads:
            release(delayed)


def release(delayed: list[str]) -> None:
    """Write the answers that wait."""
    while delayed:
        write_line(delayed.pop())


def write_line(text: str) -> None:
    """Write one line to stdout."""
    with LOCK:
        sys.stdout.write(text + "\n")
        sys.stdout.flush()


def serve_http(echo: Echo, port: int) -> None:
    """Answer POST requests at a port of the loopback address, and print the address."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = 1 << 16  # headers and content in one packet

        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            answer = {**echo.answer(request), "n": request["n"]}
            if request.get("op") == "read" and "wrong_n" in echo.faults:
                answer["n"] += 1000
            content = json.dumps(answer).encode()
            if request.get("op") == "write" and "stray" in echo.faults:
                content = b"<html>" + content
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *values: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    print(f"http://127.0.0.1:{server.server_address[1]}", flush=True)
    server.serve_forever()


def main() -> None:
    """Read the arguments, and serve."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--http", type=int, metavar="PORT", help="serve over HTTP; 0 for any port")
    parser.add_argument("--fault", action="append", default=[], help=", ".join(FAULTS))
    parser.add_argument(
        "--can", action="append", default=[], metavar="NAME=VALUE", help="declare a capability"
    )
    given = parser.parse_args()
    named = [*given.fault, *filter(None, os.environ.get("MEMFLOW_ECHO_FAULTS", "").split(","))]
    faults = {each.partition("=")[0]: each.partition("=")[2] or "1" for each in named}
    if unknown := set(faults) - set(FAULTS):
        parser.error(f"unknown faults: {', '.join(sorted(unknown))}")
    can: dict[str, Any] = dict(CAN)
    for each in given.can:
        name, _, value = each.partition("=")
        can[name] = {"true": True, "false": False}.get(value, int(value) if value.isdigit() else value)
    echo = Echo(faults, can)
    if given.http is None:
        serve_stdio(echo)
    else:
        serve_http(echo, given.http)


if __name__ == "__main__":
    main()
