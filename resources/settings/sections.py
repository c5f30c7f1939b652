"""The small sections of memflow.toml: embedder, budget, history, encoders."""

from pathlib import Path
from typing import Literal

from pydantic import Field, model_validator

from memflow.chat.budget import Budget
from memflow.fingerprint import digest
from memflow.labels import HASHING
from memflow.resources.settings.values import NamedPath, StrictModel, Url


class Embedder(StrictModel):
    """The settings of the embedding model."""

    kind: Literal["hashing", "endpoint", "folder"] | None = Field(
        None,
        description="endpoint: an address; folder: sentence-transformers weights; hashing: built in, compares words. "
        "Without a kind, the scripted chat gets hashing, and a language model is refused memories that need one.",
    )
    model: str = Field("", description="The model's name at the endpoint, or the folder of weights.")
    url: Url = Field("", description="The OpenAI-compatible address.")
    key_variable: str = Field("OPENAI_API_KEY", description="The environment variable that holds the key.")
    dimensions: int = Field(256, ge=8, le=65536, description="Length of the hashing embedder's vectors.")

    @model_validator(mode="after")
    def _is_whole(self) -> "Embedder":
        if self.kind is None and (self.url or self.model):
            raise ValueError('url or model is given, but no kind. Add kind = "endpoint" or kind = "folder"')
        needed = {"endpoint": ("url", "model"), "folder": ("model",)}.get(self.kind or "", ())
        for name in needed:
            if not getattr(self, name):
                raise ValueError(f'an embedder of kind "{self.kind}" has no `{name}`. Add it to [embedder]')
        return self

    @property
    def name(self) -> str:
        """The embedder's name on the leaderboard: the name of its model, or `hashing-256`."""
        if self.kind == "folder":
            return Path(self.model).name
        return self.model if self.kind == "endpoint" else f"{HASHING}-{self.dimensions}"

    def fingerprint(self) -> str:
        """Return the content hash of the settings that determine the vectors."""
        return digest(self.kind or HASHING, self.model, self.name)


class BudgetLimits(StrictModel):
    """The hard limits on calls, tokens and cost of each command and each Dagster run."""

    calls: int | None = Field(None, ge=1, description="Maximum number of requests.")
    tokens: int | None = Field(None, ge=1, description="Maximum number of prompt and answer tokens.")
    cost: float | None = Field(None, gt=0, description="Maximum cost, by the models' prices.")

    def with_cost(self, cost: float | None) -> "BudgetLimits":
        """Return limits with another cost, unless it is None; 0 is no limit."""
        return self if cost is None else self.model_copy(update={"cost": cost or None})

    def budget(self) -> Budget:
        """Return a budget with these limits, of which nothing is spent."""
        return Budget(self.calls, self.tokens, self.cost)


class History(StrictModel):
    """What `memflow doctor --clean` keeps of the rows that later runs replaced."""

    days: float = Field(
        30, ge=0, le=36_500, description="Remove rows that were replaced longer ago, in days."
    )
    gigabytes: float = Field(
        5, ge=0, le=1_000_000, description="Remove the oldest replaced rows beyond this size, in gigabytes."
    )


class Encoder(StrictModel):
    """The model of BERTScore for texts of one language: a local folder of transformers weights."""

    folder: NamedPath = Field(description="The folder of weights, such as roberta-base or bert-base-chinese.")
    name: str = Field(
        "", max_length=100, description="The name that scores show; the folder's name where empty."
    )
    layer: int | None = Field(
        None, ge=1, le=200, description="The layer; by default that of the bert-score package."
    )
