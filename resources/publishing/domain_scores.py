"""Scores of one domain. Only scores with changed inputs are computed again; the others come from a cache.

Three kinds of values are cached per assistant: its verdicts summed by group (`groups`), the benchmark's own scores
(`own`), and the scores under the metrics that all benchmarks share (`shared`). The cache key of a value is the content
hash of all its inputs: versions of partitions, parameters, code, and for `own` the population to compare with.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from functools import cached_property
from typing import Any, TypeVar

from memflow.benchmarks import registry
from memflow.benchmarks.domains import Domain
from memflow.fingerprint import digest
from memflow.pipeline import WRITERS, partition_key
from memflow.records import Probe, Score, Verdict
from memflow.resources.lake.lake import Lake
from memflow.resources.lake.partition_catalog import PartitionCatalog
from memflow.resources.publishing.completeness import all_gaps
from memflow.resources.publishing.health import cached_health, stored_calibrations
from memflow.resources.publishing.score_cache import DomainCache, plain_values, rows_of
from memflow.resources.publishing.warehouse import WarehouseSession
from memflow.run.recording import SCRIPTED
from memflow.scoring.comparability import MeasuredSettings
from memflow.scoring.completeness import INCOMPLETE
from memflow.scoring.continual import CheckpointSums
from memflow.scoring.efficiency import OperationSums
from memflow.scoring.groups import Group
from memflow.scoring.leaderboard import (
    AssistantScores,
    DomainRows,
    bound,
    combine_scores,
    own_scores,
    populations_of,
    shared_scores,
)
from memflow.scoring.published_health import is_faulty
from memflow.scoring.scripted import SCRIPTED_JUDGE

QUERIED = ("score.verdicts", "answer.replies", "memory.transcripts", "question.probes")
"""The tables whose rows are summed in SQL."""
SCORED = (*WRITERS["score.leaderboard"].inputs, "answer.replies", "memory.transcripts")
"""The tables that scores are computed from."""
STATES = "state.changes"
"""The table whose content hash states whether claims are on the current states."""
GROUPS, OWN, SHARED = "groups", "own", "shared"

Row = TypeVar("Row", Group, OperationSums, CheckpointSums)
Sums = tuple[dict[str, list[Group]], dict[str, list[OperationSums]], dict[str, list[CheckpointSums]]]


class DomainScorer:
    """A scorer of all `assistants` in one domain. `code` is the version of the scoring code.

    Verdicts on outdated probes are ignored, and so are claims on outdated states.
    """

    def __init__(
        self,
        domain: Domain,
        assistants: Iterable[str],
        lake: Lake,
        catalog: PartitionCatalog,
        cache: DomainCache,
        code: str = "",
    ) -> None:
        self.domain = domain
        self._lake = lake
        self._catalog = catalog
        self._cache = cache
        self._benchmark = registry.benchmark(domain.benchmark)
        self._meta = {name: meta for name in assistants if (meta := self._current_meta(name)) is not None}
        self._inputs = digest(
            code,
            (domain.name, domain.datasets, domain.parameters, domain.seed, domain.limit),
            catalog.version("question.probes", domain.name),
        )
        self._health = {
            name: health
            for name in self._meta
            if (health := cached_health(lake, catalog, cache, domain.name, name)) is not None
        }
        kinds = (GROUPS, SHARED) if self._benchmark.aggregates_in_sql else (SHARED,)
        self._stale = {
            kind: {name for name in self._meta if not cache.has(name, kind, self._key(kind, name))}
            for kind in kinds
        }
        self._sums: Sums = ({}, {}, {})

    @property
    def partitions(self) -> set[str]:
        """The partitions that `query` reads: the changed partitions, and the baselines that their scores depend on."""
        stale = set().union(*self._stale.values())
        bounds = {bound(name, "none") for name in stale} & set(self._meta)
        keys = {partition_key(self.domain.name, name) for name in stale | bounds}
        return {self.domain.name, *keys} if keys else set()

    def query(self, session: WarehouseSession) -> None:
        """Query the sums of verdicts, operations and checkpoints of the changed partitions, if any."""
        only, domain = self.partitions, self.domain.name
        if only:
            has_checkpoints = any(probe.question_id for probe in self._probes)
            groups = (
                session.query("verdict_groups", only, domain=domain)
                if self._benchmark.aggregates_in_sql
                else []
            )
            self._sums = (
                _by_assistant(Group, groups),
                _by_assistant(OperationSums, session.query("operations", only, domain=domain)),
                _by_assistant(
                    CheckpointSums,
                    session.query("continual", only, domain=domain) if has_checkpoints else [],
                ),
            )

    def scores(self) -> list[Score]:
        """Return the scores of every assistant, in the order of the assistants. Save new values in the cache."""
        populations = {
            model: (population, digest(population))
            for model, population in populations_of(
                self._benchmark, self._meta, self._groups, self._health
            ).items()
        }
        found = {
            name: AssistantScores(self._own(name, *populations[meta["model"]]), *self._shared(name))
            for name, meta in self._meta.items()
        }
        self._cache.save(self._meta)
        return combine_scores(self._benchmark, found, self._health)

    def _own(self, name: str, population: Any, version: str) -> Sequence[Score]:
        key = self._key(OWN, name, version)
        if self._cache.has(name, OWN, key):
            return rows_of(Score, self._cache.get(name, OWN))
        scores = own_scores(self._benchmark, self._domain_rows, name, population)
        self._cache.put(name, OWN, key, plain_values(scores))
        return scores

    def _shared(self, name: str) -> tuple[Sequence[Score], MeasuredSettings]:
        if name not in self._stale[SHARED]:
            scores, settings = self._cache.get(name, SHARED)
            return rows_of(Score, scores), MeasuredSettings(**settings)
        computed, measured = shared_scores(self._domain_rows, name, self._slices)
        self._cache.put(name, SHARED, self._key(SHARED, name), [plain_values(computed), asdict(measured)])
        return computed, measured

    @cached_property
    def _groups(self) -> dict[str, list[Group]]:
        """The verdicts of every assistant, summed by group; empty unless the benchmark aggregates in SQL."""
        if not self._benchmark.aggregates_in_sql:
            return {}
        for name in self._stale[GROUPS]:
            rows = self._sums[0].get(name, [])
            self._cache.put(name, GROUPS, self._key(GROUPS, name), plain_values(rows))
        return {
            name: self._sums[0].get(name, [])
            if name in self._stale[GROUPS]
            else rows_of(Group, self._cache.get(name, GROUPS))
            for name in self._meta
        }

    @cached_property
    def _domain_rows(self) -> DomainRows:
        _, operations, checkpoints = self._sums
        return DomainRows(
            domain=self.domain,
            probes=self._probes,
            meta=self._meta,
            verdicts=self._verdicts,
            groups=self._groups,
            operations=operations,
            checkpoints=checkpoints,
            read=self._read,
            scripted_judge=self._scripted_judge,
            health=self._health,
            independent=self._benchmark.independent_episodes,
            calibrations=lambda name: stored_calibrations(self._lake, self.domain.name, self._meta[name]),
        )

    @cached_property
    def _slices(self) -> Mapping[str, frozenset[str]]:
        return self._benchmark.slices(self.domain, self._probes)

    def _key(self, kind: str, name: str, population: str = "") -> str:
        """Return the cache key of a value: the content hash of its inputs."""
        tables = {
            GROUPS: (),
            OWN: ("score.claims", "memory.policies"),
            SHARED: ("score.attributions", "answer.replies", "memory.transcripts"),
        }[kind]
        bounds = {GROUPS: (), OWN: ("oracle", "none"), SHARED: ("none",)}[kind]
        baselines = (bound(name, memory) for memory in bounds)
        verdicts = [name, *("" if is_faulty(each, self._health) else each for each in baselines)]
        return digest(
            self._inputs,
            [self._version("score.verdicts", each) if each in self._meta else "" for each in verdicts],
            [self._version(table, name) if self._is_current(table, name) else "" for table in tables],
            population,
        )

    def _version(self, table: str, name: str) -> str:
        return self._catalog.version(table, partition_key(self.domain.name, name))

    def _current_meta(self, name: str) -> Mapping[str, str] | None:
        """Return the metadata of an assistant's verdicts; None if missing or if the probes have changed since."""
        probes = self._catalog.get("question.probes", self.domain.name)
        verdicts = self._catalog.get("score.verdicts", partition_key(self.domain.name, name))
        if probes is None or verdicts is None or verdicts.facts.meta.get("probes") != probes.facts.digest:
            return None
        gaps = all_gaps(probes.facts, verdicts.facts)
        return {**verdicts.facts.meta, INCOMPLETE: gaps or ""}

    def _is_current(self, table: str, name: str) -> bool:
        entry = self._catalog.get(table, partition_key(self.domain.name, name))
        if table != "score.claims" or entry is None:
            return entry is not None
        states = self._states
        return states is not None and entry.facts.meta.get("states") == states

    @cached_property
    def _states(self) -> str | None:
        facts = self._lake.facts(STATES, self.domain.name)
        return None if facts is None else facts.digest

    @cached_property
    def _probes(self) -> list[Probe]:
        probes = self._lake.read("question.probes", self.domain.name)
        return [probe for probe in probes if probe.split == "test"]

    def _verdicts(self, name: str) -> list[Verdict]:
        if self._benchmark.aggregates_in_sql:
            return []
        return self._lake.read("score.verdicts", partition_key(self.domain.name, name))

    def _read(self, table: str, name: str) -> list[Any] | None:
        partition = partition_key(self.domain.name, name)
        entry = self._catalog.get(table, partition)
        if entry is None or not self._is_current(table, name):
            return None
        return self._lake.read(table, partition) if entry.facts.rows else []

    def _scripted_judge(self, name: str) -> bool:
        """Return whether a scripted chat judged an assistant's replies or the content of its memory."""
        entry = self._catalog.get("score.claims", partition_key(self.domain.name, name))
        if (
            entry is not None
            and self._is_current("score.claims", name)
            and entry.facts.meta.get(SCRIPTED) == "yes"
        ):
            return True
        return self._meta[name].get(SCRIPTED_JUDGE) == "yes"


def _by_assistant(row: type[Row], found: Iterable[Mapping[str, Any]]) -> dict[str, list[Row]]:
    by_assistant: dict[str, list[Row]] = {}
    for each in found:
        by_assistant.setdefault(each["assistant"], []).append(row(**each))
    return by_assistant
