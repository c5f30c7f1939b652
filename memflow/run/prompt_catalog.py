"""All prompts of benchmarks, memories and repeated requests, by name, with the roles that receive them.

memflow/chat/prompts.py loads single prompts.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files

from memflow.benchmarks import registry
from memflow.benchmarks.api import Benchmark
from memflow.chat.prompts import Prompt, has_prompts, load_packaged, packaged_text, prompt_stems
from memflow.memories.registry import MemoryConfig, resolve_user_memories, shipped_systems
from memflow.memories.user_memories import UserMemory
from memflow.pipeline import WRITERS

ANY_ROLE = "any"
"""The role of a prompt that every model may receive."""
PROMPT_ROLES = ("simulator", "judge", "annotator", "assistant", "memory", ANY_ROLE)


@dataclass(frozen=True)
class CatalogPrompt:
    """A packaged prompt and the roles that receive it."""

    package: str
    stem: str
    roles: tuple[str, ...]
    prompt: Prompt

    @property
    def owner(self) -> str:
        """The benchmark or memory that the prompt belongs to: the first part of its name."""
        return self.prompt.name.partition("/")[0]

    @property
    def text(self) -> str:
        """The text of the packaged file."""
        return packaged_text(self.package, self.stem)


def prompt_catalog(user_memories: Mapping[str, UserMemory] | None = None) -> dict[str, CatalogPrompt]:
    """Return every packaged prompt by name, sorted; `user_memories` contains the user's own memories.

    If packages have a prompt of the same name, a benchmark's prompt has priority over a memory's or a shared prompt.
    """
    catalog: dict[str, CatalogPrompt] = {}

    def add(package: str, default: str, roles: Mapping[str, tuple[str, ...]]) -> None:
        for stem in prompt_stems(package):
            prompt = load_packaged(package, stem)
            prompt_roles = roles.get(prompt.name, (default,))
            catalog.setdefault(prompt.name, CatalogPrompt(package, stem, prompt_roles, prompt))

    memories = [system for system in shipped_systems() if system.needs_chat]
    memory_roles = {prompt.name: ("memory",) for system in memories for prompt in system.prompts}
    for benchmark in registry.benchmarks():
        root = type(benchmark).__module__.rpartition(".")[0]
        roles = {**memory_roles, **_benchmark_roles(benchmark)}
        for package in _packages_with_prompts(root) if root else ():
            add(package, "assistant" if package == root else _common_role(package, roles), roles)
    for package in _memory_packages(user_memories or {}):
        add(package, "memory", {})
    add("memflow.chat", ANY_ROLE, {})  # the prompts of no benchmark or memory
    return dict(sorted(catalog.items()))


def _packages_with_prompts(package: str) -> Iterator[str]:
    if has_prompts(package):
        yield package
    for item in files(package).iterdir():
        if item.is_dir() and item.joinpath("__init__.py").is_file():
            yield from _packages_with_prompts(f"{package}.{item.name}")


def _benchmark_roles(benchmark: Benchmark) -> dict[str, tuple[str, ...]]:
    """Return the roles of a benchmark's prompts by prompt name, without prompts that only the assistant gets."""
    domains = [domain for domain in registry.domains().values() if domain.benchmark == benchmark.name]
    tables = [table for table, step in WRITERS.items() if "judge" in step.models]
    prompts: dict[str, Iterable[Prompt]] = {
        "simulator": benchmark.simulator_prompts(),
        "judge": [
            item for domain in domains for table in tables for item in benchmark.judge_prompts(domain, table)
        ],
        "annotator": [prompt for domain in domains for prompt in benchmark.annotation_prompts(domain)],
    }
    roles: dict[str, tuple[str, ...]] = {}
    for role, role_prompts in prompts.items():
        for prompt_name in {prompt.name for prompt in role_prompts}:
            roles[prompt_name] = (*roles.get(prompt_name, ()), role)
    return roles


def _common_role(package: str, roles: Mapping[str, tuple[str, ...]]) -> str:
    """Return the role that all prompts of a benchmark's subpackage share; `assistant` without a shared role."""
    names = [load_packaged(package, stem).name for stem in prompt_stems(package)]
    roles_of_prompts = [set(roles[name]) for name in names if name in roles]
    common_roles = set.intersection(*roles_of_prompts) if roles_of_prompts else set()
    return min(common_roles, default="assistant")


def _memory_packages(user_memories: Mapping[str, UserMemory]) -> Iterable[str]:
    """Return the packages of all memories that need a chat model, each once; unusable user memories are skipped."""
    user_systems = [
        config.system
        for config in resolve_user_memories(user_memories).values()
        if isinstance(config, MemoryConfig)
    ]
    systems = [system for system in (*shipped_systems(), *user_systems) if system.needs_chat]
    return dict.fromkeys(system.memory.package() for system in systems)
