"""The `Reader` of benchmarks' views, over a lake: for `memflow show`, papers' tables and the report."""

from collections.abc import Iterable
from typing import Any

from memflow.benchmarks.domains import Domain
from memflow.records import Score
from memflow.repeats import suffix
from memflow.resources.lake.facts import Facts
from memflow.resources.lake.lake import Lake
from memflow.resources.settings.settings import Settings


class LakeReader:
    """A `Reader` of the lake that the settings declare. The metadata of a missing partition is empty."""

    def __init__(self, settings: Settings, lake: Lake, width: int = 100) -> None:
        self.width = width
        self._settings = settings
        self._lake = lake

    def domain(self, name: str) -> Domain:
        return self._settings.domain(name)

    def domains(self, names: Iterable[str]) -> list[Domain]:
        return [self._settings.domain(name) for name in names if self._settings.has_domain(name)]

    def partitions(self, table: str) -> list[str]:
        return [partition for partition in self._lake.partitions(table) if not suffix(partition)]

    def rows(self, table: str, partition: str) -> list[Any]:
        return self._lake.read(table, partition)

    def facts(self, table: str, partition: str) -> Facts | None:
        return self._lake.facts(table, partition)

    def scores(self) -> list[Score]:
        return self._lake.read_all("score.leaderboard", self._lake.partitions("score.leaderboard"))
