"""Scores of one domain, from the rows of its partitions. Verdicts, operations and checkpoints are summed in SQL."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, TypeVar

from memflow.benchmarks import registry
from memflow.benchmarks.domains import Domain
from memflow.pipeline import WRITERS, partition_key
from memflow.records import Probe, Score, Verdict
from memflow.repeats import with_memory
from memflow.resources.lake.lake import Lake
from memflow.resources.lake.partition_catalog import PartitionCatalog
from memflow.resources.publishing.completeness import all_gaps
from memflow.resources.publishing.health import stored_calibrations, stored_health
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
    combine_scores,
    own_scores,
    populations_of,
    shared_scores,
)
from memflow.scoring.published_health import health_of
from memflow.scoring.scripted import SCRIPTED_JUDGE

QUERIED = ("score.verdicts", "answer.replies", "memory.transcripts", "question.probes")
"""The tables whose rows are summed in SQL."""
SCORED = (*WRITERS["score.leaderboard"].inputs, "answer.replies", "memory.transcripts")
"""The tables that scores are computed from."""
STATES = "state.changes"
"""The table whose content hash states whether claims are on the current states."""

Row = TypeVar("Row", Group, OperationSums, CheckpointSums)


class DomainScorer:
    """A scorer of all `assistants` in one domain. `unchanged` has stored scores, by partition, that stay as they are.

    Verdicts on outdated probes are ignored, and so are claims on outdated states.
    """

    def __init__(
        self,
        domain: Domain,
        assistants: Iterable[str],
        lake: Lake,
        catalog: PartitionCatalog,
        unchanged: Mapping[str, Sequence[Score]],
    ) -> None:
        self.domain = domain
        self._lake = lake
        self._catalog = catalog
        self._benchmark = registry.benchmark(domain.benchmark)
        self._meta = {name: meta for name in assistants if (meta := self._current_meta(name)) is not None}
        stored = {name: unchanged.get(partition_key(domain.name, name), ()) for name in self._meta}
        self._stored = {name: scores for name, scores in stored.items() if scores}
        health = {
            name: health_of(self._stored[name][0])
            if name in self._stored
            else stored_health(lake, domain.name, name)
            for name in self._meta
        }
        self._health = {name: found for name, found in health.items() if found is not None}

    @property
    def partitions(self) -> set[str]:
        """The partitions that are queried: the changed ones, and the baselines that their scores depend on."""
        changed = self._meta.keys() - self._stored.keys()
        names = {*changed, *(with_memory(name, "none") for name in changed)} & self._meta.keys()
        return (
            {self.domain.name, *(partition_key(self.domain.name, name) for name in names)} if names else set()
        )

    def scores(self, session: WarehouseSession) -> list[Score]:
        """Return the scores of every assistant, in the order of the assistants."""
        scores = {
            name: AssistantScores(of_assistant, (), MeasuredSettings.from_score(of_assistant[0]))
            for name, of_assistant in self._stored.items()
        }
        if changed := [name for name in self._meta if name not in scores]:
            rows = self._rows(session)
            populations = populations_of(self._benchmark, self._meta, rows.groups, self._health)
            slices = self._benchmark.slices(self.domain, self._probes)
            for name in changed:
                own = own_scores(self._benchmark, rows, name, populations[self._meta[name]["model"]])
                scores[name] = AssistantScores(own, *shared_scores(rows, name, slices))
        return combine_scores(self._benchmark, {name: scores[name] for name in self._meta}, self._health)

    def _rows(self, session: WarehouseSession) -> DomainRows:
        """Return the rows that changed scores are computed from, after querying the sums."""

        def sums(row: type[Row], query: str) -> dict[str, list[Row]]:
            by_assistant: dict[str, list[Row]] = {}
            for found in session.query(query, self.partitions, domain=self.domain.name):
                by_assistant.setdefault(found["assistant"], []).append(row(**found))
            return by_assistant

        has_checkpoints = any(probe.question_id for probe in self._probes)
        return DomainRows(
            domain=self.domain,
            probes=self._probes,
            meta=self._meta,
            verdicts=self._verdicts,
            groups=sums(Group, "verdict_groups") if self._benchmark.aggregates_in_sql else {},
            operations=sums(OperationSums, "operations"),
            checkpoints=sums(CheckpointSums, "continual") if has_checkpoints else {},
            read=self._read,
            scripted_judge=self._scripted_judge,
            health=self._health,
            independent=self._benchmark.independent_episodes,
            calibrations=lambda name: stored_calibrations(self._lake, self.domain.name, self._meta[name]),
        )

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
