"""A memory server over stdio that asks a chat model about each message and embeds it, with the standard library only.

It stores what the model answers. With the argument `own` it declares own models and sends no request; with `silent` it
declares given models and sends none. With `typed`, it requests a JSON schema.
"""

import json
import os
import sys
import urllib.error
import urllib.request

KINDS = sys.argv[1:]
SPACES = {}
MODELS = {}


def post(kind, path, body):
    endpoint = MODELS[kind]
    assert endpoint["url"] == os.environ["MEMFLOW_MODEL_URL"] == os.environ["OPENAI_BASE_URL"]
    request = urllib.request.Request(
        endpoint["url"] + path,
        json.dumps({"model": endpoint["model"], **body}).encode(),
        {"Authorization": f"Bearer {endpoint['key']}", "Content-Type": "application/json"},
    )
    try:
        with urllib.request.urlopen(request) as response:
            return json.load(response)
    except urllib.error.HTTPError as error:
        raise RuntimeError(f"status {error.code}: {json.load(error)['error']['message']}") from error


def remember(message):
    if {"own", "silent"} & {*KINDS}:
        return {"text": message["text"], "vector": [0.0]}
    body = {"messages": [{"role": "user", "content": message["text"]}]}
    if "typed" in KINDS:
        schema = {"type": "object", "properties": {"fact": {"type": "string"}}, "required": ["fact"]}
        body["response_format"] = {"type": "json_schema", "json_schema": {"name": "fact", "schema": schema}}
    text = post("chat", "/chat/completions", body)["choices"][0]["message"]["content"]
    return {"text": text, "vector": embed(message["text"])}


def embed(text):
    return (
        post("embed", "/embeddings", {"input": text})["data"][0]["embedding"] if "embed" in MODELS else [0.0]
    )


def answer(request):
    operation = request["op"]
    if operation == "hello":
        MODELS.update(request["endpoints"])
        models = "own" if "own" in KINDS else "given"
        can = {"models": models, "sources": "message", "dates": True}
        return {"name": "model-server", "version": "1", "can": can}
    if operation == "reset":
        SPACES[request["space"]] = []
    elif operation == "write":
        failures = []
        for message in request["messages"]:
            try:
                SPACES[request["space"]].append({**remember(message), "source": message["id"]})
            except RuntimeError as error:
                failures.append({"why": str(error), "sources": [message["id"]]})
        return {"failures": failures}
    elif operation == "read":
        wanted = [0.0] if {"own", "silent"} & {*KINDS} else embed(request["query"])
        found = SPACES[request["space"]]
        found = sorted(
            found, key=lambda each: -sum(a * b for a, b in zip(each["vector"], wanted, strict=True))
        )
        return {
            "items": [
                {"id": each["source"], "text": each["text"], "sources": [each["source"]]}
                for each in found[: request["k"]]
            ]
        }
    return {}


for line in sys.stdin:
    given = json.loads(line)
    print(json.dumps({"n": given["n"], **answer(given)}), flush=True)
