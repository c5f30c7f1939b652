"""Fingerprints: the digest of everything a table's partition is made from.

A partition whose stored recipe equals today's is up to date, and `memflow run` leaves it alone. The parts are the
content digests of the tables it is made from, the fingerprints of the models that have a hand in it, its parameters,
and the code of memflow itself: a change of code costs a replay from the ledger, and no request.
"""

from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

from memflow.benchmarks import registry
from memflow.benchmarks.domains import Domain
from memflow.fingerprint import digest
from memflow.memories.registry import MemoryConfig
from memflow.run.evolution import evolves
from memflow.run.recording import SCRIPTED
from resources.lake import RUN, Lake
from resources.library import Library
from resources.metric_backends import fingerprints
from resources.settings import Settings

STATES = ("state.profiles", "state.variables", "state.changes", "state.entities")
PLAYED = ("memory.transcripts", "memory.indexes")
MEMORY = (*PLAYED, "memory.policies", "memory.feedback")
"""All that comes of playing; what is answered and scored from is PLAYED."""

BY_DOMAIN: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(STATES, ()),
    "utterance.turns": STATES,
    "question.keys": ("utterance.turns",),
    "question.probes": (*STATES, "utterance.turns", "question.keys"),
    "feedback.sessions": ("utterance.turns", "question.probes"),
}
"""Tables partitioned by domain, in the order of the walk, and the tables each is made from."""

BY_ASSISTANT: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(MEMORY, (*STATES, "utterance.turns", "feedback.sessions", "question.probes")),
    "answer.replies": (*PLAYED, "question.probes"),
    "score.verdicts": ("answer.replies", "question.probes"),
    "score.attributions": ("score.verdicts", "answer.replies", *PLAYED, "question.probes"),
    "score.claims": (*PLAYED, *STATES, "utterance.turns"),
}
"""Tables partitioned by domain and assistant, in the order of the walk, and the tables each is made from.

Only a memory that evolves is played with probes, and any memory in a domain whose training cases are asked while it
is played: elsewhere they are no part of the recipe.
"""
JUDGED = ("score.verdicts", "score.claims")
"""Tables for which a judge may be asked."""
CHECKSUMS = ".cache/checksums-1"
"""The cache of the data files' checksums below the home folder, with the version of its content."""
SCORED = ("score.attributions", "score.verdicts", "score.claims", "memory.policies")
"""What the leaderboard is made from, by domain and assistant."""

_PROBED = frozenset((table, "question.probes") for table in MEMORY)


class Fingerprints:
    """Today's recipes, from the settings, the data and what the lake holds."""

    def __init__(self, settings: Settings, lake: Lake, library: Library) -> None:
        self.settings = settings
        self.lake = lake
        self.library = library
        self._instruments: dict[frozenset[str], dict[str, str]] = {}
        self._memories: dict[str, MemoryConfig] = {}
        self._answering: dict[str, str] = {}
        self._simulators: dict[tuple[str, str], tuple[Domain, str | None]] = {}

    @classmethod
    def of(cls, settings: Settings) -> "Fingerprints":
        """Build the recipes of the settings, on their lake and library."""
        library = Library(settings.data, settings.datasets, settings.home / CHECKSUMS)
        return cls(settings, Lake(settings.lake_root), library)

    def raw(self, dataset: str) -> str:
        """The recipe of a data set's records: its files' sums."""
        return digest("raw.records", self.library.sums(dataset), code())

    def domain(self, table: str, domain: Domain) -> str:
        """The recipe of a table partitioned by domain."""
        raw = [self._content("raw.records", name) for name in domain.datasets]
        made_from = [self._content(name, domain.name) for name in BY_DOMAIN[table]]
        if table == "question.keys":
            models = [self.annotators(domain)]
        else:
            models = [self.simulator(table.split(".", maxsplit=1)[0], domain), self._backbone(table)]
        return digest(table, domain, raw, made_from, models, code())

    def assistant(self, table: str, domain: str, assistant: str) -> str:
        """The recipe of a table partitioned by domain and assistant."""
        of_domain, stage = self.settings.domain(domain), table.split(".", maxsplit=1)[0]
        made_from = [
            self._content(name, f"{domain}/{assistant}" if name in BY_ASSISTANT else domain)
            for name in BY_ASSISTANT[table]
            if (table, name) not in _PROBED or self.plays_probes(of_domain, assistant)
        ]
        models: list[Any] = [self.simulator(stage, of_domain), self.answering(assistant)]
        if stage == "score":
            models.append(self.behind(of_domain, assistant))
        if table in JUDGED:
            models.append(self.judge(domain, table))
        if table == "score.verdicts":
            models.append(self.instruments(of_domain))
        return digest(table, domain, assistant, made_from, models, code())

    def plays_probes(self, domain: Domain, assistant: str) -> bool:
        """Whether an assistant is asked probes while it is played: its memory evolves, or the domain wants it."""
        benchmark = registry.benchmark(domain.benchmark)
        recipe = self._memory(assistant)
        return benchmark.plays_probes(domain) or evolves(recipe, benchmark)

    def leaderboard(self) -> str:
        """The recipe of the leaderboard: every verdict and every probe there is, what stands behind them, and the
        questions by which they are added up."""
        made_from = {}
        for table in (*SCORED, "question.probes"):
            for partition in self.lake.partitions(table):
                facts = self.lake.facts(table, partition)
                if facts is not None:
                    meta = {name: value for name, value in facts.meta.items() if name != RUN}
                    made_from[f"{table} {partition}"] = [facts.digest, meta]
        return digest("score.leaderboard", made_from, list(self.settings.domains), code(), questions())

    def simulator(self, stage: str, domain: Domain) -> str | None:
        """The simulator's fingerprint in a stage of a domain: its model, and the prompts that the benchmark asks it
        with. None where the stage asks no simulator, since the data set publishes what it would make."""
        key = (stage, domain.name)
        if key not in self._simulators or self._simulators[key][0] != domain:
            self._simulators[key] = (domain, self._simulator(stage, domain))
        return self._simulators[key][1]

    def _simulator(self, stage: str, domain: Domain) -> str | None:
        benchmark = registry.benchmark(domain.benchmark)
        if stage not in benchmark.simulator_stages(domain):
            return None
        model = self.settings.model(self.settings.roles.simulator)
        return digest(
            model.fingerprint(), {prompt.name: prompt.digest for prompt in benchmark.simulator_prompts()}
        )

    def annotators(self, domain: Domain) -> str | None:
        """The annotators' fingerprint in a domain: both models, and the prompts that the benchmark asks them with. None
        where they are asked nothing."""
        prompts = registry.benchmark(domain.benchmark).annotation_prompts(domain)
        if not prompts:
            return None
        return digest(
            [self.settings.model(name).fingerprint() for name in self._annotating()],
            {prompt.name: prompt.digest for prompt in prompts},
        )

    def annotating(self, domain: Domain) -> dict[str, str]:
        """What stands behind a domain's keys, kept with them: whether a scripted chat annotated or verified."""
        names = self._annotating() if self.annotators(domain) else ()
        scripted = any(self.settings.model(name).kind == "scripted" for name in names)
        return {SCRIPTED: "yes" if scripted else "no"}

    def behind(self, domain: Domain, assistant: str) -> dict[str, str]:
        """What stands behind an assistant's verdicts in a domain: the models, the probes that were asked, and how much
        the memory may recall. It is kept with the verdicts, since settings and probes change."""
        roles = self.settings.roles
        stages = sorted(registry.benchmark(domain.benchmark).simulator_stages(domain))
        simulated = [self.simulator(stage, domain) for stage in stages]
        answering = self.settings.model_of(assistant)
        names = {
            answering,
            *([roles.simulator] if stages else []),
            *([roles.backbone] if "feedback" in stages else []),
            *(self._annotating() if self.annotators(domain) else []),
        }
        scripted = any(self.settings.model(name).kind == "scripted" for name in names)
        scripted |= any(self._meta("raw.records", name).get(SCRIPTED) == "yes" for name in domain.datasets)
        values = self._memory(assistant).values
        # A memory of a user's own may mean something else by the names.
        bounds = {name: str(values[name]) for name in ("k", "budget") if type(values.get(name)) is int}
        return {
            **bounds,
            "model": answering,
            "simulator": next((each for each in simulated if each), "the data set"),
            "scripted": "yes" if scripted else "no",
            "probes": self._content("question.probes", domain.name),
        }

    def played_by(self, domain: Domain, assistant: str) -> dict[str, str]:
        """Who spoke while an assistant's episodes were played. It is kept with them, for a recorded run."""
        behind = self.behind(domain, assistant)
        return {
            "model": behind["model"],
            "fingerprint": self.settings.model(behind["model"]).fingerprint(),
            "simulator": self.simulator("memory", domain) or "the data set",
            SCRIPTED: behind["scripted"],
        }

    def judge(self, domain: str, *tables: str) -> str | None:
        """The judge's fingerprint in a domain, for `tables` or all: its model, and the prompts that the benchmark asks
        it with. None where every metric is computed."""
        of_domain = self.settings.domain(domain)
        benchmark = registry.benchmark(of_domain.benchmark)
        prompts = [
            prompt for table in tables or JUDGED for prompt in benchmark.judge_prompts(of_domain, table)
        ]
        if not prompts:
            return None
        model = self.settings.model(self.settings.roles.judge)
        return digest(model.fingerprint(), {prompt.name: prompt.digest for prompt in prompts})

    def instruments(self, domain: Domain) -> dict[str, str]:
        """What the instruments of a domain's metrics are made of: those that the settings name. Looked at once."""
        used = registry.benchmark(domain.benchmark).metric_backends(domain)
        if used not in self._instruments:
            self._instruments[used] = fingerprints(self.settings, used)
        return self._instruments[used]

    def judging(self, domain: str) -> dict[str, str]:
        """What stands behind a domain's claims, kept with them: whether a scripted chat judged."""
        scripted = self._scripted_judge(domain, "score.claims")
        return {"scripted": "yes" if scripted else "no", "states": self._content("state.changes", domain)}

    def scored_by(self, domain: Domain, assistant: str) -> dict[str, str]:
        """What stands behind an assistant's verdicts, as `behind`; scripted also where a scripted chat judged."""
        found = self.behind(domain, assistant)
        return {**found, "scripted": "yes"} if self._scripted_judge(domain.name, "score.verdicts") else found

    def _scripted_judge(self, domain: str, table: str) -> bool:
        asked = self.judge(domain, table) is not None
        return asked and self.settings.model(self.settings.roles.judge).kind == "scripted"

    def answering(self, assistant: str) -> str:
        """An assistant's fingerprint: its memory's parameters, its chat model, and the embedder."""
        if assistant not in self._answering:
            model = self.settings.model(self.settings.model_of(assistant))
            memory = self._memory(assistant).fingerprint()
            embedder = self.settings.embedder
            self._answering[assistant] = digest(memory, model.fingerprint(), embedder.kind, embedder.model)
        return self._answering[assistant]

    def read(self, dataset: str) -> bool:
        """Whether a data set's records are up to date."""
        return self._fresh("raw.records", dataset, self.raw(dataset))

    def built(self, domain: Domain) -> bool:
        """Whether every table of a domain is up to date."""
        return all(self._fresh(table, domain.name, self.domain(table, domain)) for table in BY_DOMAIN)

    def measured(self, domain: str, assistant: str) -> bool:
        """Whether every table of a domain and an assistant is up to date."""
        return all(
            self._fresh(table, f"{domain}/{assistant}", self.assistant(table, domain, assistant))
            for table in BY_ASSISTANT
        )

    def published(self) -> bool:
        """Whether the leaderboard is up to date."""
        return self._fresh("score.leaderboard", "all", self.leaderboard())

    def _fresh(self, table: str, partition: str, recipe: str) -> bool:
        facts = self.lake.facts(table, partition)
        return facts is not None and facts.recipe == recipe

    def _memory(self, assistant: str) -> MemoryConfig:
        """The memory of an assistant, looked up once: settings and code do not change in a process."""
        if assistant not in self._memories:
            self._memories[assistant] = self.settings.memory_of(assistant)
        return self._memories[assistant]

    def _annotating(self) -> tuple[str, str]:
        return self.settings.roles.annotator, self.settings.roles.verifier

    def _backbone(self, table: str) -> str:
        model = self.settings.model(self.settings.roles.backbone)
        return model.fingerprint() if table == "feedback.sessions" else ""

    def _meta(self, table: str, partition: str) -> Mapping[str, str]:
        facts = self.lake.facts(table, partition)
        return {} if facts is None else facts.meta

    def _content(self, table: str, partition: str) -> str:
        facts = self.lake.facts(table, partition)
        return "" if facts is None else facts.digest


@lru_cache(maxsize=1)
def code() -> str:
    """Digest of the sources of memflow: its Python files, prompts and personas."""
    return digest([(name, text) for name, text in _sources(files("memflow"), "")])


@lru_cache(maxsize=1)
def questions() -> str:
    """Digest of the tables, views and questions in SQL, by which verdicts are added up."""
    return digest([(name, text) for name, text in _sources(files("sql"), "", (".sql",))])


def _sources(
    folder: Traversable, prefix: str, ends: tuple[str, ...] = (".py", ".md", ".yaml")
) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for item in sorted(folder.iterdir(), key=lambda item: item.name):
        name = f"{prefix}{item.name}"
        if item.is_dir() and item.name not in ("__pycache__", "cli"):
            found += _sources(item, f"{name}/", ends)
        elif item.name.endswith(ends):
            found.append((name, item.read_text(encoding="utf-8")))
    return found
