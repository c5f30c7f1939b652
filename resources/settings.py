"""Settings: memflow.toml, with the environment over it and the command line over both.

Secrets are never here: a model names the environment variable that holds its key. The partitions come from
`domains` and `assistants`, so a new assistant is a line in the file and a new partition in the UI.
"""

import os
import re
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    SettingsError,
    TomlConfigSettingsSource,
)

from memflow.benchmarks import registry
from memflow.benchmarks.datasets import Dataset
from memflow.benchmarks.domains import Domain
from memflow.chat.requests import Sampling
from memflow.errors import BadSettings
from memflow.fingerprint import digest
from memflow.memories.user_memories import UserMemory, installed_memories

KEY = re.compile(r"[a-z0-9_]+")

if TYPE_CHECKING:
    from memflow.memories.registry import MemoryConfig


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Model(_Strict):
    """A chat model and how it is asked."""

    kind: Literal["scripted", "endpoint", "vllm"] = Field(
        "endpoint",
        description="scripted: no model; endpoint: an address; vllm: started for the run, then ended.",
    )
    model: str = Field("scripted", max_length=300, description="The model's name, as its server knows it.")
    url: str = Field("", description="The OpenAI-compatible address, such as http://127.0.0.1:8000/v1.")
    revision: str = Field("", description="The weights' revision, where a name alone does not fix them.")
    key_variable: str = Field("OPENAI_API_KEY", description="The environment variable that holds the key.")
    temperature: float = Field(0.0, ge=0, le=2)
    top_p: float | None = Field(None, gt=0, le=1)
    seed: int | None = Field(
        None, description="Sampling's seed, for a server that takes one. The scripted chat draws with it."
    )
    max_tokens: int = Field(
        1024, ge=1, le=131072, description="Bound on an answer where its prompt sets none."
    )
    concurrency: int = Field(
        64, ge=1, le=4096, description="Requests in flight at most; less when the server asks."
    )
    patience: float = Field(
        120.0, gt=0, description="Seconds a request is tried again for before it is given up."
    )
    price_in: float = Field(0.0, ge=0, description="Price of a million prompt tokens.")
    price_out: float = Field(0.0, ge=0, description="Price of a million answer tokens.")
    executable: str = Field(
        "vllm", description="For kind vllm: the program that serves, in its own environment."
    )
    arguments: tuple[str, ...] = Field((), description="For kind vllm: further arguments of `vllm serve`.")
    adapter: str = Field(
        "", description="For kind vllm: the folder of an adapter of `model`, whose digest is the revision."
    )

    @model_validator(mode="after")
    def _has_an_address(self) -> "Model":
        if self.kind == "endpoint" and not self.url:
            raise ValueError(f"the model {self.model} is an endpoint, so it needs a url")
        if self.adapter and self.kind != "vllm":
            raise ValueError(f'the model {self.model} has an adapter, which is served by kind = "vllm" alone')
        if self.adapter and not self.revision:
            raise ValueError(f"the adapter {self.adapter} needs the revision that is in its manifest.json")
        return self

    @property
    def served_as(self) -> str:
        """The name by which its server is asked for it: an adapter's is its folder's."""
        return Path(self.adapter).name if self.adapter else self.model

    def fingerprint(self) -> str:
        """What makes its answers its own: name, revision and sampling; not where it is served, nor how fast."""
        return digest(self.kind == "scripted", self.served_as, self.revision, self.sampling())

    def sampling(self) -> Sampling:
        """How it samples, unless a prompt says otherwise."""
        return Sampling(self.temperature, self.top_p, self.max_tokens, self.seed)


class Roles(_Strict):
    """Which model plays which role."""

    simulator: str = Field("scripted", description="Plays the users: writes states, utterances and feedback.")
    judge: str = Field("scripted", description="Scores where a metric asks a model.")
    backbone: str = Field("scripted", description="Answers the training cases of off-policy feedback.")
    assistant: str = Field("scripted", description="Answers for an assistant that names no model of its own.")
    annotator: str = Field("scripted", description="Annotates the gold label of each checkpoint first.")
    verifier: str = Field(
        "scripted", description="Says so again, told what the annotator said; another model."
    )


class Embedder(_Strict):
    """What turns texts into vectors."""

    kind: Literal["hashing", "endpoint", "folder"] = Field(
        "hashing",
        description="hashing: ours, needs nothing; endpoint: an address; folder: sentence-transformers.",
    )
    model: str = Field("", description="The model's name at the endpoint, or the folder of weights.")
    url: str = Field("", description="The OpenAI-compatible address.")
    key_variable: str = Field("OPENAI_API_KEY", description="The environment variable that holds the key.")
    dimensions: int = Field(256, ge=8, le=65536, description="Length of the hashing embedder's vectors.")


class Training(_Strict):
    """What trains adapters (`memflow finetune`)."""

    python: str = Field(
        "", description="The Python of an environment of its own that has memflow's extra `sft`."
    )


class Encoder(_Strict):
    """The model of BERTScore for texts of one language: a local folder of transformers weights."""

    folder: Path = Field(description="The folder of weights, such as roberta-base or bert-base-chinese.")
    name: str = Field("", max_length=100, description="As figures name it; the folder's name where empty.")
    layer: int | None = Field(
        None, ge=1, le=200, description="The layer; that of bert-score's table for a model it knows."
    )


class OwnMemory(_Strict):
    """A memory system of the user's own: a class, or a known system with other parameters."""

    path: str = Field("", description="Where its class is: my_package.my_module:MyMemory.")
    system: str = Field("", description="Instead of a path: the known system that it is, such as rag.")
    parameters: dict[str, int | float | str | bool | tuple[str, ...]] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _is_one_thing(self) -> "OwnMemory":
        if bool(self.path) == bool(self.system):
            raise ValueError('it takes either path = "my_package.my_module:MyMemory" or system = "rag"')
        return self


class OwnDataset(_Strict):
    """Files of the user's own that a benchmark can read: personas, users, a recorded run."""

    benchmark: str = Field(description="The benchmark whose reader reads them.")
    files: tuple[str, ...] = Field(
        min_length=1,
        description="Paths: absolute, from ~, or below the data folder; a * stands for any name.",
    )
    title: str = ""
    licence: str = Field("the user's own", description="Kept with every record.")
    origin: str = Field("memflow.toml", description="Where they come from; kept with every record.")
    sums: dict[str, str] = Field(
        default_factory=dict, description="SHA-256 by path: files with another are refused."
    )

    def dataset(self, name: str) -> Dataset:
        """The data set, as readers take it."""
        return Dataset(
            name,
            self.title or name,
            self.benchmark,
            self.files,
            self.licence,
            self.origin,
            f"It is a data set of your own: put its files there, or mend [own_datasets.{name}].",
            self.sums,
            own=True,
        )


class OwnDomain(_Strict):
    """A domain of the user's own: a benchmark with other parameters or data."""

    benchmark: str
    datasets: tuple[str, ...]
    title: str = ""
    parameters: dict[str, Any] = Field(default_factory=dict)
    seed: int = 42


class Settings(BaseSettings):
    """All of memflow.toml. A field is also the environment variable MEMFLOW_<FIELD>, which goes over the file."""

    model_config = SettingsConfigDict(
        extra="forbid", frozen=True, env_prefix="MEMFLOW_", env_nested_delimiter="__"
    )

    home: Path = Field(
        Path(".memflow"), description="Where lake, ledger, indexes and Dagster's instance are kept."
    )
    data: Path | None = Field(
        None, description="The folder with the published data sets (MEMFLOW_DATA goes over it)."
    )
    lake: str = Field(
        "", description="The lake's root when it is not <home>/lake: a folder or s3://bucket/path."
    )
    ledger: str = Field("", description="The ledger's SQLAlchemy URL when it is not SQLite in <home>.")
    domains: tuple[str, ...] = Field(
        registry.default_domains(),
        description="The domains: the partitions of everything but raw data and the board.",
    )
    assistants: tuple[str, ...] = Field(
        (
            "none",
            "oracle",
            "full",
            "recent",
            "bm25_message",
            "bm25_session",
            "embed_message",
            "embed_session",
            "rag_2_4_30",
        ),
        description="memory, or memory@model: the second dimension of the partitions.",
    )
    models: dict[str, Model] = Field(default_factory=dict, validate_default=True)
    roles: Roles = Roles()
    embedder: Embedder = Embedder()
    training: Training = Training()
    encoder: dict[Literal["en", "zh"], Encoder] = Field(
        default_factory=dict, description="BERTScore's model by language; without one it has no value."
    )
    wordnet: Path | None = Field(
        None, description="A folder of WordNet, for METEOR's synonyms; without it, meteor_nowordnet."
    )
    cmudict: Path | None = Field(
        None, description="A file cmudict.dict, for syllables; without it FKGL has no value."
    )
    memories: dict[str, OwnMemory] = Field(default_factory=dict)
    own_domains: dict[str, OwnDomain] = Field(default_factory=dict)
    own_datasets: dict[str, OwnDataset] = Field(default_factory=dict)
    sensor_seconds: int = Field(
        30, ge=1, description="Seconds between two ticks of the sensor that makes anew what changed."
    )

    @field_validator("models")
    @classmethod
    def _always_scripted(cls, models: dict[str, Model]) -> dict[str, Model]:
        return {"scripted": Model(kind="scripted"), **models}

    @model_validator(mode="after")
    def _names_lead_somewhere(self) -> "Settings":
        for role, name in self.roles:
            if name not in self.models:
                raise ValueError(f"roles.{role} names the model {name}, which has no [models.{name}]")
        for assistant in self.assistants:
            memory, _, model = assistant.partition("@")
            if not KEY.fullmatch(memory) or (model and not KEY.fullmatch(model)):
                raise ValueError(f"the assistant {assistant!r} is not memory or memory@model in [a-z0-9_]")
            if model and model not in self.models:
                raise ValueError(f"the assistant {assistant} names a model that has no [models.{model}]")
        for name in self.domains:
            if name not in registry.domains() and name not in self.own_domains:
                raise ValueError(f"the domain {name} is neither built in nor in [own_domains.{name}]")
        for name in self.own_datasets:
            if not KEY.fullmatch(name) or name in registry.datasets():
                raise ValueError(f"own_datasets.{name}: take another name in [a-z0-9_], that is not taken")
        return self

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """The command line, then the environment, then the file."""
        return init_settings, env_settings, TomlConfigSettingsSource(settings_cls)

    def domain(self, name: str) -> Domain:
        """The domain of that name. Raises BadSettings naming those there are."""
        if name in self.own_domains:
            own = self.own_domains[name]
            return Domain(name, own.benchmark, own.datasets, own.title or name, own.parameters, own.seed)
        return registry.find_domain(name, {each: Domain(each, "", (), "") for each in self.own_domains})

    @property
    def datasets(self) -> dict[str, Dataset]:
        """Every known data set, the user's own among them."""
        return {**registry.datasets(), **{name: own.dataset(name) for name, own in self.own_datasets.items()}}

    def own_memories(self) -> dict[str, UserMemory]:
        """The user's own memories, as the registry takes them: what installed packages offer, and over it the
        file's."""
        of_file = {
            name: UserMemory(own.path, own.parameters, own.system) for name, own in self.memories.items()
        }
        return {**installed_memories(), **of_file}

    @property
    def lake_root(self) -> str:
        """Where the lake is: a folder, or s3://bucket/path."""
        return self.lake or str(self.home / "lake")

    @property
    def ledger_url(self) -> str:
        """The ledger's SQLAlchemy URL."""
        return self.ledger or f"sqlite:///{self.home / 'ledger.sqlite'}"

    @property
    def warehouse_path(self) -> Path:
        """Where memflow.duckdb is published."""
        return self.home / "memflow.duckdb"

    def model_of(self, assistant: str) -> str:
        """The name of the chat model that answers for an assistant."""
        return assistant.partition("@")[2] or self.roles.assistant

    def memory_of(self, assistant: str) -> "MemoryConfig":
        """The memory of an assistant. Raises BadSettings saying what there is."""
        from memflow.memories.registry import find  # noqa: PLC0415  (a second of imports, for those who need it)

        return find(assistant.partition("@")[0], self.own_memories())

    def model(self, name: str) -> Model:
        """The model of that name. Raises BadSettings naming those there are."""
        if name not in self.models:
            raise BadSettings(f"there is no [models.{name}]; there are {', '.join(self.models)}")
        return self.models[name]


def load(path: Path | None = None, over: Mapping[str, Any] | None = None) -> Settings:
    """The settings of the file (MEMFLOW_SETTINGS, or memflow.toml here, where there is one), with the environment and
    then `over` over them. Raises BadSettings saying what is wrong."""
    named = path or (Path(os.environ["MEMFLOW_SETTINGS"]) if "MEMFLOW_SETTINGS" in os.environ else None)
    if named is not None and not named.is_file():
        raise BadSettings(f"{named} is not there; `memflow init` writes an example")
    file = named or Path("memflow.toml")

    class FromFile(Settings):
        model_config = SettingsConfigDict(toml_file=file)

    try:
        settings = FromFile(**dict(over or {}))
    except ValidationError as wrong:
        first = wrong.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"]) or "as a whole"
        raise BadSettings(f"{file}: {place}: {first['msg']}") from wrong
    except (SettingsError, ValueError) as wrong:
        raise BadSettings(f"{file} cannot be read: {wrong}") from wrong
    return settings.model_copy(update={"home": settings.home.expanduser().absolute()})


def example() -> str:
    """The commented example that `memflow init` writes."""
    return files("resources").joinpath("memflow.toml").read_text(encoding="utf-8")
