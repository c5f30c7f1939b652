"""The fields of memflow.toml, with their defaults and the checks that concern several fields."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Literal, TypeVar

from platformdirs import user_data_path
from pydantic import Field, field_validator, model_validator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from memflow.benchmarks import registry
from memflow.benchmarks.domain_names import DEFAULT_PROFILE, MARK, DomainName
from memflow.errors import BadSettings
from memflow.repeats import Kind, repeat_in
from memflow.resources.settings.chat_models import Model
from memflow.resources.settings.embedder import Embedder
from memflow.resources.settings.own_sections import OwnDataset, OwnDomain, OwnMemory
from memflow.resources.settings.paths import SettingsFileSource
from memflow.resources.settings.roles import Roles, TokenLimits
from memflow.resources.settings.sections import BudgetLimits, Encoder, History
from memflow.resources.settings.values import DistinctNames, Judges, NamedPath
from memflow.suggestions import unknown_name

BASELINES = ("bm25_message", "bm25_session", "embed_message", "embed_session", "rag_2_4_30")
KEY = re.compile(r"[a-z0-9_]+")
T = TypeVar("T")


def default_data_folder() -> Path:
    """Return `memflow` below the user's data folder: that of XDG, or `Library/Application Support` on macOS."""
    return user_data_path("memflow", appauthor=False)


class SettingsFields(BaseSettings):
    """The content of memflow.toml. The environment variable MEMFLOW_<FIELD> overrides a field."""

    model_config = SettingsConfigDict(
        extra="forbid",
        frozen=True,
        env_prefix="MEMFLOW_",
        env_nested_delimiter="__",
        hide_input_in_errors=True,
    )

    home: NamedPath = Field(
        Path(".memflow"), description="The folder of lake, ledger, indexes and Dagster's instance."
    )
    data: NamedPath = Field(
        default_factory=default_data_folder,
        description="The folder of the published data sets (MEMFLOW_DATA overrides it). The default is "
        "$XDG_DATA_HOME/memflow or ~/.local/share/memflow; on macOS ~/Library/Application Support/memflow.",
    )
    lake: str = Field("", description="The folder of the lake; by default <home>/lake.")
    ledger: str = Field("", description="The ledger's SQLAlchemy URL; by default SQLite in <home>.")
    domains: DistinctNames = Field(
        registry.default_domains(),
        description="The domains: partitions of all tables except raw data and the leaderboard.",
    )
    assistants: DistinctNames = Field(
        ("none", "oracle", "full", "recent", *BASELINES),
        description="memory, or memory@model: the second dimension of the partitions.",
    )
    models: dict[str, Model] = Field(default_factory=dict, validate_default=True)
    roles: Roles = Roles()
    judges: dict[str, Judges] = Field(
        default_factory=dict, description="The judges of single domains, instead of the role `judge`."
    )
    calibrate_judges: bool = Field(
        True,
        description="Whether judges are asked for verdicts on known answers first, and those that fail do not count; "
        "without, judged scores are labeled uncalibrated.",
    )
    token_limits: TokenLimits = TokenLimits()
    budget: BudgetLimits = BudgetLimits()
    embedder: Embedder = Embedder()
    history: History = History()
    encoder: dict[Literal["en", "zh"], Encoder] = Field(
        default_factory=dict, description="BERTScore's model by language; without one BERTScore has no value."
    )
    wordnet: NamedPath | None = Field(
        None,
        description="A folder of WordNet for METEOR's synonyms; without it the metric is meteor_nowordnet.",
    )
    cmudict: NamedPath | None = Field(
        None, description="A file cmudict.dict for syllables; without it FKGL has no value."
    )
    prompts: NamedPath | None = Field(
        None, description="A folder of prompt files that replace packaged ones (`memflow prompts`)."
    )
    memories: dict[str, OwnMemory] = Field(default_factory=dict)
    own_domains: dict[str, OwnDomain] = Field(default_factory=dict)
    own_datasets: dict[str, OwnDataset] = Field(default_factory=dict)
    repeats: int = Field(
        1,
        ge=1,
        le=1000,
        description="Evaluations of each assistant, the first included: the others are partitions with requests of "
        "their own, and measure the noise of scores.",
    )
    repeats_of: Kind = Field(
        Kind.answers,
        description="What a repeat does again: `answers` (and their judging), `run` (playing, too) or `judge`.",
    )
    parallel: int = Field(
        0,
        ge=0,
        description="Partitions that `memflow run` executes at once; 0 chooses by the concurrency of the models.",
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
    def _lake_is_a_folder(cls, lake: str) -> str:
        if "://" in lake:
            raise ValueError("the lake is a folder. Write its path; several machines can mount a shared one.")
        return lake

    @model_validator(mode="after")
    def _models_exist(self) -> "SettingsFields":
        of_domains = [(f"judges.{domain}", name) for domain, names in self.judges.items() for name in names]
        for place, name in [*((f"roles.{role}", name) for role, name in self.roles.assigned()), *of_domains]:
            if name not in self.models:
                raise ValueError(f"{place}: {unknown_name('model', name, self.models, 'memflow models')}")
        for assistant in self.assistants:
            memory, _, model = _parsed(repeat_in, assistant).assistant.partition("@")
            if not KEY.fullmatch(memory) or (model and not KEY.fullmatch(model)):
                raise ValueError(
                    f"assistants: the name {assistant!r} is invalid. Use the form memory or memory@model, with "
                    "names in [a-z0-9_]."
                )
            if model and model not in self.models:
                what = unknown_name("model", model, self.models, "memflow models")
                raise ValueError(
                    f"assistants: {assistant}: {what}. Fix it, or add [models.{model}] to memflow.toml."
                )
        return self

    @model_validator(mode="after")
    def _domains_exist(self) -> "SettingsFields":
        for name in self.domains:
            if not self.has_domain(name):
                base = _parsed(DomainName.parse, name).base
                known = {*registry.domains(), *self.own_domains}
                what = unknown_name("domain", base, known, "memflow domains")
                raise ValueError(f"domains: {what}. [own_domains.{base}] adds it")
        for name in self.own_domains:
            if MARK in name:
                raise ValueError(
                    f"the domain name {name!r} in [own_domains] contains {MARK}, which marks a sample. Choose another "
                    f"name; a sample of an own domain is run as DOMAIN{MARK}N."
                )
            if DomainName.parse(name).profile != DEFAULT_PROFILE:
                raise ValueError(
                    f"the domain name {name!r} in [own_domains] ends with a profile. Choose another name, and set "
                    "`profile` of the domain."
                )
        for name in self.judges:
            if MARK in name:
                base = _parsed(DomainName.parse, name).base
                raise ValueError(
                    f"[judges] names the sample {name}, whose judges are those of {base}. Remove the limit from the "
                    "name."
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

    def has_domain(self, name: str) -> bool:
        """Return whether a domain of this name exists. The name may have the forms that `domain` accepts."""
        try:
            stem = DomainName.parse(name).stem
        except BadSettings:
            return False
        return stem in self.own_domains or stem in registry.domains()


def _parsed(parse: Callable[[str], T], name: str) -> T:
    """Return the parts of a name. Raises ValueError for an invalid name, as a validator of settings must."""
    try:
        return parse(name)
    except BadSettings as wrong:
        raise ValueError(str(wrong)) from wrong
