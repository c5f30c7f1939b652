"""Settings: memflow.toml, overridden by the environment, overridden by the command line.

Settings contain no secrets: a model has the name of the environment variable with its API key.
"""

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin

from pydantic import Field, ValidationError, field_validator, model_validator
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    SettingsError,
)

from memflow.benchmarks import registry
from memflow.benchmarks.datasets import Dataset
from memflow.benchmarks.domains import DEFAULT_PROFILE, Domain
from memflow.benchmarks.protocol import apply_profile, profile_in, with_profile
from memflow.benchmarks.samples import MARK, base_of, sample_in
from memflow.errors import BadSettings
from memflow.memories.user_memories import UserMemory, installed_memories
from memflow.suggestions import unknown_name
from resources.data.data_folder import default_data_folder
from resources.files.sqlite_urls import sqlite_path, sqlite_url
from resources.lake.storage.client import check_address
from resources.memory_servers.declaration import declared_server
from resources.settings.paths import SettingsFileSource, resolve_dataset, resolve_memory
from resources.settings.sections import (
    Bounds,
    BudgetLimits,
    Embedder,
    Encoder,
    History,
    Judges,
    Model,
    OwnDataset,
    OwnDomain,
    OwnMemory,
    Roles,
    Training,
)

BASELINES = ("bm25_message", "bm25_session", "embed_message", "embed_session", "rag_2_4_30")
KEY = re.compile(r"[a-z0-9_]+")
CHOOSE_EMBEDDER = (
    "Add a line to memflow.toml above its first [section]: "
    'embedder = { kind = "endpoint", url = "http://127.0.0.1:8001/v1", model = "BAAI/bge-m3" } or '
    'embedder = { kind = "folder", model = "/path/to/weights" }. On the command line: --embedder MODEL --embedder-url '
    "URL, or --embedder FOLDER. The built-in hashing embedder compares words, not meanings; choose it with --embedder "
    'hashing or embedder = { kind = "hashing" }.'
)

if TYPE_CHECKING:
    from memflow.memories.registry import MemoryConfig


class Settings(BaseSettings):
    """The content of memflow.toml. The environment variable MEMFLOW_<FIELD> overrides a field."""

    model_config = SettingsConfigDict(
        extra="forbid",
        frozen=True,
        env_prefix="MEMFLOW_",
        env_nested_delimiter="__",
        hide_input_in_errors=True,
    )

    home: Path = Field(
        Path(".memflow"), description="The folder of lake, ledger, indexes and Dagster's instance."
    )
    data: Path = Field(
        default_factory=default_data_folder,
        description="The folder of the published data sets (MEMFLOW_DATA overrides it). The default is "
        "$XDG_DATA_HOME/memflow or ~/.local/share/memflow; on macOS ~/Library/Application Support/memflow.",
    )
    lake: str = Field(
        "", description="The lake's root: a folder or s3://bucket/path; by default <home>/lake."
    )
    ledger: str = Field("", description="The ledger's SQLAlchemy URL; by default SQLite in <home>.")
    domains: tuple[str, ...] = Field(
        registry.default_domains(),
        description="The domains: partitions of all tables except raw data and the leaderboard.",
    )
    assistants: tuple[str, ...] = Field(
        ("none", "oracle", "full", "recent", *BASELINES),
        description="memory, or memory@model: the second dimension of the partitions.",
    )
    models: dict[str, Model] = Field(default_factory=dict, validate_default=True)
    roles: Roles = Roles()
    judges: dict[str, Judges] = Field(
        default_factory=dict, description="The judges of single domains, instead of the role `judge`."
    )
    bounds: Bounds = Bounds()
    budget: BudgetLimits = BudgetLimits()
    embedder: Embedder = Embedder()
    training: Training = Training()
    history: History = History()
    encoder: dict[Literal["en", "zh"], Encoder] = Field(
        default_factory=dict, description="BERTScore's model by language; without one BERTScore has no value."
    )
    wordnet: Path | None = Field(
        None,
        description="A folder of WordNet for METEOR's synonyms; without it the metric is meteor_nowordnet.",
    )
    cmudict: Path | None = Field(
        None, description="A file cmudict.dict for syllables; without it FKGL has no value."
    )
    prompts: Path | dict[str, Path] | None = Field(
        None,
        description="A folder of prompt files that replace packaged ones (`memflow prompts`), or a table of folders by "
        "benchmark, memory or role.",
    )
    memories: dict[str, OwnMemory] = Field(default_factory=dict)
    own_domains: dict[str, OwnDomain] = Field(default_factory=dict)
    own_datasets: dict[str, OwnDataset] = Field(default_factory=dict)
    parallel: int = Field(
        0,
        ge=0,
        description="Partitions that `memflow run` executes at once; 0 chooses by the concurrency of the models.",
    )
    processes: int = Field(
        1,
        ge=1,
        le=1024,
        description="Processes that share the episodes of a partition, and the concurrency of the models.",
    )
    sensor_seconds: int = Field(
        30, ge=1, description="Seconds between evaluations of the sensor that reruns stale partitions."
    )

    @field_validator("models")
    @classmethod
    def _always_scripted(cls, models: dict[str, Model]) -> dict[str, Model]:
        return {"scripted": Model(kind="scripted"), **models}

    @field_validator("lake")
    @classmethod
    def _lake_without_credentials(cls, lake: str) -> str:
        if "://" in lake and not lake.startswith("file://"):
            try:
                check_address(lake)
            except BadSettings as wrong:
                raise ValueError(str(wrong)) from None
        return lake

    @model_validator(mode="after")
    def _models_exist(self) -> "Settings":
        of_domains = [(f"judges.{domain}", name) for domain, names in self.judges.items() for name in names]
        for place, name in [*((f"roles.{role}", name) for role, name in self.roles.assigned()), *of_domains]:
            if name not in self.models:
                raise ValueError(f"{place}: {unknown_name('model', name, self.models, 'memflow models')}")
        for assistant in self.assistants:
            memory, _, model = assistant.partition("@")
            if not KEY.fullmatch(memory) or (model and not KEY.fullmatch(model)):
                raise ValueError(
                    f"the assistant name {assistant!r} is invalid. Use the form memory or memory@model, with "
                    "names in [a-z0-9_]."
                )
            if model and model not in self.models:
                what = unknown_name("model", model, self.models, "memflow models")
                raise ValueError(f"the assistant {assistant}: {what}. [models.{model}] adds it")
        return self

    @model_validator(mode="after")
    def _domains_exist(self) -> "Settings":
        for name in self.domains:
            if not self.has_domain(name):
                base = _base_of(name)
                known = {*registry.domains(), *self.own_domains}
                what = unknown_name("domain", base, known, "memflow domains")
                raise ValueError(f"{what}. [own_domains.{base}] adds it")
        for name in self.own_domains:
            if MARK in name:
                raise ValueError(
                    f"the domain name {name!r} in [own_domains] contains {MARK}, which marks a sample. Choose another "
                    f"name; a sample of an own domain is run as DOMAIN{MARK}N."
                )
            if profile_in(name)[1] != DEFAULT_PROFILE:
                raise ValueError(
                    f"the domain name {name!r} in [own_domains] ends with a profile. Choose another name, and set "
                    "`profile` of the domain."
                )
        for name in self.judges:
            if MARK in name:
                raise ValueError(
                    f"[judges] names the sample {name}, whose judges are those of {_base_of(name)}. Remove the limit "
                    "from the name."
                )
            if name not in registry.domains() and name not in self.own_domains:
                known = {*registry.domains(), *self.own_domains}
                raise ValueError(f"[judges]: {unknown_name('domain', name, known, 'memflow domains')}")
        for name in self.own_datasets:
            if not KEY.fullmatch(name) or name in registry.datasets():
                raise ValueError(
                    f"the data set name {name!r} in [own_datasets] is already used or contains characters outside "
                    "[a-z0-9_]. Choose another name."
                )
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
        """Return the sources by priority: command line, environment, file."""
        return init_settings, env_settings, SettingsFileSource(settings_cls)

    def domain(self, name: str) -> Domain:
        """Return a domain by name: DOMAIN, DOMAIN.PROFILE, or a sample of one of them with `~N` at the end.

        Raises BadSettings for an unknown name, with the known names, and for an invalid name of a sample.
        """
        base, limit = sample_in(name)
        if limit:
            return self.domain(base).limited(limit)
        stem, profile = profile_in(name)
        if profile != DEFAULT_PROFILE:
            domain = self.domain(stem)
            if domain.profile != DEFAULT_PROFILE:
                raise BadSettings(
                    f"the domain {name} names a profile, but [own_domains.{stem}] already sets the profile "
                    f"{domain.profile}. Use {stem}, or remove `profile` there."
                )
            return with_profile(domain, registry.protocol(domain.benchmark).points, profile)
        if name in self.own_domains:
            own = self.own_domains[name]
            domain = Domain(name, own.benchmark, own.datasets, own.title or name, own.parameters, own.seed)
            if own.profile == DEFAULT_PROFILE:
                return domain
            profiled = apply_profile(domain, registry.protocol(own.benchmark).points, own.profile)
            return replace(profiled, parameters={**profiled.parameters, **own.parameters})
        return registry.find_domain(name, {each: Domain(each, "", (), "") for each in self.own_domains})

    def has_domain(self, name: str) -> bool:
        """Return whether a domain of this name exists. The name may have the forms that `domain` accepts."""
        try:
            stem, _ = profile_in(base_of(name))
        except BadSettings:
            return False
        return stem in self.own_domains or stem in registry.domains()

    @property
    def datasets(self) -> dict[str, Dataset]:
        """Return all data sets, including those of the user."""
        return {**registry.datasets(), **{name: own.dataset(name) for name, own in self.own_datasets.items()}}

    def own_memories(self) -> dict[str, UserMemory]:
        """Return the memories of installed packages and of memflow.toml, which overrides packages, by name."""
        of_file = {
            name: UserMemory(
                own.path, own.own_parameters(), own.system, server=declared_server(name, own, self.home)
            )
            for name, own in self.memories.items()
        }
        return {**installed_memories(), **of_file}

    @property
    def lake_root(self) -> str:
        """The lake's root: a folder or s3://bucket/path."""
        return self.lake or str(self.home / "lake")

    @property
    def ledger_url(self) -> str:
        """The ledger's SQLAlchemy URL."""
        return self.ledger or sqlite_url(self.home / "ledger.sqlite")

    @property
    def warehouse_path(self) -> Path:
        """The path of memflow.duckdb."""
        return self.home / "memflow.duckdb"

    @property
    def written_folders(self) -> tuple[Path, ...]:
        """The local folders that a run writes to: the home, the lake, and the ledger's folder."""
        lake = () if "://" in self.lake_root else (Path(self.lake_root),)
        ledger = sqlite_path(self.ledger) if self.ledger else None
        return (self.home, *lake, *(() if ledger is None else (ledger.parent,)))

    def model_of(self, assistant: str) -> str:
        """Return the name of an assistant's chat model."""
        return assistant.partition("@")[2] or self.roles.assistant

    def judges_of(self, domain: str) -> tuple[str, ...]:
        """Return the judges' model names: those of the domain in [judges], with or without profile, or of the role.

        The judges of a sample are those of its domain.
        """
        base = base_of(domain)
        return self.judges.get(base) or self.judges.get(base.partition(".")[0]) or self.roles.judges

    def role_models(self) -> list[str]:
        """Return the names of the models of all roles, and of the judges in [judges]."""
        return list(dict.fromkeys([*(name for _, name in self.roles.assigned()), *self.judge_models()]))

    def judge_models(self) -> tuple[str, ...]:
        """Return the names of all judges: those of the role `judge`, and those of domains in [judges]."""
        of_domains = (name for names in self.judges.values() for name in names)
        return tuple(dict.fromkeys((*self.roles.judges, *of_domains)))

    def open_files(self, parallel: int) -> int:
        """Return an upper bound of the files and connections that a run of `parallel` partitions opens."""
        connections = sum(model.capacity for model in self.models.values() if model.kind != "scripted")
        return 200 + 30 * parallel + connections

    def partitions_at_once(self, assistants: Iterable[str]) -> int:
        """Return the number of partitions that `memflow run` executes concurrently.

        The default is one for each 16 concurrent requests of the models, at most 8. With the scripted chat, which never
        waits, the default is 1.
        """
        named = {*self.role_models(), *map(self.model_of, assistants)}
        served = [self.models[name].capacity for name in named if self.models[name].kind != "scripted"]
        return self.parallel or min(8, max(1, max(served, default=1) // 16))

    def memory_of(self, assistant: str) -> "MemoryConfig":
        """Return the memory of an assistant. Raises BadSettings for an unknown memory, with the known names."""
        from memflow.memories.registry import find  # noqa: PLC0415  (imports take a second)

        return find(assistant.partition("@")[0], self.own_memories())

    def window_of(self, assistant: str) -> int | None:
        """Return the maximum length of an assistant's prompts in tokens: the context window minus room for the answer.

        The room is the token limit of answers, at most half of the window. None if the profile states no window.
        """
        model = self.model(self.model_of(assistant))
        window = None if model.kind == "scripted" else model.profile.window
        if window is None:
            return None
        return max(window - self.bounds.of("assistant").of(None) - model.profile.headroom, window // 2)

    def offers_embedder(self, assistant: str) -> bool:
        """Return whether a memory server of an assistant may embed: an embedder is chosen, or the chat is scripted."""
        return self.embedder.kind is not None or self.model(self.model_of(assistant)).kind == "scripted"

    def check_embedder(self, assistants: Iterable[str]) -> None:
        """Raise BadSettings if assistants with a language model retrieve by embeddings, and no embedder is chosen."""
        if self.embedder.kind is not None:
            return
        found = {
            name: self.model_of(name)
            for name in assistants
            if self.model(self.model_of(name)).kind != "scripted"
            and self.memory_of(name).system.needs_embedder
        }
        if found:
            names, models = ", ".join(found), ", ".join(dict.fromkeys(found.values()))
            raise BadSettings(
                f"no embedder is chosen for the language model {models}, but these assistants retrieve by "
                f"embeddings: {names}. {CHOOSE_EMBEDDER}"
            )

    def model(self, name: str) -> Model:
        """Return a model by name. Raises BadSettings for an unknown name, with the known names."""
        if name not in self.models:
            raise BadSettings(unknown_name("model", name, self.models, "memflow models"))
        return self.models[name]


def load(path: Path | None = None, over: Mapping[str, Any] | None = None) -> Settings:
    """Return the settings of `path`, MEMFLOW_SETTINGS or ./memflow.toml, overridden by the environment, then by `over`.

    Raises BadSettings with the file, the setting and the fault.
    """
    named = path or (Path(os.environ["MEMFLOW_SETTINGS"]) if "MEMFLOW_SETTINGS" in os.environ else None)
    if named is not None and not named.is_file():
        raise BadSettings(f"the settings file {named} does not exist. Write an example with `memflow init`.")
    file = named or Path("memflow.toml")

    class FromFile(Settings):
        model_config = SettingsConfigDict(toml_file=file)

    try:
        settings = FromFile(**dict(over or {}))
    except ValidationError as wrong:
        first = wrong.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"]) or "the whole file"
        message = f"{first['msg'].rstrip('.')}. Fix this setting."
        if first["type"] == "extra_forbidden":
            message = _unknown_setting(first["loc"])
        raise BadSettings(f"{file}: {place}: {message}") from wrong
    except (SettingsError, ValueError) as wrong:
        raise BadSettings(f"cannot read the settings file {file}: {wrong}. Fix the file.") from wrong
    folder = file.absolute().parent
    # The default data folder is no choice of the user; it has own files only if it exists.
    has_data = "data" in settings.model_fields_set or settings.data.is_dir()
    data = settings.data if has_data else None
    resolved = {
        "home": settings.home.expanduser().absolute(),
        "memories": {name: resolve_memory(own, folder) for name, own in settings.memories.items()},
        "own_datasets": {
            name: resolve_dataset(own, folder, data) for name, own in settings.own_datasets.items()
        },
    }
    return settings.model_copy(update=resolved)


def example() -> str:
    """Return the commented example that `memflow init` writes."""
    return files("resources.settings").joinpath("memflow.toml").read_text(encoding="utf-8")


def _base_of(name: str) -> str:
    """Return the name of a sample's domain. Raises ValueError for an invalid name, as a validator of settings must."""
    try:
        return base_of(name)
    except BadSettings as wrong:
        raise ValueError(str(wrong)) from wrong


def _unknown_setting(location: tuple[int | str, ...]) -> str:
    """Return the message for the unknown setting at `location`, with similar settings of the section."""
    section: Any = Settings
    for part in location[:-1]:
        is_dict = get_origin(section) is dict
        section = get_args(section)[1] if is_dict else section.model_fields[part].annotation
    return unknown_name("setting", str(location[-1]), section.model_fields, "memflow init example.toml")
