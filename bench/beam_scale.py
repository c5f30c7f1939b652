"""A conversation in BEAM's form, read, played and searched: seconds and peak memory.

Without a file, a conversation of `--millions` million tokens (estimated, four characters each) is generated in the form
of a row of BEAM-10M: ten plans of ten batches, with 20 questions whose evidence is marked. It is written message by
message. `--file` is a JSON Lines file with a published conversation, whose first row is played.

    python -m bench.beam_scale --millions 10
    python -m bench.beam_scale --file 1m_row.jsonl --memory bm25_message

Each step is one JSON line with its CPU seconds and the peak memory of the process by its end.
"""

import asyncio
import json
import random
import resource
import sys
import tempfile
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path

from bench.measure import arguments, cpu_seconds, report
from memflow.benchmarks.beam.config import BeamConfig
from memflow.benchmarks.beam.load import load_conversations, read_records
from memflow.benchmarks.beam.probes import make_probes
from memflow.benchmarks.beam.turns import make_turns
from memflow.benchmarks.beam.types import TYPES
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.episodes import given_episodes
from memflow.benchmarks.registry import find_dataset
from memflow.chat.scripted import ScriptedChat
from memflow.fingerprint import seeded
from memflow.memories.hashing_embedder import HashingEmbedder
from memflow.memories.memory import Tools
from memflow.memories.registry import memory_factory
from memflow.records import Probe, Turn
from memflow.run.play import PlayedEpisode, play_all

LARGEST = find_dataset("beam_10m")

PLANS, BATCHES, LENGTH = 10, 10, 2_560
"""Plans of a conversation, batches of a plan, and characters of a message."""
CHARACTERS = 4
DOMAIN = Domain("beam_scale", "beam", (LARGEST.name,), "Generated")


def write_row(path: Path, millions: int) -> None:
    """Write a generated conversation as one row. Of each marked message, a word occurs nowhere else."""
    chance = random.Random(seeded("bench", "beam_scale"))
    letters = "etaoinshrdlucmfwypvbgkjqxz"
    words = ["".join(chance.choices(letters, k=chance.randint(2, 10))) for _ in range(40_000)]
    weights = list(accumulate(1 / rank for rank in range(1, len(words) + 1)))
    count = max(2, millions * 1_000_000 * CHARACTERS // LENGTH // (PLANS * BATCHES)) // 2 * 2
    marked = {number * PLANS * BATCHES * count // 20 + 2: f"zq{number}keyword" for number in range(20)}

    def messages(first: int) -> Iterator[str]:
        for number in range(first, first + count):
            text = " ".join(chance.choices(words, cum_weights=weights, k=LENGTH // 6))[:LENGTH]
            role = "assistant" if number % 2 else "user"
            kind = {} if number % 2 else {"question_type": "main_question"}
            yield json.dumps(
                {"role": role, "id": number, "content": f"{marked.get(number, '')} {text}", **kind}
            )

    asked = iter(marked.items())
    questions = {
        kind: [
            {"question": f"What of {key}?", "rubric": [key], "source_chat_ids": [number]}
            for number, key in (next(asked), next(asked))
        ]
        for kind in TYPES
    }
    with path.open("w", encoding="utf-8") as file:
        file.write('{"conversation_id": "1", "chat": [')
        for plan in range(PLANS):
            file.write(f'{", " if plan else ""}{{"plan-{plan + 1}": [')
            for batch in range(BATCHES):
                file.write(", [" if batch else "[")
                for at, message in enumerate(messages((plan * BATCHES + batch) * count)):
                    file.write(f"{', ' if at else ''}{message}")
                file.write("]")
            file.write("]}")
        file.write(f'], "probing_questions": {json.dumps(repr(questions))}}}')


def rows_of(path: Path) -> tuple[list[Turn], list[Probe]]:
    """Return the turns and probes of the first conversation in a file."""
    records = read_records(LARGEST, {f"beam/{path.name}": path})
    dataset, episode, conversation = next(load_conversations(DOMAIN, records))
    turns = list(make_turns(DOMAIN.name, episode, conversation, BeamConfig()))
    return turns, list(make_probes(DOMAIN.name, dataset, episode, conversation, BeamConfig()))


def peak_memory() -> int:
    """Return the peak memory of this process so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def main() -> int:
    """Print the steps. Return 1 if a message that only its question names is not among the recalled."""
    options = arguments(millions=10, file="", memory="bm25_message")
    chat = ScriptedChat({})
    remember = memory_factory(options.memory, Tools(chat, HashingEmbedder()))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(options.file or Path(folder) / "10M.jsonl")
        if not options.file:
            seconds, _ = cpu_seconds(lambda: write_row(path, options.millions))
            report({"step": "generate", "cpu_s": round(seconds, 1), "peak_mb": peak_memory()})
        seconds, (turns, probes) = cpu_seconds(lambda: rows_of(path))
        tokens = probes[0].said_tokens
        report({"step": "read", "cpu_s": round(seconds, 1), "peak_mb": peak_memory(), "tokens": tokens})
    seconds, played = cpu_seconds(lambda: asyncio.run(play_all(given_episodes(turns), remember, None)))
    report({"step": "play", "cpu_s": round(seconds, 1), "peak_mb": peak_memory(), "messages": len(turns)})
    seconds, recall = cpu_seconds(lambda: asyncio.run(mean_recall(played[0], remember, probes)))
    line = {"step": "search", "cpu_s": round(seconds, 1), "peak_mb": peak_memory(), "questions": len(probes)}
    report(line, evidence_recall=round(recall, 3), memory=options.memory)
    return int(not options.file and recall < 1)


async def mean_recall(played: PlayedEpisode, remember, probes: list[Probe]) -> float:  # type: ignore[no-untyped-def]
    """Return the mean share of the evidence among the sources of what is recalled, over questions with evidence."""
    memory = remember(played.store)
    shares = []
    for probe in probes:
        if probe.evidence:
            sources = {
                source for entry in (await memory.read(probe.question)).entries for source in entry.sources
            }
            shares.append(len(sources & {*probe.evidence}) / len(probe.evidence))
    return sum(shares) / len(shares)


if __name__ == "__main__":
    sys.exit(main())
