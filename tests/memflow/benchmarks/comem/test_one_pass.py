"""A domain with four checkpoints builds each memory once, according to usage records and transcripts."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter
from typing import Any

import pytest

from memflow.benchmarks.api import States
from memflow.benchmarks.comem.benchmark import CoMem
from memflow.benchmarks.domains import Domain
from memflow.chat.ledger import RequestContext
from memflow.memories.registry import find
from memflow.records import Entry, Probe, Record, Reply, TranscriptMessage, Turn
from memflow.resources.ledger.sql_ledger import SqlLedger
from memflow.resources.models.chats import Chats
from memflow.resources.models.models import Models
from memflow.resources.settings.settings import load
from memflow.run.answer import answer_all
from memflow.run.play import Episode, play_all
from memflow.run.transcripts import entry_rows, episode_histories, transcript_rows

QUARTERS, WHOLE = (0.25, 0.5, 0.75, 1.0), (1.0,)


@dataclass
class Lab:
    """A separate home with an empty ledger, and the pipeline from turns to replies."""

    models: Models
    bench: CoMem
    domain: Domain
    memory: str
    turns: Sequence[Turn]
    probes: Sequence[Probe]
    said: Sequence[TranscriptMessage] = ()
    entries: Sequence[Entry] = ()

    def play(self, *, as_one: bool = False) -> None:
        """Build the memory. With `as_one`, use the same batches without checkpoints between them."""

        async def work(chats: Chats):
            episodes = self.episodes(as_one)
            remember = find(self.memory).factory(await chats.tools(self.memory))
            return await play_all(episodes, remember, None, clock=perf_counter)

        played = self.models.run(self.account("memory"), work)
        self.said = transcript_rows(self.domain.name, self.memory, played)
        self.entries = entry_rows(self.domain.name, self.memory, played)

    def episodes(self, as_one: bool) -> list[Episode]:
        turns = [replace(turn, checkpoint=1) for turn in self.turns] if as_one else self.turns
        return self.bench.episodes(self.domain, States(), turns, [], None)  # type: ignore[arg-type]

    def answer(self) -> list[Reply]:
        pasts = episode_histories(self.entries, self.said, self.probes)

        async def work(chats: Chats):
            remember = find(self.memory).factory(await chats.tools(self.memory))
            asked = (self.bench, self.domain, self.memory, self.probes, pasts, remember)
            return await answer_all(*asked, await chats.answering(self.memory))

        return self.models.run(self.account("answer"), work)

    def account(self, stage: str) -> RequestContext:
        return RequestContext(run="r", stage=stage, domain=self.domain.name, assistant=self.memory)

    @property
    def booked(self) -> dict[tuple[str, str], int]:
        """Return the completions by stage and role, including cached completions."""
        rows = self.models.ledger.usage(("stage", "role"))
        return {(row.by["stage"], row.by["role"]): row.requests + row.cache_hits for row in rows}

    @property
    def writes(self) -> int:
        return sum(row.model_calls is not None for row in self.said)

    @property
    def asked_by_writes(self) -> int:
        return sum(row.model_calls or 0 for row in self.said)


@pytest.fixture
def lab(
    tmp_path: Path, bench: CoMem, build: Callable[..., Any], demo: Domain, records: list[Record]
) -> Callable[..., AbstractContextManager[Lab]]:
    """`lab(name, memory, **parameters)`: the demo with these parameters, and a new ledger."""

    @contextmanager
    def opened(name: str, memory: str, **over: Any) -> Iterator[Lab]:
        domain = replace(demo, parameters={**demo.parameters, **over})
        turns, _, probes = build(domain, records)
        settings = load(over={"home": tmp_path / name})
        models = Models(settings, SqlLedger(settings.ledger_url))
        try:
            yield Lab(models, bench, domain, memory, turns, probes)
        finally:
            models.close()

    return opened


def arrivals(turns: Sequence[Turn]) -> int:
    return len({(turn.episode_id, turn.event) for turn in turns})


@pytest.mark.parametrize("memory", ["mem0", "memp_300_10"])
def test_four_checkpoints_need_as_many_memory_writes_as_one_checkpoint(memory: str, lab: Callable[..., Any]):
    with (
        lab("four", memory, checkpoints=QUARTERS) as four,
        lab("one", memory, checkpoints=WHOLE) as one,
    ):
        for each in (four, one):
            each.play()
        assert [turn.message_id for turn in four.turns] == [turn.message_id for turn in one.turns]
        assert {turn.checkpoint for turn in four.turns} == {1, 2, 3, 4}
        assert four.writes == one.writes == arrivals(four.turns) == len(four.turns)
        # The ledger has booked as many completions, and these are the ones that the writes had.
        assert four.booked == one.booked == {("memory", "memory"): four.asked_by_writes}
        assert four.asked_by_writes > four.writes // 2
        assert [replace(row, domain="") for row in four.entries] == [
            replace(row, domain="") for row in one.entries
        ]

        # Five times as many answers as the last checkpoint alone has, and not one request of a memory's more.
        built = four.booked["memory", "memory"]
        replies = four.answer()
        assert len(replies) == len(four.probes) and not [reply for reply in replies if reply.reason]
        assert four.booked == {("memory", "memory"): built, ("answer", "assistant"): len(replies)}
        assert four.answer() == replies
        assert four.booked["memory", "memory"] == built


def test_checkpoint_within_batch_adds_one_write_and_repeats_no_message(lab: Callable[..., Any]):
    """Count the memory writes: a checkpoint within a batch splits the batch into two writes."""
    over = {"arrivals": "tokens", "arrival_tokens": 40}
    memory = "memp_300_10"
    with (
        lab("four", memory, checkpoints=QUARTERS, **over) as four,
        lab("same", memory, checkpoints=QUARTERS, **over) as same,
        lab("one", memory, checkpoints=WHOLE, **over) as one,
    ):
        four.play()
        same.play(as_one=True)
        one.play()
        assert len(four.said) == len({row.message_id for row in four.said}) == len(four.turns)
        assert four.writes == same.writes == arrivals(four.turns) < len(four.turns)
        assert four.booked == same.booked
        assert four.entries == same.entries
        # Three of the four checkpoints of a context lie within it.
        inside = 3 * len({turn.episode_id for turn in four.turns})
        assert one.writes == arrivals(one.turns)
        assert one.writes <= four.writes <= one.writes + inside
