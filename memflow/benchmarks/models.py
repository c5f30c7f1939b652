"""Base classes of the models of benchmarks, and narrower models for single requests."""

from typing import Any, TypeVar, cast

from pydantic import BaseModel, ConfigDict, create_model

M = TypeVar("M", bound=BaseModel)


class StrictModel(BaseModel):
    """An immutable model that rejects unknown fields: parameters, answers of models, and memflow's own files."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class PublishedModel(BaseModel):
    """An immutable object of a published file, whose unknown fields are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")


def narrowed(base: type[M], name: str = "", /, **fields: Any) -> type[M]:
    """Return a model with other types of fields, and the description and, without `name`, the name of `base`."""
    return cast(type[M], create_model(name or base.__name__, __base__=base, __doc__=base.__doc__, **fields))
