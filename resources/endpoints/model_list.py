"""The list of models that an OpenAI-compatible server returns at /models, with the context windows that it states."""

from collections.abc import Mapping

from pydantic import BaseModel, Field, ValidationError

from memflow.concurrency import run_coroutine
from memflow.resources.endpoints.endpoint import Endpoint
from memflow.resources.endpoints.profiles import Profile
from memflow.resources.endpoints.replies import BrokenReply

LEAST_WINDOW, MOST_WINDOW = 128, 1 << 30
"""Smaller and larger numbers are no context windows."""


class _Meta(BaseModel):
    n_ctx: int | None = None


class _ListedModel(BaseModel):
    """A model in a list. Windows: vLLM and SGLang; OpenRouter and Together; Groq; Mistral; llama.cpp."""

    id: str = ""
    max_model_len: int | None = None
    context_length: int | None = None
    context_window: int | None = None
    max_context_length: int | None = None
    meta: _Meta | None = None

    @property
    def window(self) -> int | None:
        numbers = (self.max_model_len, self.context_length, self.context_window, self.max_context_length)
        return plausible_window(next(filter(None, numbers), None if self.meta is None else self.meta.n_ctx))


class _ModelList(BaseModel):
    data: list[_ListedModel] = Field(max_length=100_000)


def plausible_window(tokens: int | None) -> int | None:
    """Return a number of tokens that may be a context window, or None."""
    return tokens if tokens is not None and LEAST_WINDOW <= tokens <= MOST_WINDOW else None


def read_models(content: bytes) -> dict[str, int | None]:
    """Return the models in a response, and the window of each or None. Raises BrokenReply if it is no model list."""
    try:
        return {model.id: model.window for model in _ModelList.model_validate_json(content).data}
    except ValidationError as error:
        raise BrokenReply("the response is no list of models") from error


def served_models(url: str, key_variable: str, profile: Profile, seconds: float) -> dict[str, int | None]:
    """Return the models at an address, with windows. Raises ChatError if it does not answer within `seconds`."""
    endpoint = Endpoint(url, key_variable, profile, timeout=seconds, tries=1)

    async def models() -> dict[str, int | None]:
        async with endpoint:
            return await endpoint.get("/models", read_models)

    return run_coroutine(models())


def window_of(model: str, served: Mapping[str, int | None]) -> int | None:
    """Return the window of a model in a server's list, or of its only model; None if the list states none."""
    return next(iter(served.values())) if len(served) == 1 else served.get(model)
