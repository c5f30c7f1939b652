"""The environment checks of `memflow doctor`. Each returns findings: a state and, if there is a fault, its fix."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from memflow.cli.finding import Finding
from memflow.cli.front import Front
from memflow.cli.model_health import embedder_findings, model_findings
from memflow.cli.plugin_health import benchmark_findings, memory_findings
from memflow.cli.stored_health import history_finding, stored_findings
from memflow.errors import BadInput, MemflowError

if TYPE_CHECKING:
    from resources.settings.settings import Settings


def examine(front: Front, *, full: bool = False) -> list[Finding]:
    """Return the findings of all checks, in the order in which the user should fix the items.

    With `full`, every byte of the stored results is read.
    """
    from resources.files.lake_format import OtherVersion

    try:
        settings = front.load()
    except OtherVersion as error:
        return [Finding("home", "missing", "another version of memflow wrote it", str(error))]
    except MemflowError as wrong:
        fix = "Fix the file, or write an example with `memflow init`."
        return [Finding("settings", "missing", str(wrong), fix)]
    return [
        _file(front),
        _home(settings.home),
        *_data(settings),
        *(finding for name in _in_use(settings) for finding in model_findings(name, settings.model(name))),
        *embedder_findings(settings),
        *_prompts(settings),
        *benchmark_findings(settings),
        *memory_findings(settings),
        history_finding(settings),
        *stored_findings(settings, full),
    ]


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
