"""A memory server in about 60 lines: a list of messages per space, found by common words."""

import json
import re
import sys

SPACES = {}  # space -> items, oldest first
CAN = {
    "as_of": "writes",
    "sources": "message",
    "dates": True,
    "export": "live",
    "models": "none",
    "deterministic": True,
}


def words(text):
    return set(re.findall(r"\w+", text.lower()))


def hello(request):
    return {"name": "word-overlap", "version": "1.0", "settings": request.get("settings", {}), "can": CAN}


def reset(request):
    SPACES[request["space"]] = []
    return {}


def write(request):
    for message in request["messages"]:
        text = f"{message.get('speaker') or message['role']}: {message['text']}"
        item = {
            "id": message["id"],
            "text": text,
            "sources": [message["id"]],
            "sent_at": message.get("sent_at"),
        }
        SPACES[request["space"]].append({**item, "since": request["write"]})
    return {"failures": []}


def read(request):
    query, last = words(request["query"]), request.get("as_of", float("inf"))
    known = [item for item in SPACES[request["space"]] if item["since"] <= last]
    found = [{**item, "score": len(query & words(item["text"]))} for item in known]
    best = sorted((item for item in found if item["score"]), key=lambda item: -item["score"])
    return {"items": best[: request["k"]]}


def export(request):
    return {"items": SPACES[request["space"]]}


def close(request):
    SPACES.pop(request["space"], None)
    return {}


OPERATIONS = {each.__name__: each for each in (hello, reset, write, read, export, close)}
for line in sys.stdin:
    request = json.loads(line)
    try:
        answer = OPERATIONS[request["op"]](request)
    except (KeyError, TypeError, ValueError) as error:  # the server goes on: only this request failed
        answer = {"error": {"code": type(error).__name__, "message": str(error)}}
    print(json.dumps({**answer, "n": request["n"]}), flush=True)
