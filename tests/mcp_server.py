"""A fake MCP server over stdio, with the messages of the specification. Notes are in a file of the folder argv[1]."""

import json
import re
import subprocess
import sys
from pathlib import Path

TEXT = {"type": "string"}
ADD = {"type": "object", "properties": {"text": TEXT, "key": TEXT, "tag": TEXT}, "required": ["text", "key"]}
FIND = {"type": "object", "properties": {"query": TEXT, "limit": {"type": "integer"}}, "required": ["query"]}
TOOLS = {"add_note": ADD, "store_note": ADD, "find_notes": FIND, "clear_notes": {"type": "object"}}


def words(text):
    return set(re.findall(r"\w+", text.lower()))


def call(name, arguments, file, exact):
    """Return the result of a tool."""
    notes = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
    if name == "find_notes":
        query = arguments["query"].lower()
        scores = [
            (query in note["text"].lower()) if exact else len(words(query) & words(note["text"]))
            for note in notes
        ]
        best = sorted(
            (pair for pair in zip(scores, notes, strict=True) if pair[0]), key=lambda pair: -pair[0]
        )
        rows = [{**note, "score": float(score)} for score, note in best[: arguments.get("limit", 100)]]
        return {"content": [{"type": "text", "text": json.dumps({"result": {"notes": rows}})}]}
    if "refused" in arguments["text"]:
        return {"content": [{"type": "text", "text": "the note is refused"}], "isError": True}
    if "crash" in arguments["text"]:
        sys.exit(3)
    file.write_text("".join(json.dumps(note) + "\n" for note in [*notes, arguments]))
    return {"content": []}


def main(folder, *options):
    lists = [
        option.removeprefix("--tools=").split(",") for option in options if option.startswith("--tools=")
    ]
    tools = lists[0] if lists else ["add_note", "find_notes", "clear_notes"]
    print("a banner that is no JSON", flush=True)
    if "--child" in options:
        child = subprocess.Popen(["sleep", "600"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        print("child", child.pid, file=sys.stderr, flush=True)
    for line in sys.stdin:
        message = json.loads(line)
        if set(message) - {"jsonrpc", "id", "method", "params"} or "method" not in message:
            continue  # the answer to a ping
        match message["method"]:
            case "initialize" if "--end" in options:
                sys.exit(4)
            case "initialize" if "--silent" not in options:
                send(method="notifications/message", params={"level": "info", "data": "starting"})
                version, info = message["params"]["protocolVersion"], {"name": "notes", "version": "1.2"}
                result = {"protocolVersion": version, "capabilities": {}, "serverInfo": info}
            case "tools/list":
                page = tools[1:] if message.get("params", {}).get("cursor") else tools[:1]
                result = {"tools": [{"name": name, "inputSchema": TOOLS[name]} for name in page]}
                result |= (
                    {} if message.get("params", {}).get("cursor") or len(tools) == 1 else {"nextCursor": "2"}
                )
            case "tools/call":
                send(id="from the server", method="ping")
                parameters = message["params"]
                result = call(
                    parameters["name"], parameters["arguments"], Path(folder) / "notes", "--exact" in options
                )
            case _:
                continue
        send(id=message["id"], result=result)


def send(**message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
