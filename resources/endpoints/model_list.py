"""The list of models that an OpenAI-compatible server returns at /models."""

from pydantic import BaseModel, Field, ValidationError

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
