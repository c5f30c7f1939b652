"""The checks of `memflow doctor`. Each yields findings: a state and, if there is a fault, its fix.

findings.py checks models, the embedder and the stored results.
"""

import os
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from memflow.errors import BadSettings, MemflowError, MissingData
from memflow.operations.findings import (
    PATIENCE,
    Fault,
    Finding,
    checked,
    embedder_finding,
    model_finding,
    stored_findings,
)
from memflow.operations.front import Front
from memflow.repeats import memory_name

if TYPE_CHECKING:
    from memflow.resources.settings.settings import Settings


def examine(front: Front, *, full: bool = False) -> list[Finding]:
    """Return the findings of all checks, in the order in which the user should fix the items.

    With `full`, every byte of the stored results is read.
    """
    from memflow.resources.files.lake_format import OtherVersion

    file = front.settings or Path(os.environ.get("MEMFLOW_SETTINGS", "memflow.toml"))
    try:
        settings = front.load()
    except OtherVersion as error:
        return [Finding("home", "missing", "another version of memflow wrote it", str(error))]
    except MemflowError as error:
        fix = "Fix the file, or write an example with `memflow init`."
        return [Finding("settings", "missing", str(error), fix)]
    models = [*settings.role_models(), *(settings.model_of(name) for name in settings.assistants)]
    is_file = file.is_file()
    return [
        Finding("settings", "ok", str(file) if is_file else "the defaults; `memflow init` writes a file"),
        _home(settings.home),
        *_data(settings),
        *(model_finding(name, settings.model(name)) for name in dict.fromkeys(models)),
        embedder_finding(settings),
        *_prompts(settings),
        *_benchmarks(settings),
        *_metrics(),
        *_memories(settings),
        *stored_findings(settings, full),
    ]


def _home(home: Path) -> Finding:
    there = next(folder for folder in (home, *home.parents) if folder.exists())
    if there.is_dir() and os.access(there, os.W_OK):
        return Finding("home", "ok", str(home))
    fix = "Make the folder writable, or choose another with --home, MEMFLOW_HOME, or `home` in memflow.toml."
    return Finding("home", "missing", f"{home} is not writable", fix)


def _data(settings: "Settings") -> Iterator[Finding]:
    from memflow.benchmarks.datasets import how_to_get
    from memflow.resources.data.library import Library

    if settings.data.is_dir():
        yield Finding("data folder", "ok", str(settings.data))
    else:
        is_default = "data" not in settings.model_fields_set
        fix = "Download with `memflow data get NAME`, or fix MEMFLOW_DATA or `data` in memflow.toml."
        state: Fault = "absent" if is_default else "missing"
        yield Finding("data folder", state, f"{settings.data} does not exist", fix)
    library = Library(settings.data, settings.datasets)
    for domain in map(settings.domain, settings.domains):
        what = f"data of {domain.name}"
        try:
            available, lacking = library.datasets_of(domain)
        except MissingData:
            available, lacking = [], [library.dataset(name) for name in domain.datasets]
        except MemflowError as error:
            fix = f"Fix `datasets` of the domain {domain.name} in memflow.toml."
            yield Finding(what, "missing", str(error), fix)
            continue
        names = ", ".join(dataset.name for dataset in lacking or available)
        if lacking:
            fix = f"To use the whole domain: {how_to_get(lacking)}"
            yield Finding(what, "absent", f"{names} is missing, or a part of it", fix)
        else:
            yield Finding(what, "ok", names)


def _prompts(settings: "Settings") -> Iterator[Finding]:
    from memflow.resources.settings.prompt_folders import read_prompts, usable_prompts
    from memflow.run.prompt_catalog import prompt_catalog

    if settings.prompts is None:
        return
    _, problems = read_prompts(settings.prompts, prompt_catalog(settings.own_memories()))
    for problem in problems:
        yield Finding(f"prompt {problem.file}", "missing", problem.what, problem.fix)
    if not problems:
        yield Finding("prompts", "ok", f"{len(usable_prompts(settings))} replaced")


def _metrics() -> Iterator[Finding]:
    from memflow.scoring.catalog import unusable_metrics

    for metric in unusable_metrics():
        fix = f"Update, fix or uninstall the package {metric.package}."
        yield Finding(f"metric {metric.name}", "absent", metric.reason, fix)


def _benchmarks(settings: "Settings") -> Iterator[Finding]:
    from memflow.benchmarks import registry

    problems = {problem.name: problem for problem in registry.problems(ours=True)}
    needed = {settings.domain(name).benchmark for name in settings.domains}
    for name, plugin in registry.installed().plugins.items():
        if name not in problems:
            yield Finding(f"benchmark {name}", "ok", f"{len(plugin.spec.domains)} domains, {plugin.package}")
    for name, problem in problems.items():
        state: Fault = "missing" if name in needed else "absent"
        fix = f"Update, fix or uninstall the package {problem.package}."
        yield Finding(f"benchmark {name}", state, str(problem), fix)


def _memories(settings: "Settings") -> Iterator[Finding]:
    from memflow.memories.registry import resolve_user_memories

    own = settings.own_memories()
    wanted = {memory_name(assistant) for assistant in settings.assistants}
    for name, config in resolve_user_memories(own).items():
        state: Fault = "missing" if name in wanted else "absent"
        declared = settings.memories.get(name)
        if isinstance(config, BadSettings):
            fix = "Fix the class or its settings (template: docs/how-to/memory.md)."
            yield Finding(f"memory {name}", state, str(config), fix)
        elif declared is not None and declared.is_server:
            fix = f"Fix [memories.{name}] in memflow.toml, then run `memflow memories check {name}`."
            yield checked(f"memory {name}", lambda name=name: _server(settings, name), fix, state)  # type: ignore[misc]
        else:
            found = f"{own[name].path or own[name].system}, {own[name].origin}"
            yield Finding(f"memory {name}", "ok", found)


def _server(settings: "Settings", name: str) -> str:
    """Return the command of a memory server if it can be started, or the name at its address. Nothing is started.

    Raises BadSettings for a command that cannot be started, and the errors of `greet`.
    """
    from memflow.resources.memory_servers.declaration import check_command, greet

    own = settings.memories[name]
    if not own.command:
        hello = greet(name, own, PATIENCE)
        return f"{hello.name} {hello.version} at {own.url}"
    check_command(name, own)
    return f"{shlex.join(own.command)}; `memflow memories check {name}` starts it"
