"""Base classes of the models of benchmarks."""

from pydantic import BaseModel, ConfigDict


class StrictModel(BaseModel):
    """An immutable model that rejects unknown fields: parameters, answers of models, and memflow's own files."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class PublishedModel(BaseModel):
    """An immutable object of a published file, whose unknown fields are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")
