"""CPU seconds and peak memory of `memflow run` as an episode grows: one dialogue of 1,000, 10,000 and 100,000 messages.

Each size is one `memflow run` of a user's own dialogue in a new home folder, with the scripted chat: the file is read,
each message is written into the memory, 40 questions are asked after different messages, scored and published. Growth
is what 90,000 more messages cost relative to ten times what 9,000 more cost; 1 is linear.

    python -m bench.episode [--memory bm25_message] [--messages 100000]

The command prints one JSON line per size and memory. The exit code is 1 if the growth exceeds its bound.
"""

import json
import os
import random
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from bench.measure import arguments, report

SIZES = (1_000, 10_000, 100_000)
MEMORIES = ("full", "bm25_message", "rag_2_4_30")
QUESTIONS = 40
MOST_GROWTH = 1.05
SETTINGS = """home = "{home}"
[own_datasets.talk]
benchmark = "dialogues"
files = ["{home}/talk.jsonl"]
[own_domains.talk]
benchmark = "dialogues"
datasets = ["talk"]
"""
WORDS = ("garden", "train", "kitchen", "doctor", "piano", "budget", "holiday", "engine", "teacher", "winter")


def write_dialogue(path: Path, messages: int) -> None:
    """Write one dialogue with some 40 words per message, from a seed, and with questions on single messages."""
    chance = random.Random(messages)
    texts = [
        f"Item {number} is in box {chance.randrange(10**6)}. "
        + " ".join(chance.choice(WORDS) + str(chance.randrange(200)) for _ in range(32))
        for number in range(messages)
    ]
    questions = []
    for index in range(QUESTIONS):
        asked = chance.randrange((index + 1) * messages // QUESTIONS)
        questions.append(
            {
                "question": f"In which box is item {asked}?",
                "gold": texts[asked].partition("box ")[2].partition(".")[0],
                "evidence": [f"m{asked}"],
                "after": f"m{(index + 1) * messages // QUESTIONS - 1}",
            }
        )
    lines = [
        {"id": f"m{number}", "speaker": ("Ana", "Bo")[number % 2], "text": text}
        for number, text in enumerate(texts)
    ]
    path.write_text(
        json.dumps({"id": "talk", "messages": lines, "questions": questions}) + "\n", encoding="utf-8"
    )


def run(messages: int, memory: str) -> None:
    """Execute `memflow run` on a dialogue in this process. Print the peak memory in MB and the CPU seconds."""
    from memflow.cli import app

    with tempfile.TemporaryDirectory() as home:
        Path(home, "memflow.toml").write_text(SETTINGS.format(home=home), encoding="utf-8")
        write_dialogue(Path(home, "talk.jsonl"), messages)
        os.chdir(home)
        options = ["run", "--domain", "talk", "--memory", memory, "--no-baselines", "--format", "json"]
        before = resource.getrusage(resource.RUSAGE_SELF)
        try:
            app(options, standalone_mode=False)
        finally:
            used = resource.getrusage(resource.RUSAGE_SELF)
            cpu_s = used.ru_utime + used.ru_stime - before.ru_utime - before.ru_stime
            print(json.dumps({"peak_mb": used.ru_maxrss / 1024, "cpu_s": cpu_s}), file=sys.stderr)


def measure(messages: int, memory: str) -> tuple[float, float]:
    """Return the peak memory in MB and the CPU seconds of a size, measured in a separate process."""
    command = [sys.executable, "-m", "bench.episode", "--only", str(messages), "--memory", memory]
    ended = subprocess.run(command, check=False, capture_output=True, text=True)
    if ended.returncode:
        raise SystemExit(f"`{' '.join(command)}` failed. Fix the error, then rerun: {ended.stderr[-2000:]}")
    measured = json.loads(ended.stderr.splitlines()[-1])
    return measured["peak_mb"], measured["cpu_s"]


def main() -> int:
    """Print the cost of each size and memory. Return 1 if a growth is above its bound, else 0."""
    options = arguments(memory="", only=0, messages=0)
    if options.only:
        run(options.only, options.memory)
        return 0
    missed = 0
    for memory in [options.memory] if options.memory else MEMORIES:
        costs: list[tuple[int, float, float]] = []
        for messages in [options.messages] if options.messages else SIZES:
            costs.append((messages, *measure(messages, memory)))
            _, peak, cpu = costs[-1]
            report(
                {
                    "name": "episode",
                    "memory": memory,
                    "messages": messages,
                    "value": round(cpu, 1),
                    "unit": "CPU s",
                },
                peak_mb=round(peak),
            )
        if len(costs) == len(SIZES):
            growth = [_growth([(cost[0], cost[of]) for cost in costs]) for of in (2, 1)]
            missed += growth[0] > MOST_GROWTH
            report(
                {
                    "name": "episode_growth",
                    "memory": memory,
                    "value": round(growth[0], 2),
                    "unit": "of linear",
                    "bound": MOST_GROWTH,
                },
                of_peak_memory=round(growth[1], 2),
            )
    return 1 if missed else 0


def _growth(costs: list[tuple[int, float]]) -> float:
    """Return the cost per message between the last two sizes, relative to the cost between the first two."""
    (small, least), (middle, between), (large, most) = costs
    return (most - between) / (large - middle) / ((between - least) / (middle - small))


if __name__ == "__main__":
    sys.exit(main())
