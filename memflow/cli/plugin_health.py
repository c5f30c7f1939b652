"""The checks of `memflow doctor` on benchmarks and on the user's memories."""

import shlex
from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

from memflow.cli.finding import Finding
from memflow.cli.model_health import PATIENCE
from memflow.errors import BadSettings, MemflowError
from memflow.repeats import memory_name

if TYPE_CHECKING:
    from resources.settings.own_sections import OwnMemory
    from resources.settings.settings import Settings


def benchmark_findings(settings: "Settings") -> Iterator[Finding]:
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


def memory_findings(settings: "Settings") -> Iterator[Finding]:
    from memflow.memories.registry import resolve_user_memories

    own = settings.own_memories()
    wanted = {memory_name(assistant) for assistant in settings.assistants}
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
