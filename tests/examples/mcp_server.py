"""A fake MCP server over stdio, with the messages of the specification. Notes are in a file of the folder FOLDER."""

import json
import os
import re
import sys
from pathlib import Path

NOTES = Path(os.environ["FOLDER"]) / "notes.jsonl"
TOOLS = ("add_note", "find_notes", "tell_notes", "clear_notes")


def notes():
    return [json.loads(line) for line in NOTES.read_text().splitlines()] if NOTES.exists() else []


def call(name, arguments):  # noqa: PLR0911
    match name:
        case "add_note" if "refused" in arguments["note"]["text"]:
            return {"content": [{"type": "text", "text": "the note is refused"}], "isError": True}
        case "add_note" if "crash" in arguments["note"]["text"]:
            sys.exit(3)
        case "add_note" if "silent" in arguments["note"]["text"]:
            return None
        case "add_note":
            NOTES.write_text("".join(json.dumps(each) + "\n" for each in [*notes(), arguments["note"]]))
            return {"content": []}
        case "find_notes":
            wanted = set(re.findall(r"\w+", arguments["query"].lower()))
            found = [(len(wanted & set(re.findall(r"\w+", each["text"].lower()))), each) for each in notes()]
            best = sorted((pair for pair in found if pair[0]), key=lambda pair: -pair[0])
            rows = [{**each, "score": score} for score, each in best[: arguments["limit"]]]
            text = json.dumps({"result": {"notes": rows}})
            return {"content": [{"type": "text", "text": text}]}
        case "tell_notes":
            return {
                "content": [
                    {"type": "text", "text": "All notes: " + "; ".join(each["text"] for each in notes())}
                ]
            }
        case "clear_notes":
            NOTES.unlink(missing_ok=True)
            return {"content": []}
    return {"content": [{"type": "text", "text": f"no tool {name}"}], "isError": True}


def send(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


for line in sys.stdin:
    message = json.loads(line)
    assert message["jsonrpc"] == "2.0"
    match message.get("method"):
        case "initialize":
            send({"method": "notifications/message", "params": {"data": "starting"}})
            assert message["params"]["protocolVersion"] and message["params"]["clientInfo"]["name"]
            result = {
                "protocolVersion": "2025-06-18",
                "capabilities": {},
                "serverInfo": {"name": "notes", "version": "1.2"},
            }
        case "tools/list" if not message["params"].get("cursor"):
            result = {"tools": [{"name": name} for name in TOOLS[:2]], "nextCursor": "2"}
        case "tools/list":
            result = {"tools": [{"name": name} for name in TOOLS[2:]]}
        case "tools/call":
            send({"id": "from the server", "method": "ping"})
            assert json.loads(sys.stdin.readline()) == {
                "jsonrpc": "2.0",
                "id": "from the server",
                "result": {},
            }
            result = call(message["params"]["name"], message["params"]["arguments"])
        case _:
            continue
    if result is not None:
        send({"id": message["id"], "result": result})
