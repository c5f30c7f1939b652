"""A chat that is no language model: each prompt name has a small handler that works on the typed fields.

It exists so that the whole graph runs without a model: for demos and for tests. It is deterministic, and labelled
"scripted, not a language model" wherever its figures show. The handlers lie beside the benchmarks and memories they
serve (`scripted.py`); one sees what a model would see (`request.fields` and the history in `request.messages`) and no
gold beyond it.
"""

from collections.abc import Callable, Mapping

from pydantic import BaseModel

from memflow.chat.requests import ChatRequest, Completion, Sampling
from memflow.errors import RequestRefused
from memflow.fingerprint import digest

LABEL = "scripted, not a language model"
Handler = Callable[[ChatRequest], BaseModel | str]


class ScriptedChat:
    """Answers each prompt by its handler. `version` is part of the fingerprint: raise it when a handler changes.

    Chats of different `name` have ledgers of their own, and say the same; with another seed they draw otherwise.
    """

    scripted = True

    def __init__(
        self,
        handlers: Mapping[str, Handler],
        version: str = "1",
        name: str = "scripted",
        sampling: Sampling | None = None,
    ) -> None:
        self.handlers = dict(handlers)
        self.sampling = sampling or Sampling()
        self.fingerprint = digest(LABEL, name, version)

    async def complete(self, request: ChatRequest) -> Completion:
        """The handler's answer. Token counts are estimates of four characters a token."""
        if request.prompt not in self.handlers:
            known = ", ".join(sorted(self.handlers))
            raise RequestRefused(
                f"the scripted chat has no handler for the prompt {request.prompt}; it has {known}"
            )
        answer = self.handlers[request.prompt](request)
        text = answer if isinstance(answer, str) else answer.model_dump_json()
        prompt_characters = sum(len(message.content) for message in request.messages)
        return Completion(text, prompt_tokens=prompt_characters // 4, completion_tokens=-(-len(text) // 4))
