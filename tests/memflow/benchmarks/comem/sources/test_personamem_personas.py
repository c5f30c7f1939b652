"""Properties of PersonaMem: tables are read as written, and no memory sees messages after a question."""

import asyncio
import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from personamem_files import read, row, shared, table
from profiles import examples

from memflow.benchmarks.api import States
from memflow.benchmarks.comem.benchmark import CoMem
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.registry import find_domain
from memflow.memories.entries import EntryStore
from memflow.memories.memory import Tools
from memflow.memories.registry import memory_factory
from memflow.records import Probe, Record
from memflow.run.answer import EpisodeHistory
from memflow.run.play import play_all
from memflow.run.transcripts import entry_rows, episode_histories, transcript_rows

DOMAIN = replace(find_domain("comem_personamem_32k"), parameters={"keys": "published"})
SHARES = (0, 0.25, 0.5, 0.75, 1.0)

# Not what File.text takes for a mark of UTF-8, nor what no file can hold.
texts = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\ufeff\r\0"), min_size=1, max_size=40
).filter(lambda text: text.strip() != "")
options = st.lists(
    texts.map(lambda text: " ".join(text.split())), min_size=4, max_size=4, unique_by=lambda text: text
)


@st.composite
def published(draw: st.DrawFn) -> tuple[list[dict[str, Any]], dict[str, list[tuple[str, str]]]]:
    """Rows and contexts, whose messages say which they are, and start with a persona or not."""
    roles = st.lists(st.sampled_from(("system", "user", "assistant")), min_size=1, max_size=30)
    contexts, rows, number = {}, [], count()
    for name in ("c1", "c2")[: draw(st.integers(1, 2))]:
        contexts[name] = [(role, f"{name} message {place}") for place, role in enumerate(draw(roles))]
        for end in draw(st.lists(st.integers(1, len(contexts[name])), min_size=1, max_size=4)):
            rows.append(
                row(
                    f"q{next(number)}",
                    draw(options),
                    user_question_or_message="Asked: " + draw(texts),
                    correct_answer=f"({draw(st.sampled_from('abcd'))})",
                    shared_context_id=name,
                    end_index_in_shared_context=end,
                )
            )
    return rows, contexts


Published = tuple[list[dict[str, Any]], dict[str, list[tuple[str, str]]]]


def recorded(files: Published) -> list[Record]:
    rows, contexts = files
    with TemporaryDirectory() as folder:
        return read(Path(folder), table(rows), shared(contexts))


@given(
    files=published(),
    arrivals=st.sampled_from(("message", "tokens")),
    persona=st.sampled_from(("interleaved", "left_out")),
)
@examples(60)
def test_memory_at_probe_has_only_messages_before_the_question(files: Published, arrivals: str, persona: str):
    rows, contexts = files
    ends = {f"{each['shared_context_id']}/{each['question_id']}": each for each in rows}
    parameters = {"keys": "published", "arrivals": arrivals, "persona": persona, "ends": "question"}
    domain = replace(DOMAIN, parameters=parameters)
    seen = asyncio.run(_seen(domain, recorded(files)))
    assert len(seen) == 5 * len(rows)
    for probe, remembered in seen:
        each = ends[probe.question_id or ""]
        said = [
            (role, content)
            for role, content in contexts[probe.episode_id]
            if persona == "interleaved" or role != "system"
        ]
        before = contexts[probe.episode_id][: each["end_index_in_shared_context"]]
        end = len([role for role, _ in before if persona == "interleaved" or role != "system"])
        assert (probe.reason is None) == (end > 0)
        if probe.reason is not None:
            continue
        reached = math.floor(SHARES[probe.checkpoint] * len(said))
        assert remembered == [content for _, content in said[: min(reached, end)]]


async def _seen(domain: Domain, records: list[Record]) -> list[tuple[Probe, Sequence[str]]]:
    """Return every probe with the messages that a memory without loss contains at its checkpoint."""
    bench = CoMem()
    turns = await bench.turns(domain, records, States(), None)  # type: ignore[arg-type]
    keys = await bench.gold_labels(domain, records, turns, None)
    probes = await bench.probes(domain, records, States(), turns, None, keys)  # type: ignore[arg-type]
    episodes = bench.episodes(domain, States(), turns, [], None, probes)  # type: ignore[arg-type]
    make = memory_factory("full", Tools())
    played = await play_all(episodes, make, None)
    pasts = episode_histories(
        entry_rows(domain.name, "full", played), transcript_rows(domain.name, "full", played), probes
    )
    found = []
    for probe in probes:
        past = pasts.get(probe.episode_id, EpisodeHistory((), {probe.checkpoint: 0}))
        held = EntryStore.restored(past.items, past.sequence(probe)).live("message")
        found.append((probe, [item.text.partition(": ")[2] for item in held]))
    return found
