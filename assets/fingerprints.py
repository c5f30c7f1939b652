"""Input fingerprints: for each partition, the content hash of everything that it is built from.

A partition is up to date if its stored fingerprint equals the current one; `memflow run` skips such a partition. A
fingerprint covers the contents of the inputs, the models, the parameters, and the code of the step. After a change of
code, the step is replayed from the ledger without new requests. memflow/pipeline.py defines the inputs and models of
each step.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from memflow.benchmarks import registry
from memflow.benchmarks.api import Benchmark
from memflow.benchmarks.domains import Domain
from memflow.chat.replacements import replacements
from memflow.entry_points import MEMORIES, installed, is_ours
from memflow.fingerprint import digest
from memflow.memories.main_code import MAIN, main_code
from memflow.memories.memory import Memory
from memflow.memories.registry import MemoryConfig
from memflow.memories.server.config import MEMORY_MODELS, OWN_MODELS
from memflow.memories.server.memory import ServerMemory
from memflow.metrics.backends import EMBEDDER
from memflow.pipeline import WRITERS, Scope, Step, partition_key, tables_of
from memflow.repeats import source_of
from memflow.resources.data.library import CHECKSUMS, Library
from memflow.resources.lake.facts import RUN
from memflow.resources.lake.lake import Lake
from memflow.resources.lake.partition_catalog import scored_domains
from memflow.resources.metric_backends.backends import fingerprints
from memflow.resources.settings.settings import Settings
from memflow.resources.source_code import SourceCode
from memflow.run.prompt_catalog import ANY_ROLE
from memflow.run.recording import SCRIPTED
from memflow.scoring.calibrations import CALIBRATED
from memflow.scoring.catalog import plugin_metrics
from memflow.scoring.judges import SELF_JUDGES
from memflow.scoring.scripted import SCRIPTED_RECALL

ALL = "all"
"""The partition of what is not partitioned."""
CODE = ".cache/code-2"
"""The cache of parsed source files below the home folder, with the version of its content."""
SCORING = ("memflow.scoring",)
"""The packages that compute scores for every benchmark."""
NO_SIMULATOR = "the data set"
"""Stands in for the simulator's fingerprint where the data set publishes what it would generate."""


class Fingerprints:
    """The current fingerprints, computed from the settings, the data files, the code and the contents of the lake."""

    def __init__(self, settings: Settings, lake: Lake, library: Library) -> None:
        self.settings = settings
        self.lake = lake
        self.library = library
        self.code = SourceCode(settings.home / CODE, _memory_modules())
        self._metric_backends: dict[frozenset[str], dict[str, str]] = {}
        self._memories: dict[str, tuple[MemoryConfig, str]] = {}
        self._simulators: dict[tuple[str, str], tuple[Domain, str | None]] = {}

    @classmethod
    def of(cls, settings: Settings) -> "Fingerprints":
        """Return the fingerprints for these settings, lake and library."""
        library = Library(settings.data, settings.datasets, settings.home / CHECKSUMS)
        return cls(settings, Lake(settings.lake_root), library)

    def step(self, step: Step, where: str | Domain = ALL, assistant: str = "") -> str:
        """Return the fingerprint of a step for a data set, a domain (or a sample of it), or the leaderboard."""
        if step.scope == "all":
            return self._leaderboard(step)
        if step.scope == "dataset":
            benchmark = registry.benchmark(self.library.dataset(str(where)).benchmark)
            return digest(step.name, self.library.sums(str(where)), self._code(step, benchmark))
        domain = where if isinstance(where, Domain) else self.settings.domain(where)
        benchmark = registry.benchmark(domain.benchmark)
        memory, memory_digest = self._memory(assistant) if assistant else (None, "")
        inputs = [
            self._contents(table, domain, assistant)
            for table, read in step.inputs_of(benchmark, domain, memory).items()
            if read
        ]
        models = [self._model(role, step, domain, assistant) for role in step.models]
        if step.name == "calibrations" and not self.settings.calibrates(domain.name):
            models = []
        parameters = (
            *(domain.name, domain.datasets, domain.parameters, domain.seed, domain.limit, domain.decoding),
        )
        return digest(
            step.name,
            parameters,
            assistant,
            memory_digest,
            inputs,
            models,
            self.provenance(step, domain, assistant),
            self._code(step, benchmark, memory),
        )

    def up_to_date(
        self,
        scope: Scope,
        where: str | Domain = ALL,
        assistant: str = "",
        tables: Sequence[str] | None = None,
    ) -> bool:
        """Return whether every table of a scope is up to date for a partition (of a data set, domain or assistant).

        With `tables`, only these. A partition with a damaged file is stale: its stored fingerprint cannot be trusted.
        """
        key = partition_key(where.name if isinstance(where, Domain) else where, assistant)
        today: dict[str, str] = {}
        for table in tables_of(scope) if tables is None else tables:
            step = WRITERS[table]
            facts = self.lake.intact_facts(table, key)
            if facts is None:
                return False
            if step.name not in today:
                today[step.name] = self.step(step, where, assistant)
            if facts.fingerprint != today[step.name]:
                return False
        return True

    def damaged(self, scope: Scope, where: str | Domain = ALL, assistant: str = "") -> list[str]:
        """Return the tables of a scope whose files are damaged for a partition, as far as is known."""
        key = partition_key(where.name if isinstance(where, Domain) else where, assistant)
        return [table for table in tables_of(scope) if self.lake.damage(table, key) is not None]

    def provenance(self, step: Step, domain: Domain, assistant: str = "") -> dict[str, str]:
        """Return the metadata to store with a step's rows, such as `model`; empty for steps that have none."""
        if step.name == "keys":
            names = self._annotating() if self.annotators(domain) else ()
            return {SCRIPTED: "yes" if self._any_scripted(names) else "no"}
        if step.name == "memories":
            behind = self.behind(domain, assistant)
            return {
                "model": behind["model"],
                "fingerprint": self.settings.model(behind["model"]).fingerprint(),
                "simulator": self.simulator("memory", domain) or NO_SIMULATOR,
                **{name: behind[name] for name in (SCRIPTED, "embedder", MEMORY_MODELS) if name in behind},
            }
        if step.name == "verdicts":
            return self.behind(domain, assistant)
        if step.name in ("retrieval", "rankings"):
            return self._of_search(step, domain, assistant)
        if step.name == "claims":
            scripted = "yes" if self._scripted_judge(step, domain) else "no"
            return {SCRIPTED: scripted, "states": self.content("state.changes", domain.name)}
        return {}

    def _of_search(self, step: Step, domain: Domain, assistant: str) -> dict[str, str]:
        """Return the metadata to store with entries that were searched, or read without an answer."""
        embedder = self.settings.embedder
        if step.name == "retrieval":
            return {"embedder": embedder.fingerprint()}
        embeds = self._embeds(self._memory(assistant)[0], assistant)
        return {
            SCRIPTED: "yes" if self._scripted_data(domain) else "no",
            **({"embedder": embedder.name, "embedder_fingerprint": embedder.fingerprint()} if embeds else {}),
        }

    def behind(self, domain: Domain, assistant: str) -> dict[str, str]:
        """Return the metadata of an assistant's verdicts by name: models, prompts, probes, limits `k` and `budget`."""
        stages = sorted(registry.benchmark(domain.benchmark).simulator_stages(domain))
        simulated = [self.simulator(stage, domain) for stage in stages]
        answering = self.settings.model_of(assistant)
        scripted = self._scripted_data(domain)
        memory = self._memory(assistant)[0]
        # A scripted assistant contributes to recall if it replies in the dialogues or works for the memory.
        uses_chat = memory.system.needs_chat or (
            memory.server is not None and memory.server.models == "given"
        )
        scripted_answers = self._any_scripted([answering])
        scripted_recall = scripted or (scripted_answers and (uses_chat or "memory" in stages))
        values = memory.values
        # A memory of a user's own may mean something else by the names.
        bounds = {name: str(values[name]) for name in ("k", "budget") if type(values.get(name)) is int}
        return {
            **bounds,
            **self._replaced_prompts(domain, memory),
            **({"embedder": self.settings.embedder.name} if self._embeds(memory, assistant) else {}),
            **({MEMORY_MODELS: OWN_MODELS} if memory.server and memory.server.models == "own" else {}),
            **({"window": window} if (window := self._window(assistant)) else {}),
            **self._self_judges(domain, answering),
            "model": answering,
            "simulator": next((fingerprint for fingerprint in simulated if fingerprint), NO_SIMULATOR),
            SCRIPTED: "yes" if scripted or scripted_answers else "no",
            SCRIPTED_RECALL: "yes" if scripted_recall else "no",
            "probes": self.content("question.probes", domain.name),
            CALIBRATED: self.content("score.calibrations", domain.name),
        }

    def _scripted_data(self, domain: Domain) -> bool:
        """Return whether a scripted chat simulated users, led training dialogues or labeled gold in a domain."""
        roles, stages = self.settings.roles, registry.benchmark(domain.benchmark).simulator_stages(domain)
        others = {
            *([roles.simulator] if stages else []),
            *([roles.backbone] if "feedback" in stages else []),
            *(self._annotating() if self.annotators(domain) else []),
        }
        recorded = any(self._meta("raw.records", name).get(SCRIPTED) == "yes" for name in domain.datasets)
        return recorded or self._any_scripted(others)

    def _embeds(self, memory: MemoryConfig, assistant: str) -> bool:
        """Return whether a memory embeds with the embedder of the settings, itself or through the model proxy."""
        uses_proxy = memory.server is not None and memory.server.models == "given"
        return memory.system.needs_embedder or (uses_proxy and self.settings.offers_embedder(assistant))

    def _window(self, assistant: str) -> str:
        """Return the context window of an assistant in tokens; empty if unknown or if the memory does not use it."""
        window = self.settings.window_of(assistant)
        uses = self._memory(assistant)[0].system.memory.uses_window
        return str(window) if uses and window is not None else ""

    def _self_judges(self, domain: Domain, answering: str) -> dict[str, str]:
        """Return metadata that names the judges with the weights of the answering model; empty if there are none."""
        judges = self.settings.judges_of(domain.name) if self.judge(domain) is not None else ()
        answers = self.settings.model(answering)
        names = [name for name in judges if self.settings.model(name).has_weights_of(answers)]
        return {SELF_JUDGES: "\n".join(names)} if names else {}

    def _replaced_prompts(self, domain: Domain, memory: MemoryConfig) -> dict[str, str]:
        """Return metadata that names the replaced prompts of an assistant's verdicts, empty without such prompts."""
        benchmark = registry.benchmark(domain.benchmark)
        root = _package(benchmark)
        judged = {prompt.name for table in WRITERS for prompt in benchmark.judge_prompts(domain, table)}
        roles = {
            *("assistant", ANY_ROLE),
            *(["simulator"] if benchmark.simulator_stages(domain) else []),
            *(["annotator"] if benchmark.annotation_prompts(domain) else []),
        }
        names = [
            f"{name}@{file.digest[:8]}"
            for name, file in replacements().items()
            if (f"{file.package}.".startswith(f"{root}.") and (roles & {*file.roles} or name in judged))
            or ANY_ROLE in file.roles
            or (memory.system.needs_chat and file.package == memory.system.memory.package())
        ]
        return {"replaced_prompts": " ".join(sorted(names))} if names else {}

    def simulator(self, stage: str, domain: Domain) -> str | None:
        """Return the simulator's fingerprint in a stage of a domain: its model and the benchmark's prompts for the
        stage.

        Return None if the stage calls no simulator, since the data set publishes the content.
        """
        key = (stage, domain.name)
        if key not in self._simulators or self._simulators[key][0] != domain:
            benchmark = registry.benchmark(domain.benchmark)
            called = stage in benchmark.simulator_stages(domain)
            prompts = benchmark.simulator_prompts() if called else []
            fingerprint = self._with_prompts(("simulator",), prompts) if called else None
            self._simulators[key] = (domain, fingerprint)
        return self._simulators[key][1]

    def annotators(self, domain: Domain) -> str | None:
        """Return the fingerprint of both annotators and their prompts; None if the domain calls none."""
        prompts = registry.benchmark(domain.benchmark).annotation_prompts(domain)
        return self._with_prompts(("annotator", "verifier"), prompts) if prompts else None

    def judge(self, domain: Domain, *tables: str) -> str | None:
        """Return the judge's fingerprint for `tables` or for all tables; None if no metric calls a judge."""
        benchmark = registry.benchmark(domain.benchmark)
        tables = tables or tuple(table for table, step in WRITERS.items() if "judge" in step.models)
        prompts = [prompt for table in tables for prompt in benchmark.judge_prompts(domain, table)]
        if not prompts:
            return None
        names = self.settings.judges_of(domain.name)
        fingerprint = self._with_prompts(("judge",), prompts, names)
        return fingerprint if len(names) == 1 else digest(fingerprint, names)

    def answering(self, assistant: str) -> str:
        """Return the fingerprint of an assistant: its memory's parameters, its chat model, and the embedder and the
        context window, if used."""
        memory, memory_digest = self._memory(assistant)
        model = self.settings.model(self.settings.model_of(assistant))
        embedder = self.settings.embedder.fingerprint() if self._embeds(memory, assistant) else ""
        bounds = self.settings.token_limits.fingerprint("assistant", "memory")
        return digest(
            memory_digest, model.fingerprint(), embedder, *filter(None, [bounds, self._window(assistant)])
        )

    def metric_backends(self, domain: Domain) -> dict[str, str]:
        """Return, by name, the fingerprints of those metric backends of a domain that the settings configure."""
        used = registry.benchmark(domain.benchmark).metric_backends(domain)
        if used not in self._metric_backends:
            embedder = {EMBEDDER: self.settings.embedder.fingerprint()} if EMBEDDER in used else {}
            self._metric_backends[used] = fingerprints(self.settings, used) | embedder
        return self._metric_backends[used]

    def code_of(self, step: Step, domain: Domain, assistant: str = "") -> str:
        """Return the content hash of the code that a step uses in a domain."""
        memory = self._memory(assistant)[0] if assistant else None
        return self._code(step, registry.benchmark(domain.benchmark), memory)

    def content(self, table: str, key: str) -> str:
        """Return the content hash of a partition; empty if it was never materialized or is damaged."""
        facts = self.lake.intact_facts(table, key)
        return "" if facts is None else facts.digest

    def _model(self, role: str, step: Step, domain: Domain, assistant: str) -> Any:
        if role == "simulator":
            return self.simulator(step.stage, domain)
        if role in ("annotator", "verifier"):
            return self.annotators(domain)
        if role == "judge":
            return self.judge(domain, *step.judged)
        if role == "assistant":
            return self.answering(assistant)
        if role == "metric backends":
            return self.metric_backends(domain)
        return self._with_prompts((role,), [])

    def _leaderboard(self, step: Step) -> str:
        """Return the fingerprint of the leaderboard's inputs: partitions, code, SQL queries and metrics."""
        contents = {}
        for table in step.inputs:
            for key in self.lake.partitions(table):
                facts = self.lake.intact_facts(table, key)
                if facts is not None:
                    meta = {name: value for name, value in facts.meta.items() if name != RUN}
                    contents[f"{table} {key}"] = [facts.digest, meta]
        stored = {key.partition(" ")[2].partition("/")[0] for key in contents}
        names = scored_domains(self.settings, stored)
        used = {self.settings.domain(name).benchmark for name in names}
        roots = {_package(registry.benchmark(name)) for name in used}
        return digest(
            step.name,
            contents,
            names,
            self.code.digest({*SCORING, *roots}),
            queries(),
            plugin_metrics(),
        )

    def scoring(self, benchmark: str) -> str:
        """Return the fingerprint of the code that computes a benchmark's scores from its verdicts."""
        roots = {*SCORING, _package(registry.benchmark(benchmark))}
        return digest(self.code.digest(roots), queries(), plugin_metrics())

    def _code(self, step: Step, benchmark: Benchmark, memory: MemoryConfig | None = None) -> str:
        assert step.function is not None, "a step over all partitions has the fingerprint of a leaderboard"
        roots = {step.function.__module__, _package(benchmark)}
        if memory is not None:
            bases = [base for base in memory.system.memory.__mro__ if issubclass(base, Memory)]
            # A base of memflow's own is covered as an import.
            outside = {base.__module__ for base in bases if not base.__module__.startswith("memflow.")}
            roots |= {_plugin(module) for module in {bases[0].__module__, *outside} - {MAIN}}
            if (of_main := main_code(memory.system.memory)) is not None:
                roots |= of_main.modules
        return self.code.digest(roots)

    def _with_prompts(self, roles: tuple[str, ...], prompts: list[Any], names: tuple[str, ...] = ()) -> str:
        """Return one fingerprint of the models of `roles`, the token limits of these roles, and `prompts`.

        `names` are the models to use instead of those of the roles.
        """
        names = names or tuple(getattr(self.settings.roles, role) for role in roles)
        prints = [self.settings.model(name).fingerprint() for name in names]
        bounds = self.settings.token_limits.fingerprint(*roles)
        return digest(prints, {prompt.name: prompt.digest for prompt in prompts}, *filter(None, [bounds]))

    def _any_scripted(self, names: Any) -> bool:
        return any(self.settings.model(name).kind == "scripted" for name in names)

    def _scripted_judge(self, step: Step, domain: Domain) -> bool:
        return self.judge(domain, *step.writes) is not None and self._any_scripted(
            self.settings.judges_of(domain.name)
        )

    def _memory(self, assistant: str) -> tuple[MemoryConfig, str]:
        """Return an assistant's memory and its content hash, cached because settings do not change in a process.

        That of a memory server is not cached: a step that starts the server may receive another answer to `hello`.
        """
        if assistant in self._memories:
            return self._memories[assistant]
        memory = self.settings.memory_of(assistant)
        config = memory, memory.fingerprint()
        if memory.server is None:
            self._memories[assistant] = config
        return config

    def _annotating(self) -> tuple[str, str]:
        return self.settings.roles.annotator, self.settings.roles.verifier

    def _contents(self, table: str, domain: Domain, assistant: str) -> list[str]:
        """Return the content hashes of the input's partitions from which a partition is built."""
        scope = WRITERS[table].scope
        if scope == "dataset":
            return [self.content(table, name) for name in domain.datasets]
        key = partition_key(domain.name, source_of(table, assistant) if scope == "domain x assistant" else "")
        return [self.content(table, key)]

    def _meta(self, table: str, key: str) -> Mapping[str, str]:
        facts = self.lake.intact_facts(table, key)
        return {} if facts is None else facts.meta


@lru_cache(maxsize=1)
def queries() -> str:
    """Return the content hash of the SQL tables, views and queries that aggregate verdicts."""
    paths = sorted(Path(str(files("memflow.sql"))).rglob("*.sql"))
    return digest([[path.name, path.read_text(encoding="utf-8")] for path in paths])


def _package(benchmark: Benchmark) -> str:
    """Return the name of the package that contains a benchmark's class."""
    module = type(benchmark).__module__
    return module.rpartition(".")[0] or module


def _plugin(module: str) -> str:
    """Return the package or module of a memory's class, such as `memflow.memories.mem0` or `my_package`."""
    parts = module.split(".")
    return ".".join(parts[:3]) if parts[0] == "memflow" else module.rpartition(".")[0] or module


@lru_cache(maxsize=1)
def _memory_modules() -> frozenset[str]:
    """Return the packages and modules of the memories that ship with memflow."""
    points = (point.module for point in installed(MEMORIES) if is_ours(point))
    return frozenset(_plugin(module) for module in (ServerMemory.__module__, *points))
