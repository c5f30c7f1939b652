"""The sample's conversations, and steps of LoCoMo's pipeline over them."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from factories import reply

from memflow.benchmarks.domains import Domain
from memflow.benchmarks.locomo.config import parse_config
from memflow.benchmarks.locomo.load import load_conversations, read_records
from memflow.benchmarks.locomo.probes import make_probes
from memflow.benchmarks.locomo.turns import make_turns
from memflow.benchmarks.registry import find_dataset, find_domain
from memflow.records import Probe, Record, Reply, Turn
from memflow.resources.data.library import Library


@dataclass(frozen=True)
class Sample:
    """The records of a domain, and its turns and probes."""

    domain: Domain
    records: list[Record]
    turns: list[Turn]
    probes: list[Probe]

    def replies(self, texts: Callable[[Probe], str | None]) -> list[Reply]:
        """Return a reply to each probe with the text that `texts` returns; a reply without a text has a reason."""
        return [
            reply(
                domain=self.domain.name,
                probe_id=probe.probe_id,
                episode_id=probe.episode_id,
                text=text,
                parsed=text,
                reason=None if text is not None else "no answer",
            )
            for probe, text in ((probe, texts(probe)) for probe in self.probes)
        ]


@pytest.fixture(scope="session")
def sample() -> Callable[..., Sample]:
    """Return a function from domain parameters to the steps over the sample, or over changed conversations."""

    def build(
        change: Callable[[list[Any]], Any] | None = None, folder: Path | None = None, **parameters: Any
    ) -> Sample:
        dataset = find_dataset("locomo_sample")
        files = Library(None).paths("locomo_sample")
        if change is not None:
            assert folder is not None
            (name,) = files
            talks = json.loads(files[name].read_text(encoding="utf-8"))
            changed = change(talks)
            path = folder / "changed.json"
            path.write_text(json.dumps(talks if changed is None else changed), encoding="utf-8")
            files = {name: path}
        domain = replace(find_domain("locomo_demo"), parameters=parameters)
        records = read_records(dataset, files)

        config, talks = parse_config(domain), load_conversations(domain, records)
        return Sample(
            domain,
            records,
            [turn for _, talk in talks for turn in make_turns(domain.name, talk, config)],
            [probe for name, talk in talks for probe in make_probes(domain.name, name, talk, config)],
        )

    return build


@dataclass(frozen=True)
class ProbeReader:
    """A reader of a lake that has the probes of one domain, or nothing."""

    probes: Sequence[Probe] | None

    def facts(self, table: str, partition: str) -> Any:
        stored = table == "question.probes" and self.probes is not None
        return SimpleNamespace(digest="p", meta={}) if stored else None

    def rows(self, table: str, partition: str) -> list[Any]:
        assert table == "question.probes" and self.probes is not None
        return list(self.probes)


@pytest.fixture
def reader() -> type[ProbeReader]:
    return ProbeReader
