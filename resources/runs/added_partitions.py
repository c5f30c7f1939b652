"""Partitions that command-line runs added to those of memflow.toml, so that the UI shows them and can rerun them.

A file in the home folder stores one JSON object per line. Only the code location reads the file, at load and reload;
other commands default to memflow.toml.
"""

import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from memflow.memories.main_code import MAIN
from memflow.repeats import memory_name, plain_name
from memflow.resources.files.checked_json import with_check, without_check
from memflow.resources.settings.own_sections import OwnMemory
from memflow.resources.settings.settings import Settings

FILE = "added_partitions.jsonl"


def add_partitions(
    base: Settings, settings: Settings, domains: Sequence[str], assistants: Sequence[str]
) -> None:
    """Store the domains and assistants of a command-line run that the settings file (`base`) lacks.

    `settings` contains the settings of the run. Memories given by import path are stored with their assistants. No
    other process can import a memory of `__main__`, such as that of a notebook cell.
    """
    known = with_added_partitions(base)
    of_main = {name for name, own in settings.memories.items() if own.path.startswith(f"{MAIN}:")}
    new = [
        name
        for name in assistants
        if name not in known.assistant_partitions and memory_name(name) not in of_main
    ]
    names = {memory_name(name) for name in new}
    line = {
        "domains": [name for name in domains if name not in known.domains],
        "assistants": new,
        "memories": {
            name: each.path for name, each in settings.memories.items() if name in names and each.path
        },
    }
    if not line["domains"] and not new:
        return
    settings.home.mkdir(parents=True, exist_ok=True)
    # One write at the end of the file: processes that add at once do not overwrite one another.
    file = os.open(settings.home / FILE, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        os.write(file, f"{json.dumps(with_check(line))}\n".encode())
    finally:
        os.close(file)


def with_added_partitions(settings: Settings) -> Settings:
    """Return the settings extended by the stored partitions.

    Stored partitions whose domain or model is no longer in the settings are skipped.
    """
    domains, assistants, memories = list(settings.domains), list(settings.assistants), dict(settings.memories)
    for line in _lines(settings.home / FILE):
        domains += [name for name in line["domains"] if settings.has_domain(name)]
        assistants += [
            name
            for name in line["assistants"]
            if (plain_name(name).partition("@")[2] or "scripted") in settings.models
        ]
        for name, path in line["memories"].items():
            memories.setdefault(name, OwnMemory(path=path))
    added = {
        "domains": tuple(dict.fromkeys(domains)),
        "assistants": tuple(dict.fromkeys(assistants)),
        "memories": memories,
    }
    return settings.model_copy(update=added)


def _lines(file: Path) -> Iterator[dict[str, Any]]:
    """Yield the JSON object of each line of the file of added partitions; skip damaged lines."""
    if not file.exists():
        return
    for line in file.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            found = without_check(json.loads(line))
        except ValueError:
            continue
        if isinstance(found, dict) and {"domains", "assistants", "memories"} <= set(found):
            yield found
