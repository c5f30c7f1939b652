"""The small sections of memflow.toml: embedder, budget, history, training, encoders."""

from pathlib import Path
from typing import Literal

from pydantic import Field, model_validator

from memflow.fingerprint import digest
from memflow.labels import HASHING
from resources.settings.values import KeyVariables, NamedPath, StrictModel, Url


class Embedder(StrictModel):
    """The settings of the embedding model."""

    kind: Literal["hashing", "endpoint", "folder"] | None = Field(
        None,
        description="endpoint: an address; folder: sentence-transformers weights; hashing: built in, compares words. "
        "Without a kind, the scripted chat gets hashing, and a language model is refused memories that need one.",
    )
    model: str = Field("", description="The model's name at the endpoint, or the folder of weights.")
    url: Url = Field("", description="The OpenAI-compatible address.")
    urls: tuple[Url, ...] = Field(
        (), description="Instead of `url`: the addresses of several servers of this model."
    )
    key_variable: KeyVariables = Field(
        ("OPENAI_API_KEY",),
        description="The environment variable that holds the key, or a list of variables whose keys are used in turn.",
    )
    dimensions: int = Field(256, ge=8, le=65536, description="Length of the hashing embedder's vectors.")

    @model_validator(mode="after")
    def _is_whole(self) -> "Embedder":
        if self.kind is None and (self.addresses or self.model):
            raise ValueError('url or model is given, but no kind. Add kind = "endpoint" or kind = "folder"')
        if self.url and self.urls:
            raise ValueError(
                f"the embedder has `url` ({self.url}) and `urls` ({', '.join(self.urls)}). Remove one of them."
            )
        if len(set(self.urls)) < len(self.urls):
            raise ValueError("the embedder repeats an address in `urls`. Name each server once.")
        address = "urls" if self.urls else "url"
        needed = {"endpoint": (address, "model"), "folder": ("model",)}.get(self.kind or "", ())
        for name in needed:
            if not getattr(self, name):
                raise ValueError(f'an embedder of kind "{self.kind}" has no `{name}`. Add it to [embedder]')
        return self

    @property
    def addresses(self) -> tuple[str, ...]:
        """The addresses of the embedder's servers; they are not in its fingerprint."""
        return self.urls or ((self.url,) if self.url else ())

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
    """The hard limits on calls, tokens and cost."""

    name: str = Field(
        "",
        max_length=100,
        pattern=r"^[\w.-]*$",
        description="All processes and hosts with the same ledger share the limits under this name, and what was spent "
        "stays spent (`memflow budget`). Without a name, each command and each Dagster run has the whole limits.",
    )
    calls: int | None = Field(None, ge=1, description="Maximum number of requests.")
    tokens: int | None = Field(None, ge=1, description="Maximum number of prompt and answer tokens.")
    cost: float | None = Field(None, gt=0, description="Maximum cost, by the models' prices.")


class History(StrictModel):
    """What `memflow doctor --clean` keeps of the rows that later runs replaced."""

    days: float = Field(
        30, ge=0, le=36_500, description="Remove rows that were replaced longer ago, in days."
    )
    gigabytes: float = Field(
        5, ge=0, le=1_000_000, description="Remove the oldest replaced rows beyond this size, in gigabytes."
    )


class Training(StrictModel):
    """The environment that trains adapters (`memflow finetune`)."""

    python: str = Field("", description="The Python of an environment with memflow's extra `sft`.")


class Encoder(StrictModel):
    """The model of BERTScore for texts of one language: a local folder of transformers weights."""

    folder: NamedPath = Field(description="The folder of weights, such as roberta-base or bert-base-chinese.")
    name: str = Field(
        "", max_length=100, description="The name that scores show; the folder's name where empty."
    )
    layer: int | None = Field(
        None, ge=1, le=200, description="The layer; by default that of the bert-score package."
    )
