"""The list of models that an OpenAI-compatible server returns at /models."""

from pydantic import BaseModel, Field, ValidationError

from memflow.concurrency import run_coroutine
from memflow.resources.endpoints.endpoint import Endpoint
from memflow.resources.endpoints.profiles import Profile
from memflow.resources.endpoints.replies import BrokenReply


class _ListedModel(BaseModel):
    id: str


class _ModelList(BaseModel):
    data: list[_ListedModel] = Field(max_length=100_000)


def read_model_names(content: bytes) -> list[str]:
    """Return the names of the models in a response. Raises BrokenReply if it is no model list."""
    try:
        return [model.id for model in _ModelList.model_validate_json(content).data]
    except ValidationError as error:
        raise BrokenReply("the response is no list of models") from error


def served_models(url: str, key_variable: str, profile: Profile, seconds: float) -> list[str]:
    """Return the names of the models at an address. Raises ChatError if it does not answer within `seconds`."""
    endpoint = Endpoint(url, key_variable, profile, timeout=seconds, tries=1)

    async def names() -> list[str]:
        async with endpoint:
            return await endpoint.get("/models", read_model_names)

    return run_coroutine(names())
