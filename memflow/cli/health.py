"""The environment checks of `memflow doctor`. Each returns findings: a state and, if there is a fault, its fix."""

import asyncio
import os
import shlex
import shutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from memflow.cli.front import Front
from memflow.errors import BadInput, BadSettings, MemflowError
from memflow.suggestions import MOST_NAMES

if TYPE_CHECKING:
    from resources.endpoints.profiles import Profile
    from resources.settings.chat_models import Model
    from resources.settings.own_sections import OwnMemory
    from resources.settings.sections import Embedder
    from resources.settings.settings import Settings

OLDEST = (3, 11)
STORED = {
    "lake": ("lake", "version"),
    "ledger": ("ledger",),
    "search indexes": ("index",),
    "memflow.duckdb": ("database",),
    "caches and records": ("cache", "data"),
}
"""The stored results that are verified, and the kinds of their damages."""
PATIENCE = 10.0
"""Seconds to wait for an endpoint's list of models."""


@dataclass(frozen=True)
class Finding:
    """The result of checking one item, such as a package or a folder, and how to fix the item.

    State `missing`: every run needs the item. State `absent`: only the feature that `fix` names needs the item. State
    `damaged`: stored results differ from what memflow wrote, or cannot be read.
    """

    what: str
    state: Literal["ok", "missing", "absent", "damaged"]
    found: str
    fix: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Return the finding as a dictionary for JSON output."""
        return {
            "what": self.what,
            "ok": self.state == "ok",
            "state": self.state,
            "found": self.found,
            "fix": self.fix,
        }


def examine(front: Front, *, full: bool = False) -> list[Finding]:
    """Return the findings of all checks, in the order in which the user should fix the items.

    With `full`, every byte of the stored results is read.
    """
    findings = [_python(), _packages()]
    try:
        settings = front.load()
    except MemflowError as wrong:
        return [
            *findings,
            Finding(
                "settings", "missing", str(wrong), "Fix the file, or write an example with `memflow init`."
            ),
        ]
    return [
        *findings,
        _file(front),
        _home(settings.home),
        *_data(settings),
        *(finding for name in _in_use(settings) for finding in _model(name, settings.model(name))),
        *_embedder_findings(settings),
        *_prompts(settings),
        *_trainer(settings),
        *_benchmarks(settings),
        *_own(settings),
        _history(settings),
        *_stored_results(settings, full),
    ]


def _python() -> Finding:
    found = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info >= OLDEST:
        return Finding("Python", "ok", found)
    return Finding(
        "Python", "missing", found, "Install with Python 3.11 or newer: make PYTHON=python3.12 run"
    )


def _packages() -> Finding:
    from packaging.requirements import Requirement

    try:
        wanted = [Requirement(line) for line in metadata.requires("memflow") or ()]
    except metadata.PackageNotFoundError:
        return Finding(
            "packages",
            "missing",
            "memflow itself is not installed",
            "Run `make run` in the folder of memflow.",
        )
    wanted = [each for each in wanted if each.marker is None or each.marker.evaluate({"extra": ""})]
    wrong = []
    for each in wanted:
        try:
            version = metadata.version(each.name)
        except metadata.PackageNotFoundError:
            wrong.append(f"{each.name} is missing")
        else:
            if not each.specifier.contains(version, prereleases=True):
                wrong.append(f"{each.name} {version} instead of {each.specifier}")
    if wrong:
        return Finding("packages", "missing", ", ".join(wrong), "Install requirements.lock with `make run`.")
    return Finding("packages", "ok", f"{len(wanted)} of {len(wanted)}")


def _file(front: Front) -> Finding:
    named = front.settings or Path(os.environ.get("MEMFLOW_SETTINGS", "memflow.toml"))
    if named.is_file():
        return Finding("settings", "ok", str(named))
    return Finding("settings", "ok", "no file, so the defaults are used; write a file with `memflow init`")


def _home(home: Path) -> Finding:
    there = next(folder for folder in (home, *home.parents) if folder.exists())
    if there.is_dir() and os.access(there, os.W_OK):
        return Finding("home", "ok", str(home))
    fix = "Make the folder writable, or choose another with --home, MEMFLOW_HOME, or `home` in memflow.toml."
    return Finding("home", "missing", f"{home} is not writable", fix)


def _data(settings: "Settings") -> Iterator[Finding]:
    from memflow.benchmarks.datasets import how_to_get
    from resources.data.library import Library

    if "data" not in settings.model_fields_set and not settings.data.exists():
        yield Finding(
            "data folder",
            "absent",
            f"{settings.data}, the default, does not exist",
            "To use published data, run `memflow data get NAME`, or set MEMFLOW_DATA or `data` in memflow.toml.",
        )
    elif not settings.data.is_dir():
        fix = "Create the folder, or fix MEMFLOW_DATA or `data` in memflow.toml."
        yield Finding("data folder", "missing", f"{settings.data} does not exist", fix)
    else:
        yield Finding("data folder", "ok", str(settings.data))
    library = Library(settings.data, settings.datasets)
    for name in settings.domains:
        try:
            wanted = [library.dataset(each) for each in settings.domain(name).datasets]
        except BadInput as wrong:
            yield Finding(
                f"data of {name}",
                "missing",
                str(wrong),
                f"Fix `datasets` of the domain {name} in memflow.toml.",
            )
            continue
        lacking = [each for each in wanted if each.readable and (each.optional or not library.found(each))]
        if not lacking:
            yield Finding(f"data of {name}", "ok", ", ".join(each.name for each in wanted if each.readable))
            continue
        without = ", ".join(
            f"a part of {each.name}" if library.found(each) else each.name for each in lacking
        )
        ways = how_to_get(lacking)
        yield Finding(
            f"data of {name}", "absent", f"{without} is missing", f"To use the whole domain: {ways}"
        )


def _in_use(settings: "Settings") -> list[str]:
    return list(
        dict.fromkeys([*settings.role_models(), *(settings.model_of(name) for name in settings.assistants)])
    )


def _model(name: str, model: "Model") -> list[Finding]:
    """Return one finding, or one for each address."""
    what = f"model {name}"
    if model.kind == "scripted":
        return [Finding(what, "ok", "scripted, not a language model")]
    if model.kind == "vllm" and not model.addresses:
        return [_vllm(what, model)]
    return [_served(what, url, model.model, model.key_variable, model.profile) for url in model.addresses]


def _vllm(what: str, model: "Model") -> Finding:
    program = shlex.split(model.executable)[0]
    if model.adapter and (wrong := _unserved(model)):
        return Finding(
            what,
            "missing",
            wrong,
            "Fix `adapter` and `revision` of the model in memflow.toml (docs/how-to/finetune.md).",
        )
    if shutil.which(program):
        return _startable(what, model, f"vLLM at {shutil.which(program)} for {model.model}")
    fix = "Set `executable` of the model in memflow.toml to the vllm program of an environment that has vLLM."
    return Finding(what, "missing", f"the program {program} was not found", fix)


def _startable(what: str, model: "Model", found: str) -> Finding:
    """Return whether this machine has the devices of a model."""
    from resources.vllm_servers.servers import server_plan

    try:
        server_plan(model)
    except BadSettings as wrong:
        return Finding(what, "missing", str(wrong), "Fix the model in memflow.toml (docs/how-to/vllm.md).")
    return Finding(what, "ok", found)


def _unserved(model: "Model") -> str | None:
    """Return the reason why a model's adapter cannot be served, or None."""
    from resources.training.adapter import load_adapter

    try:
        load_adapter(Path(model.adapter).expanduser(), model.revision)
    except MemflowError as wrong:
        return str(wrong)
    return None


def _trainer(settings: "Settings") -> Iterator[Finding]:
    if not settings.training.python:
        return
    program = shlex.split(settings.training.python)[0]
    if shutil.which(program):
        yield Finding("training", "ok", f"{shutil.which(program)} trains adapters")
    else:
        fix = "Set `python` under [training] to the Python of an environment that has memflow's extra sft."
        yield Finding("training", "missing", f"the program {program} was not found", fix)


def _embedder_findings(settings: "Settings") -> list[Finding]:
    from resources.endpoints.profiles import Profile

    chosen = settings.embedder
    if chosen.kind in (None, "hashing"):
        what = f"hashing, {chosen.dimensions} dimensions: compares words, not meanings"
        try:
            settings.check_embedder(settings.assistants)
        except BadSettings as wrong:
            return [Finding("embedder", "missing", what, str(wrong))]
        return [Finding("embedder", "ok", what)]
    if chosen.kind == "endpoint":
        return [
            _served("embedder", url, chosen.model, chosen.key_variable, Profile()) for url in chosen.addresses
        ]
    return [_folder_embedder(chosen)]


def _folder_embedder(chosen: "Embedder") -> Finding:
    if not Path(chosen.model).expanduser().is_dir():
        return Finding(
            "embedder",
            "missing",
            f"the folder {chosen.model!r} does not exist",
            "Set `model` under [embedder] to an existing folder.",
        )
    try:
        metadata.version("sentence-transformers")
    except metadata.PackageNotFoundError:
        fix = "Install memflow[local-embedder]."
        return Finding("embedder", "missing", "sentence-transformers is not installed", fix)
    return Finding("embedder", "ok", chosen.model)


def _prompts(settings: "Settings") -> Iterator[Finding]:
    from resources.settings.prompt_folders import usable_prompts

    if settings.prompts is None:
        return
    try:
        found = usable_prompts(settings)
    except MemflowError as wrong:
        yield Finding(
            "prompts", "missing", str(wrong), "Fix the files: `memflow prompts check` lists every problem."
        )
    else:
        yield Finding("prompts", "ok", f"{len(found)} replaced")


def _history(settings: "Settings") -> Finding:
    """Return the size of the replaced rows that the lake keeps."""
    from resources.lake.garbage_collection import kept_bytes
    from resources.lake.lake import Lake

    kept = kept_bytes(Lake(settings.lake_root)) / 1e9
    limit = settings.history.gigabytes
    found = (
        f"{kept:,.3f} GB of replaced rows; `memflow gc` keeps {limit:g} GB and {settings.history.days:g} days"
    )
    return Finding(
        "history", "ok" if kept <= limit else "absent", found, "" if kept <= limit else "Run `memflow gc`."
    )


def _stored_results(settings: "Settings", full: bool) -> Iterator[Finding]:
    """Yield whether lake, ledger, search indexes and memflow.duckdb are intact."""
    from memflow.records import TABLES
    from resources.lake.lake import Lake
    from resources.repair.verification import find_damages

    lake = Lake(settings.lake_root)
    found = find_damages(settings, lake, lambda *_: None, whole=full)
    files = sum(len(lake.partitions(table)) for table in TABLES)
    depth = "intact" if full else "intact at a quick look"
    for what, kinds in STORED.items():
        damages = [each for each in found if each.kind in kinds]
        if not damages:
            number = f", {files:,} files" if what == "lake" else ""
            yield Finding(what, "ok", f"{depth}{number}")
            continue
        names = [each.what for each in damages]
        some = ", ".join(names[:MOST_NAMES]) + (", ..." if len(names) > MOST_NAMES else "")
        fix = "Run `memflow repair`, which rebuilds what the ledger can rebuild, without requests."
        yield Finding(what, "damaged", f"{len(damages):,} damaged or missing: {some}", fix)


def _benchmarks(settings: "Settings") -> Iterator[Finding]:
    from memflow.benchmarks import registry

    problems = {each.name: each for each in registry.problems(ours=True)}
    needed = {settings.domain(name).benchmark for name in settings.domains}
    for name, plugin in registry.installed().plugins.items():
        if name not in problems:
            yield Finding(f"benchmark {name}", "ok", f"{len(plugin.spec.domains)} domains, {plugin.package}")
    for each in problems.values():
        fix = f"Update, fix or uninstall the package {each.package}."
        yield Finding(
            f"benchmark {each.name}", "missing" if each.name in needed else "absent", str(each), fix
        )


def _own(settings: "Settings") -> Iterator[Finding]:
    from memflow.memories.registry import resolve_user_memories

    own = settings.own_memories()
    wanted = {assistant.partition("@")[0] for assistant in settings.assistants}
    for name, found in resolve_user_memories(own).items():
        if isinstance(found, BadSettings):
            fix = "Fix the class or its settings (template: docs/how-to/memory.md)."
            yield Finding(f"memory {name}", "missing" if name in wanted else "absent", str(found), fix)
        else:
            declared = settings.memories.get(name)
            if declared is not None and declared.is_server:
                yield _memory_server(name, declared, name in wanted)
            else:
                yield Finding(
                    f"memory {name}", "ok", f"{own[name].path or own[name].system}, {own[name].origin}"
                )


def _memory_server(name: str, own: "OwnMemory", wanted: bool) -> Finding:
    """Return whether the command of a memory server can be started, or its address answers. Nothing is started."""
    from resources.memory_servers.declaration import check_command, greet

    state: Literal["missing", "absent"] = "missing" if wanted else "absent"
    fix = f"Fix [memories.{name}] in memflow.toml, then run `memflow memories check {name}`."
    if own.command:
        wrong = check_command(name, own)
        found = wrong or f"{shlex.join(own.command)}; `memflow memories check {name}` starts it"
        return Finding(f"memory {name}", state if wrong else "ok", found, fix if wrong else "")
    try:
        hello = greet(name, own, PATIENCE)
    except MemflowError as error:
        return Finding(f"memory {name}", state, str(error), fix)
    return Finding(f"memory {name}", "ok", f"{hello.name} {hello.version} at {own.url}")


def _served(what: str, url: str, model: str, key_variables: Sequence[str], profile: "Profile") -> Finding:
    """Request the model list of an endpoint. Return a finding that states whether the endpoint serves the model."""
    from memflow.errors import ChatError, EndpointDown, NoAnswer, RequestRefused
    from resources.endpoints.endpoint import Endpoint
    from resources.endpoints.model_list import read_model_names

    endpoint = Endpoint(url, key_variables, profile, timeout=PATIENCE, tries=1)

    async def names() -> list[str]:
        async with endpoint:
            return await endpoint.get("/models", read_model_names)

    try:
        known = asyncio.run(names())
    except EndpointDown as error:
        return Finding(what, "missing", str(error), "Start the server, or fix `url` in memflow.toml.")
    except NoAnswer as error:
        fix = "Use an OpenAI-compatible server, or fix `url` in memflow.toml."
        return Finding(what, "missing", str(error), fix)
    except RequestRefused as error:
        keys = " or ".join(key_variables)
        fix = f"Set the environment variable {keys} to a key." if error.status in (401, 403) else "Fix `url`."
        return Finding(what, "missing", str(error), fix)
    except (ChatError, BadInput) as error:
        return Finding(what, "missing", str(error), "Rerun when the server works.")
    if model not in known:
        shown = ", ".join(known[:5]) + (", ..." if len(known) > 5 else "")
        return Finding(
            what,
            "missing",
            f"{endpoint.address} serves {shown or 'no model'}, but not {model!r}",
            "Fix `model` in memflow.toml, or start a server with this model.",
        )
    return Finding(what, "ok", f"{model} at {endpoint.address}")
