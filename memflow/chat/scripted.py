"""The scripted chat: one deterministic handler per prompt name instead of a language model, for demos and tests.

Benchmarks and memories define handlers in `scripted.py`. A handler gets the request's fields and history, no gold.
"""

from collections.abc import Callable, Mapping

from pydantic import BaseModel

from memflow.chat.requests import ChatRequest, Completion, Sampling, TokenBound
from memflow.errors import RequestRefused
from memflow.fingerprint import digest

LABEL = "scripted, not a language model"
Handler = Callable[[ChatRequest], BaseModel | str]


def scripted_handlers(package: str, by_stem: Mapping[str, Handler]) -> dict[str, Handler]:
    """Return handlers by the names of a package's prompts, given by stem. A translation has the same handler."""
    from memflow.chat.prompts import load_packaged, translated_stems  # noqa: PLC0415  (help needs no YAML)

    translated = {f"{stem}_zh": by_stem[stem] for stem in translated_stems(package) if stem in by_stem}
    return {load_packaged(package, stem).name: handler for stem, handler in {**by_stem, **translated}.items()}


class ScriptedChat:
    """A chat that answers each prompt with its handler. Increase `version` when a handler changes.

    `name` and `version` are part of the fingerprint.
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
        self.bound = TokenBound()
        self.fingerprint = digest(LABEL, name, version)

    async def complete(self, request: ChatRequest) -> Completion:
        """Return the handler's answer; token counts are estimated as four characters per token."""
        if request.prompt not in self.handlers:
            handler_names = ", ".join(sorted(self.handlers))
            raise RequestRefused(
                f"the scripted chat has no handler for the prompt {request.prompt}. Set a real model, or "
                f"register a handler; the handlers are {handler_names}"
            )
        answer = self.handlers[request.prompt](request)
        text = answer if isinstance(answer, str) else answer.model_dump_json()
        prompt_characters = sum(len(message.content) for message in request.messages)
        return Completion(text, prompt_tokens=prompt_characters // 4, completion_tokens=-(-len(text) // 4))
