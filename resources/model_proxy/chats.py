"""The chats that answer proxied requests: ForwardingChat with the model's endpoint, ScriptedAnswers without a model.

ForwardingChat sends the body as received, except the model, the sampling parameters (in the form of the profile) and
streaming, with the address, key, profile, limits and budget of the endpoint. ScriptedAnswers does not know the prompts:

| request | answer |
|---|---|
| text | the label of the scripted chat, a digest of the request, and the start of the last user message |
| a JSON schema | a value of the schema; its strings are the start of the last user message |
| a JSON object | `{"answer": TEXT}` |
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from memflow.chat.requests import Chat, ChatRequest, Completion
from memflow.chat.scripted import LABEL
from memflow.errors import RequestRefused
from memflow.fingerprint import digest
from memflow.resources.endpoints.chat import BLANK_TRIES, OpenAIChat
from memflow.resources.endpoints.profile_advice import OF_ALL_REQUESTS
from memflow.resources.endpoints.replies import ChatReply
from memflow.resources.model_proxy.bodies import ProxiedAnswer, ReceivedChat
from memflow.tokens import estimate

VERSION = 3
"""Part of the fingerprint. Increase it when answers change."""
SHOWN = 400
"""Characters of the last user message in an answer."""
DEEP = 12
"""Depth of a schema from which a value is null or an empty list where it may be."""
DATES = {"date": "2024-01-01", "date-time": "2024-01-01T00:00:00Z"}


class ForwardingChat:
    """A chat for requests of `ReceivedChat.request`, on the client of a model at an endpoint."""

    scripted = False

    def __init__(self, inner: OpenAIChat) -> None:
        self.inner = inner
        self.fingerprint = inner.fingerprint
        self.sampling = inner.sampling
        self.bound = inner.bound

    async def complete(self, request: ChatRequest) -> Completion:
        """Return the model's answer as stored in the ledger. Raises the errors of OpenAIChat.complete."""
        body = self._body(request)
        for repetition in range(BLANK_TRIES):
            try:
                reply, completion = await self.inner.send(request, body, repetition)
            except RequestRefused as error:
                # Other statuses may concern one request of the memory server.
                if error.status in OF_ALL_REQUESTS:
                    raise self.inner.fit.misfit(str(error)) from error.__cause__
                raise
            answer, ended = _answer_in(reply), reply.end in ("answered", "cut")
            if answer.tool_calls or (ended and answer.text.strip()):
                end = completion.end if ended else "answered"
                return replace(completion, text=answer.stored(), end=end)
            if reply.end != "blank":
                break
        raise self.inner.no_answer(reply)

    def _body(self, request: ChatRequest) -> dict[str, Any]:
        chat: ReceivedChat = request.fields["chat"]
        messages = [message.model_dump(exclude_unset=True) for message in chat.messages]
        own = self.inner.bodies.parameters(request)
        return {"model": self.inner.model, "messages": messages, **chat.further, **own}


def _answer_in(reply: ChatReply) -> ProxiedAnswer:
    """Return the answer of a reply, with its tool calls."""
    message = reply.choice["message"]
    sent = message.get("tool_calls")
    calls = [call for call in sent if _is_call(call)] if isinstance(sent, list) else []
    # The profile `tool` takes the arguments of a call for the text.
    text = "" if calls and not message.get("content") else reply.text
    return ProxiedAnswer(text, calls, reply.choice.get("logprobs"))


def _is_call(call: Any) -> bool:
    function = call.get("function") if isinstance(call, dict) else None
    return isinstance(function, dict) and all(
        isinstance(function.get(key), str) for key in ("name", "arguments")
    )


class ScriptedAnswers:
    """A chat for requests of `ReceivedChat.request`, without a model. Equal requests get equal answers."""

    scripted = True

    def __init__(self, inner: Chat) -> None:
        self.fingerprint = digest("model proxy", inner.fingerprint, VERSION)
        self.sampling = inner.sampling
        self.bound = inner.bound

    async def complete(self, request: ChatRequest) -> Completion:
        """Return the answer. Raises RequestRefused for a schema that has no known value."""
        chat: ReceivedChat = request.fields["chat"]
        said = [message.text for message in chat.messages if message.role == "user"]
        words = " ".join((said or [chat.messages[-1].text])[-1].split())[:SHOWN]
        text = f"{LABEL} ({request.digest(self.fingerprint)[:8]}): {words}"
        wanted = chat.further.get("response_format") or {}
        if wanted.get("type") == "json_schema":
            schema = (wanted.get("json_schema") or {}).get("schema") or {}
            text = json.dumps(schema_value(schema, words), ensure_ascii=False)
        elif wanted.get("type") == "json_object":
            text = json.dumps({"answer": text}, ensure_ascii=False)
        return Completion(
            text,
            "stop",
            prompt_tokens=sum(estimate(message.content) for message in request.messages),
            completion_tokens=estimate(text),
        )


def schema_value(schema: Mapping[str, Any], words: str) -> Any:
    """Return a value of a JSON schema, whose strings are `words`. Raises RequestRefused if none is known."""
    try:
        return _value(schema, schema, words, 0)
    except (AttributeError, LookupError, TypeError, ValueError, RecursionError) as error:
        raise RequestRefused(
            f"the scripted chat cannot answer with this JSON schema: {error}. Use a real model.", 400
        ) from error


def _value(root: Mapping[str, Any], part: Mapping[str, Any], words: str, depth: int) -> Any:
    if "const" in part or "default" in part:
        return part.get("const", part.get("default"))
    if part.get("enum"):
        return part["enum"][0]
    options = part.get("anyOf") or part.get("oneOf") or part.get("allOf")
    if "$ref" in part:
        referred: Any = root
        for name in filter(None, part["$ref"].removeprefix("#").split("/")):
            referred = referred[name]
        options = [referred]
    elif isinstance(part.get("type"), list):
        options = [{**part, "type": name} for name in part["type"]]
    if options:
        wanted = [option for option in options if (option.get("type") == "null") is (depth >= DEEP)]
        return _value(root, (wanted or options)[0], words, depth + 1)
    value: Any = None
    match part.get("type") or ("object" if "properties" in part else "string"):
        case "object":
            members = part.get("properties", {})
            value = {name: _value(root, member, words, depth + 1) for name, member in members.items()}
        case "array":
            number = part.get("minItems", int(depth < DEEP))
            elements = part.get("prefixItems") or [part.get("items", {})] * number
            value = [_value(root, element, words, depth + 1) for element in elements]
        case "string" if "pattern" not in part:
            value = DATES.get(str(part.get("format")), words)[: part.get("maxLength")]
        case "integer" | "number" as kind:
            step = 1 if kind == "integer" else 0.5
            value = max(0, part.get("minimum", 0), part.get("exclusiveMinimum", -step) + step)
        case "boolean":
            value = False
        case kind if kind != "null":
            raise ValueError(f"no value of {dict(part)} is known")
    return value
