"""A memory server in about 75 lines: a list of messages per space, found by common words."""

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
    "forget": ["message", "text", "time"],
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
    query, last = words(request["query"]), request.get("as_of", 10**9)
    known = [item for item in SPACES[request["space"]] if item["since"] <= last < item.get("until", last + 1)]
    found = [{**item, "score": len(query & words(item["text"]))} for item in known]
    best = sorted((item for item in found if item["score"]), key=lambda item: -item["score"])
    return {"items": best[: request["k"]]}


def export(request):
    return {"items": [item for item in SPACES[request["space"]] if "until" not in item]}


def forget(request):
    """End what a request names. It stays for reads as of an earlier write."""
    ids, text = request.get("message_ids", []), words(request.get("text", ""))
    since, until = request.get("since", ""), request.get("until", "9999")
    for item in SPACES[request["space"]]:
        day = (item["sent_at"] or "")[:10]
        named = {
            "message": item["id"] in ids,
            "text": text <= words(item["text"]),
            "time": since <= day <= until,
        }
        if named[request["by"]]:
            item.setdefault("until", request["write"])
    return {}


def close(request):
    SPACES.pop(request["space"], None)
    return {}


OPERATIONS = {each.__name__: each for each in (hello, reset, write, read, export, forget, close)}
for line in sys.stdin:
    request = json.loads(line)
    try:
        answer = OPERATIONS[request["op"]](request)
    except (KeyError, TypeError, ValueError) as error:  # the server goes on: only this request failed
        answer = {"error": {"code": type(error).__name__, "message": str(error)}}
    print(json.dumps({**answer, "n": request["n"]}), flush=True)
