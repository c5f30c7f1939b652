"""The stub server's answers to chat requests, and their form as chat completions.

An answer depends on the messages and the schema only, so that servers with other behaviors give the same answers;
with `vary` it is random.
"""

import json
import random
import re
from collections.abc import Mapping, Sequence
from typing import Any

from memflow.fingerprint import digest, seeded
from memflow.tokens import estimate
from stub.answers import obeying, random_instance, random_prose, random_text
from stub.calls import Call, Draft, Rejection
from stub.providers import CHECKS, IGNORES_SCHEMA, ROUTES
from stub.responses import CHANGES, THOUGHTS

_SCHEMA_IN_PROMPT = re.compile(r"JSON schema: (\{.*\})")
_EXAMPLE_IN_PROMPT = re.compile(r"JSON of this form\b[^{]*(\{.*\})")


def rejection(call: Call, behaviors: Sequence[str]) -> Rejection | None:
    """Return the first rejection of a request by the behaviors."""
    for name in behaviors:
        rejected = CHECKS[name](call) if name in CHECKS else None
        if rejected is not None:
            return rejected
    return None


def completion(call: Call, messages: str, behaviors: Sequence[str]) -> tuple[dict[str, Any], bool]:
    """Return the body of the response, and whether it was garbled on purpose. `messages` is their digest."""
    settings, schema = call.behavior, _wanted_schema(call, behaviors)
    key = digest([messages, schema])
    chance = random.Random(None if settings.vary else seeded(settings.seed, key))
    garbled = False
    if schema is not None:
        content = json.dumps(random_instance(obeying(schema) if behaviors else schema, chance))
        garbled = chance.random() < settings.garble
        content = content[: len(content) // 2] if garbled else content
    elif settings.text_length:
        content = random_prose(chance, settings.text_length)
    else:
        content = random_text(chance, 20)
    draft = Draft(content, schema is not None, call.tokens)
    places = [name for name in behaviors if name in THOUGHTS]
    if places and call.thinks:
        draft.think(settings.thought_tokens)
    bounds = [call.bound if behaviors else None, settings.cut_at or None]
    draft.limit(min([bound for bound in bounds if bound], default=2**31))
    for name in behaviors:
        if name in CHANGES:
            CHANGES[name](draft, call)
    for name in places:
        THOUGHTS[name](draft, call)
    return _body(draft, call, f"chatcmpl-{key}"), garbled


def _wanted_schema(call: Call, behaviors: Sequence[str]) -> Mapping[str, Any] | None:
    """Return the schema of the answer: of a forced tool, the response format, or the prompt."""
    if call.tool:
        parameters: Mapping[str, Any] = call.tool["parameters"]
        return parameters
    routed = (call.body.get("provider") or {}).get("require_parameters")
    if call.json_schema and IGNORES_SCHEMA not in behaviors and (routed or ROUTES not in behaviors):
        schema: Mapping[str, Any] = call.json_schema["schema"]
        return schema
    found = _SCHEMA_IN_PROMPT.findall(call.text)
    if found:
        return dict(json.loads(found[-1]))
    example = _EXAMPLE_IN_PROMPT.search(call.text)
    if example or call.format == "json_object":
        return {"const": json.loads(example[1]) if example else {}}
    return None


def _body(draft: Draft, call: Call, name: str) -> dict[str, Any]:
    if draft.body is not None:
        body: dict[str, Any] = draft.body
        return body
    message = {"role": "assistant", "content": draft.content, **draft.message}
    finish = draft.finish
    if call.tool and isinstance(draft.content, str):
        function = {"name": call.tool["name"], "arguments": draft.content}
        message |= {
            "content": None,
            "tool_calls": [{"id": "call_0", "type": "function", "function": function}],
        }
        finish = "tool_calls" if finish == "stop" else finish
    body = {
        "id": name,
        "object": "chat.completion",
        "created": 0,
        "model": call.behavior.model,
        "choices": [{"index": 0, "finish_reason": finish, "message": message}],
    }
    if draft.reports_usage:
        thoughts = estimate(draft.thoughts)
        answer = thoughts + estimate(draft.answer)
        cached = draft.prompt_tokens // 2
        body["usage"] = {
            "prompt_tokens": draft.prompt_tokens,
            "completion_tokens": answer,
            "total_tokens": draft.prompt_tokens + answer,
            "prompt_tokens_details": {"cached_tokens": cached},
        }
        if thoughts:
            body["usage"]["completion_tokens_details"] = {"reasoning_tokens": thoughts}
    return body
