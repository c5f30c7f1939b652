"""The Dagster resources: fields with descriptions for the UI, filled from the settings, and the objects they provide.

The fields are not in run config, because they name programs, addresses, folders and variables with keys, which a web
page that can start a run must not choose; and because fingerprints are computed from the settings.

No field contains a secret: an API key is given by the name of its environment variable, and the password in the
ledger's URL is masked. The objects are implemented in other modules, without Dagster. `memflow run` opens them once for
all of its runs.
"""

import os
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from functools import cache
from typing import Any, TypeVar

import dagster as dg
from dagster._config.pythonic_config.resource import ConfigurableResourceFactoryResourceDefinition
from pydantic import Field
from sqlalchemy.engine import make_url

from memflow.errors import MemflowError
from memflow.resources.data.library import CHECKSUMS, Library
from memflow.resources.lake.lake import Lake
from memflow.resources.ledger.sql_ledger import SqlLedger
from memflow.resources.models.models import Models
from memflow.resources.publishing.warehouse import Warehouse
from memflow.resources.settings.settings import Settings
from memflow.resources.vllm_servers.servers import VllmServers

LEDGER_VARIABLE = "MEMFLOW_LEDGER"
T = TypeVar("T")


class ShownDefinition(ConfigurableResourceFactoryResourceDefinition):
    """The definition of a resource whose fields are shown in the UI and are not in run config."""

    @property
    def has_config_field(self) -> bool:
        """Whether run config has a section with the fields."""
        return False


@cache
def _shown(definition: ConfigurableResourceFactoryResourceDefinition) -> ShownDefinition:
    return ShownDefinition(
        definition.configurable_resource_cls,
        definition.resource_fn,
        definition.config_schema,
        definition.description,
        definition.nested_resources,
        definition.nested_partial_resources,
    )


class SettingsResource(dg.ConfigurableResource[T]):
    """A resource whose fields come from the settings alone."""

    def get_resource_definition(self) -> ShownDefinition:
        """Return the definition, the same at each call."""
        return _shown(super().get_resource_definition())


class LakeResource(SettingsResource[Lake]):
    """The lake: one Parquet file per table and partition."""

    root: str = Field(description="The folder of the lake.")

    def create_resource(self, context: dg.InitResourceContext) -> Lake:
        return Lake(self.root)


class WarehouseResource(SettingsResource[Warehouse]):
    """DuckDB over the tables of the lake."""

    path: str = Field(description="Where memflow.duckdb is published.")
    lake: dg.ResourceDependency[Lake]

    def create_resource(self, context: dg.InitResourceContext) -> Warehouse:
        return Warehouse(self.lake, self.path)


class DataResource(SettingsResource[Library]):
    """The files of the published data sets."""

    folder: str = Field(
        description="The folder with the data sets; by default a folder of the user (MEMFLOW_DATA)."
    )
    own_datasets: dict[str, Any] = Field(
        default={}, description="Data sets of [own_datasets] in memflow.toml."
    )
    checksums: str = Field(description="The file that caches the checksums.")
    settings: dg.ResourceDependency[Settings]

    def create_resource(self, context: dg.InitResourceContext) -> Library:
        return Library(self.settings.data, self.settings.datasets, self.checksums)


class LedgerResource(SettingsResource[SqlLedger]):
    """The ledger: every completed model request, and each run's use of it."""

    url: str = Field(description="The SQLAlchemy URL without its password, or the variable that holds it.")
    settings: dg.ResourceDependency[Settings]

    @contextmanager
    def yield_for_execution(self, context: dg.InitResourceContext) -> Iterator[SqlLedger]:
        with SqlLedger(self.settings.ledger_url) as ledger:
            yield ledger


class VllmResource(SettingsResource[VllmServers]):
    """vLLM servers: each starts when a run first uses its model, and ends with the last process that uses it."""

    models: dict[str, Any] = Field(
        default={}, description="The models of kind vllm in memflow.toml, by name."
    )
    home: str = Field(description="The home folder, whose runs share the servers.")
    settings: dg.ResourceDependency[Settings]

    @contextmanager
    def yield_for_execution(self, context: dg.InitResourceContext) -> Iterator[VllmServers]:
        with closing(VllmServers(self.settings.models, self.settings.home)) as servers:
            yield servers


class ModelsResource(SettingsResource[Models]):
    """The chat models by role, and the embedder."""

    roles: dict[str, Any] = Field(description="The model of each role: simulator, judge, backbone, ...")
    judges: dict[str, list[str]] = Field(default={}, description="The judges of single domains.")
    models: dict[str, Any] = Field(
        description="The models by name. `key_variable` is the environment variable that holds a key."
    )
    embedder: dict[str, Any] = Field(default={}, description="The embedder; the scripted chat needs none.")
    memories: dict[str, Any] = Field(default={}, description="Memories of [memories] in memflow.toml.")
    budget: dict[str, Any] = Field(default={}, description="The limits of a run on calls, tokens and cost.")
    ledger: dg.ResourceDependency[SqlLedger]
    vllm: dg.ResourceDependency[VllmServers]
    settings: dg.ResourceDependency[Settings]

    @contextmanager
    def yield_for_execution(self, context: dg.InitResourceContext) -> Iterator[Models]:
        models = Models(self.settings, self.ledger, self.settings.budget.budget(), servers=self.vllm)
        try:
            yield models
        finally:
            models.close_clients()


def configurable_resources(settings: Settings, lake: Lake | None = None) -> dict[str, Any]:
    """Return the resources by key, such as `ledger`. An open lake is shared, and so are the rows that it caches."""
    stored = lake or LakeResource(root=settings.lake_root)
    ledger = LedgerResource(url=_ledger_url(settings), settings=settings)
    models = {name: _plain(model) for name, model in settings.models.items()}
    vllm = VllmResource(
        models={name: fields for name, fields in models.items() if fields["kind"] == "vllm"},
        home=str(settings.home),
        settings=settings,
    )
    return {
        # No asset returns values. Dagster's default would add a folder to run config.
        "io_manager": dg.mem_io_manager.configured({}, {}, "Unused: the assets read and write the lake."),
        "lake": stored,
        "warehouse": WarehouseResource(path=str(settings.warehouse_path), lake=stored),
        "data": DataResource(
            folder=str(settings.data),
            own_datasets={name: _plain(each) for name, each in settings.own_datasets.items()},
            checksums=str(settings.home / CHECKSUMS),
            settings=settings,
        ),
        "ledger": ledger,
        "vllm": vllm,
        "models": ModelsResource(
            roles=settings.roles.model_dump(mode="json"),
            judges={domain: list(names) for domain, names in settings.judges.items()},
            models=models,
            embedder=_plain(settings.embedder),
            memories={name: _plain(each) for name, each in settings.memories.items()},
            budget=_plain(settings.budget),
            ledger=ledger,
            vllm=vllm,
            settings=settings,
        ),
    }


@contextmanager
def open_resources(
    settings: Settings, lake: Lake | None = None, instance: dg.DagsterInstance | None = None
) -> Iterator[dict[str, Any]]:
    """Open the resources, for a process that shares them between its runs. Yield their objects by name.

    Raises the MemflowError of a resource that cannot be opened, such as a damaged ledger.
    """
    resources = configurable_resources(settings, lake)
    with ExitStack() as stack:
        try:
            opened = stack.enter_context(dg.build_resources(resources, instance=instance))
        except dg.DagsterUserCodeExecutionError as error:
            raise (
                error.user_exception if isinstance(error.user_exception, MemflowError) else error
            ) from None
        yield {name: getattr(opened, name) for name in resources}


def _plain(value: Any) -> dict[str, Any]:
    """Return the non-default fields of a settings section, and its kind, if any."""
    kind = {"kind": value.kind} if getattr(value, "kind", None) else {}
    return {**value.model_dump(mode="json", exclude_defaults=True), **kind}


def _ledger_url(settings: Settings) -> Any:
    """Return the ledger's URL for display.

    If an environment variable sets the URL, return the variable's name; otherwise the URL without its password.
    """
    if os.environ.get(LEDGER_VARIABLE) == settings.ledger_url:
        return dg.EnvVar(LEDGER_VARIABLE)
    url = make_url(settings.ledger_url)
    return url.render_as_string(hide_password=True) if url.password else settings.ledger_url
