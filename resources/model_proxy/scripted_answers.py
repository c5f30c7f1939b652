"""ScriptedAnswers: what the scripted chat answers to proxied requests, whose prompts it does not know.

| request | answer |
|---|---|
| text | the label of the scripted chat, a digest of the request, and the start of the last user message |
| a JSON schema | a value of the schema; its strings are the start of the last user message |
| a JSON object | `{"answer": TEXT}` |
| tools, `none` | text |
| tools, `required` or a named tool | a call of this tool, or of the first one; the arguments satisfy its schema |
| tools, `auto` | the same, and text after the result of a tool, so that loops end |
"""

import json
from collections.abc import Mapping
from typing import Any

from memflow.chat.requests import Chat, ChatRequest, Completion
from memflow.chat.scripted import LABEL
from memflow.errors import RequestRefused
from memflow.fingerprint import digest
from memflow.resources.model_proxy.bodies import ReceivedChat
from memflow.resources.model_proxy.instances import UnsupportedSchema, schema_instance
from memflow.resources.model_proxy.stored_answers import ProxiedAnswer
from memflow.tokens import estimate

VERSION = 1
"""Part of the fingerprint. Increase it when answers change."""
SHOWN = 400
"""Characters of the last user message in an answer."""


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
        key = request.digest(self.fingerprint)[:8]
        try:
            answer = _answer(chat, words, key)
        except UnsupportedSchema as reason:
            raise RequestRefused(
                f"the scripted chat cannot answer with this JSON schema: {reason}. Use a real model.", 400
            ) from reason
        text = answer.stored()
        return Completion(
            text,
            "tool_calls" if answer.tool_calls else "stop",
            prompt_tokens=sum(estimate(message.content) for message in request.messages),
            completion_tokens=estimate(text),
        )


def _answer(chat: ReceivedChat, words: str, key: str) -> ProxiedAnswer:
    text = f"{LABEL} ({key}): {words}"
    tool = _called_tool(chat)
    if tool is not None:
        arguments = schema_instance(tool.get("parameters") or {"type": "object"}, words)
        function = {"name": tool["name"], "arguments": json.dumps(arguments, ensure_ascii=False)}
        return ProxiedAnswer("", [{"id": f"call_{key}", "type": "function", "function": function}])
    wanted = chat.further.get("response_format") or {}
    if wanted.get("type") == "json_schema":
        schema = (wanted.get("json_schema") or {}).get("schema") or {}
        return ProxiedAnswer(json.dumps(schema_instance(schema, words), ensure_ascii=False))
    if wanted.get("type") == "json_object":
        return ProxiedAnswer(json.dumps({"answer": text}, ensure_ascii=False))
    return ProxiedAnswer(text)


def _called_tool(chat: ReceivedChat) -> Mapping[str, Any] | None:
    """Return the function of the tool that the answer calls, or None for an answer without a call."""
    choice = chat.further.get("tool_choice", "auto")
    functions = [tool.get("function") or {} for tool in chat.further.get("tools") or []]
    functions = [function for function in functions if isinstance(function.get("name"), str)]
    if isinstance(choice, dict):
        name = (choice.get("function") or {}).get("name")
        return next((function for function in functions if function["name"] == name), None)
    if choice == "none" or (choice == "auto" and chat.messages[-1].role in ("tool", "function")):
        return None
    return next(iter(functions), None)
