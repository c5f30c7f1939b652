"""The bodies of chat requests, in the form that the profile of a model prescribes.

schema_dialect.py adapts schemas; endpoint.py sends bodies. The prompts of benchmarks and memories are in the messages
already.
"""

import json
import re
from itertools import groupby
from typing import Any

from pydantic import BaseModel

from memflow.chat.decoding import printable
from memflow.chat.prompts import load
from memflow.chat.requests import ChatRequest, schema_of
from memflow.errors import PromptTooLong
from memflow.fingerprint import digest
from memflow.resources.endpoints.profiles import Profile
from memflow.resources.endpoints.schema_dialect import adapt, example
from memflow.tokens import estimate, most

LEAST_ANSWER = 256
"""Tokens of an answer for which a prompt near the context window leaves room."""
WireMessage = dict[str, str]
"""A message of the body: its role, which may be one that memflow does not use, and its content."""


class RequestBodies:
    """A builder of request bodies for one profile."""

    def __init__(self, profile: Profile) -> None:
        self.profile = profile
        self.window = profile.window
        """The context window in tokens, if it is known; a refusal of the server may state it later."""

    def build(self, model: str, request: ChatRequest) -> dict[str, Any]:
        """Return the JSON body of a request. Raises PromptTooLong if its estimated tokens exceed the context window."""
        messages: list[WireMessage] = [
            {"role": message.role, "content": printable(message.content)} for message in request.messages
        ]
        if request.output is not None and self.profile.shows_schema:
            number = int(digest(request.messages_json)[:8], 16)
            messages = _with_instruction(messages, _instruction(request.output, number))
        messages = _in_roles(messages, self.profile)
        body = {"model": model, "messages": messages, **self.parameters(request)}
        if self.window is not None:
            self._fit(body, request.prompt, self.window)
        return body if request.output is None else body | _format_of(request.output, self.profile)

    def max_tokens(self, request: ChatRequest) -> int:
        """Return the token limit of a request: the limit of the prompt plus the headroom for thoughts."""
        return request.sampling.max_tokens + self.profile.headroom

    def parameters(self, request: ChatRequest) -> dict[str, Any]:
        """Return the sampling parameters of a request in the profile's form, and the profile's further keys."""
        sampling, profile = request.sampling, self.profile
        sent: dict[str, Any] = {}
        if profile.temperature == "send":
            sent["temperature"] = sampling.temperature
        if profile.bound != "none":
            sent[profile.bound] = self.max_tokens(request)
        if profile.top_p == "send" and sampling.top_p is not None:
            sent["top_p"] = sampling.top_p
        if profile.seed != "omit" and sampling.seed is not None:
            sent["seed" if profile.seed == "send" else profile.seed] = sampling.seed
        return {**sent, **profile.thinking_levels.get(profile.thinking, {}), **profile.body}

    def _fit(self, body: dict[str, Any], prompt: str, window: int) -> None:
        """Lower the token limit of a body to what the window leaves. Raises PromptTooLong if it leaves nothing.

        Some servers refuse a request whose prompt and limit are too large together. At least the least answer remains,
        for a prompt of which only the estimate for an unknown tokenizer is too long.
        """
        messages, bound = body["messages"], self.profile.bound
        tokens = sum(estimate(message["content"]) for message in messages)
        if tokens > window:
            raise PromptTooLong(
                f"a request of the prompt {prompt} has about {tokens} tokens, but the context window of "
                f"{body['model']} has {window}. Raise the limit at the server and as `window` of the profile in "
                "memflow.toml, or use a memory with shorter prompts."
            )
        if bound in body:
            left = max(LEAST_ANSWER, window - most(tokens, len(messages)))
            body[bound] = min(body[bound], left)


def _format_of(output: type[BaseModel], profile: Profile) -> dict[str, Any]:
    """Return the keys of the body that request an answer of a type."""
    if profile.structured == "prompt":
        return {}
    if profile.structured == "object":
        return {"response_format": {"type": "json_object"}}
    name = re.sub(r"[^a-zA-Z0-9_-]", "_", output.__name__)[:64]
    named = {"name": name, **({"strict": True} if profile.strict else {})}
    schema = adapt(schema_of(output), profile)
    if profile.structured == "schema":
        return {"response_format": {"type": "json_schema", "json_schema": {**named, "schema": schema}}}
    return {
        "tools": [{"type": "function", "function": {**named, "parameters": schema}}],
        "tool_choice": {"type": "function", "function": {"name": name}},
    }


def _instruction(output: type[BaseModel], number: int) -> str:
    """Return the instruction that describes the output type in the prompt, with an example."""
    schema = schema_of(output)
    shown = {"schema": schema, "example": example(schema, number)}
    fields = {name: json.dumps(value, ensure_ascii=False) for name, value in shown.items()}
    return load("memflow.chat", "schema").render(fields)[0].content


def _with_instruction(messages: list[WireMessage], instruction: str) -> list[WireMessage]:
    """Return messages whose last user message ends with an instruction."""
    if not messages or messages[-1]["role"] != "user":
        return [*messages, {"role": "user", "content": instruction}]
    return [*messages[:-1], {"role": "user", "content": f"{messages[-1]['content']}\n\n{instruction}"}]


def _in_roles(messages: list[WireMessage], profile: Profile) -> list[WireMessage]:
    """Return messages in the roles of the profile. Joined messages are separated by an empty line."""
    messages = [
        {**message, "role": profile.system} if message["role"] == "system" else message
        for message in messages
    ]
    return _alternating(messages) if profile.alternate or profile.system == "user" else messages


def _alternating(messages: list[WireMessage]) -> list[WireMessage]:
    """Return messages with alternating roles; the first message after system messages is from the user."""
    turns = [number for number, message in enumerate(messages) if message["role"] in ("user", "assistant")]
    if turns and messages[turns[0]]["role"] == "assistant":
        messages = [*messages[: turns[0]], {"role": "user", "content": "..."}, *messages[turns[0] :]]
    runs = groupby(messages, key=lambda message: message["role"])
    return [
        {"role": role, "content": "\n\n".join(message["content"] for message in run)} for role, run in runs
    ]
