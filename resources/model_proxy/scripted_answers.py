"""ScriptedAnswers: what the scripted chat answers to proxied requests, whose prompts it does not know.

| request | answer |
|---|---|
| text | the label of the scripted chat, a digest of the request, and the start of the last user message |
| a JSON schema | a value of the schema; its strings are the start of the last user message |
| a JSON object | `{"answer": TEXT}` |
"""

import json

from memflow.chat.requests import Chat, ChatRequest, Completion
from memflow.chat.scripted import LABEL
from memflow.errors import RequestRefused
from memflow.fingerprint import digest
from memflow.resources.model_proxy.bodies import ReceivedChat
from memflow.resources.model_proxy.instances import UnsupportedSchema, schema_instance
from memflow.tokens import estimate

VERSION = 2
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
            text = _answer(chat, words, key)
        except UnsupportedSchema as reason:
            raise RequestRefused(
                f"the scripted chat cannot answer with this JSON schema: {reason}. Use a real model.", 400
            ) from reason
        return Completion(
            text,
            "stop",
            prompt_tokens=sum(estimate(message.content) for message in request.messages),
            completion_tokens=estimate(text),
        )


def _answer(chat: ReceivedChat, words: str, key: str) -> str:
    text = f"{LABEL} ({key}): {words}"
    wanted = chat.further.get("response_format") or {}
    if wanted.get("type") == "json_schema":
        schema = (wanted.get("json_schema") or {}).get("schema") or {}
        return json.dumps(schema_instance(schema, words), ensure_ascii=False)
    if wanted.get("type") == "json_object":
        return json.dumps({"answer": text}, ensure_ascii=False)
    return text
