"""A soak test: processes are killed at random moments, and no result may show it.

* `dev`: `memflow dev` is killed (SIGKILL of its process group) and started again while it works on a backfill of 12
  partitions, or its code server or the process of a run is killed alone. The backfill must end by itself,
  and no run may hold a pool slot.
* `command`: `memflow run` is killed. Each is forked from a process that has imported memflow, which saves the start-up.
* `beside`: two `memflow run` work on the partitions of a backfill of `memflow dev` at the same time. Nothing is killed.

Everywhere the tables must equal those of an undisturbed `memflow run`, and nothing may be requested again that the
ledger contained at a kill. All roles are models of a stub server in a subprocess.

    python -m bench.soak [--parts dev,command,beside] [--dev_kills 20] [--command_kills 200] [--seed 1]

The command prints a JSON line per part. The exit code is 1 if a part found a difference.
"""

import contextlib
import importlib
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from stub import request_counts, request_digests, stub_process

from bench.dev_server import DOMAIN, ROOT, DevHome, await_true, environment
from bench.measure import arguments, report
from memflow.cli import app

MEMORIES = (
    *("full", "recent", "bm25_message", "bm25_session", "rag_2_4_30", "embed_message"),
    *("embed_session", "awe_2_4_30", "awi_2_4", "oracle", "previous", "mem0"),
)
"""The assistants of the 12 partitions."""
KILLED_MEMORIES = ("full", "rag_2_4_30", "bm25_message", "awi_2_4")
"""The assistants of the killed command line: fewer, because each start replays what was answered."""
LATENCY = 0.2
KINDS = ("group", "code server", "worker")
"""What is killed: `memflow dev` with all of its processes, or one process."""
PAUSE_S = (0.0, 15.0)
"""The seconds between the start of a run's process and a kill."""
WORKER_PATIENCE_S = 90.0
"""The longest wait for a run's process: kills also fall between runs, and into start-ups."""
PATIENCE_S = 1800.0
FAST_KILLS = 0.3
"""The share of kills of the command line at a random time; the others follow a random number of answers."""
MAX_ANSWERS = 15


@dataclass
class Requests:
    """The requests that a stub server answered, and those that must not be repeated after a kill."""

    log: Path
    url: str
    forbidden: list[tuple[int, set[str]]] = field(default_factory=list)
    """For each kill: the number of answers until then, and the digests that the ledger contained before it."""

    def answered(self) -> list[str]:
        return request_digests(self.log)

    def kill(self, home: DevHome, kill: Callable[[], object]) -> None:
        """Kill something, and forbid what the ledger contained before."""
        known = home.stored_digests()
        kill()
        self.settle()
        self.forbidden.append((len(self.answered()), known))

    def settle(self) -> None:
        """Wait a moment for the answers that were in flight to be logged."""
        deadline = time.monotonic() + 2 * LATENCY
        while time.monotonic() < deadline:
            time.sleep(0.02)
            if request_counts(self.url)["in_flight"] == 0:
                return

    def repeats(self) -> int:
        """Return the number of requests that were repeated although the ledger contained them."""
        answers = self.answered()
        return len(
            {digest for since, known in self.forbidden for digest in known.intersection(answers[since:])}
        )


@contextlib.contextmanager
def soaked(
    folder: Path, name: str, latency: float = LATENCY, **size: int
) -> Iterator[tuple[DevHome, Requests]]:
    """Yield a home with a generated domain, and the requests of its stub server."""
    log = folder / f"{name}.jsonl"
    with stub_process(latency=latency, log=log) as url:
        home = DevHome(folder / name, url, ["none", *MEMORIES], **size)
        home.run("none")
        yield home, Requests(log, url)


def undisturbed(folder: Path, memories: Sequence[str] = MEMORIES, **size: int) -> dict[str, str]:
    """Return the contents of the tables after a `memflow run` that nothing disturbs."""
    with soaked(folder, "undisturbed", latency=0.0, **size) as (home, _):
        home.run(*memories)
        return home.contents()


def differences(home: DevHome, expected: dict[str, str]) -> int:
    """Return the number of partitions of tables that are missing, additional or different."""
    found = home.contents()
    return sum(found.get(name) != expected.get(name) for name in found.keys() | expected.keys())


def soak_dev(folder: Path, kills: int, chance: random.Random) -> bool:
    """Kill `memflow dev` or one of its processes during backfills, `kills` times. Return whether nothing shows it."""
    size = {"users": 1, "periods": 4}
    expected = undisturbed(folder, **size)
    kinds = [KINDS[number % len(KINDS)] for number in range(kills)]
    chance.shuffle(kinds)
    done: Counter[str] = Counter()
    statuses: Counter[str] = Counter()
    began, backfills, found, repeats, left = time.monotonic(), 0, 0, 0, 0
    while kinds:
        backfills += 1
        with soaked(folder, f"dev{backfills}", **size) as (home, requests):
            try:
                home.start()
                backfill = home.backfill("evaluate_memory", [f"{name}|{DOMAIN}" for name in MEMORIES])
                while kinds and not home.has_ended(backfill):
                    if _kill_one(home, requests, kinds[-1], chance):
                        done[kinds.pop()] += 1
                        print(f"kill {sum(done.values())}: {home.statuses()}", file=sys.stderr, flush=True)
                    if home.process is None:
                        home.launch()
                await_true("the backfill to end", lambda: home.has_ended(backfill), PATIENCE_S, 2)  # noqa: B023
                statuses += Counter(runs[0] for runs in home.partitions(backfill).values())
                left += home.claimed_slots() + home.runs_in_progress()
            finally:
                home.stop()
            home.run(*MEMORIES)  # the leaderboard, which is not a part of the backfill
            found += differences(home, expected)
            repeats += requests.repeats()
    report(
        {"name": "soak dev", "value": sum(done.values()), "unit": "kills"},
        kills=dict(done),
        backfills=backfills,
        partitions=dict(statuses),
        slots_or_runs_left=left,
        differing_partitions=found,
        compared_partitions=len(expected) * backfills,
        repeated_requests=repeats,
        seconds=round(time.monotonic() - began),
    )
    return not (left or found or repeats) and set(statuses) == {"SUCCESS"}


def _kill_one(home: DevHome, requests: Requests, kind: str, chance: random.Random) -> bool:
    """Wait until a run is in progress, and a random time. Then kill. Return False if there was nothing to kill."""
    with contextlib.suppress(TimeoutError):
        await_true("a run", lambda: bool(home.workers()), WORKER_PATIENCE_S)
    time.sleep(chance.uniform(*PAUSE_S))
    killed = []
    requests.kill(home, lambda: killed.append(home.kill(kind)))
    return killed == [True]


def soak_command(folder: Path, kills: int, chance: random.Random) -> bool:
    """Kill `memflow run` until `kills` is reached. Return whether nothing shows it."""
    size = {"users": 6, "periods": 5}
    expected = undisturbed(folder, KILLED_MEMORIES, **size)
    began, homes, done, found, repeats, inside, answers = time.monotonic(), 0, 0, 0, 0, 0, 0
    while done < kills:
        homes += 1
        with soaked(folder, f"command{homes}", **size) as (home, requests):
            while done < kills:
                before = len(requests.answered())
                child = fork_command(home)
                target = before + chance.randint(0, MAX_ANSWERS)
                if chance.random() < FAST_KILLS:
                    time.sleep(chance.uniform(0, 3))
                else:
                    while len(requests.answered()) < target and not _has_ended(child):
                        time.sleep(0.02)
                if _has_ended(child):
                    break
                requests.kill(home, lambda: _kill(child))  # noqa: B023
                done += 1
                inside += len(requests.answered()) > before
                if done % 20 == 0:
                    print(f"{done} kills, {inside} while requests were answered", file=sys.stderr, flush=True)
            home.run(*KILLED_MEMORIES)
            found += differences(home, expected)
            repeats += requests.repeats()
            answers += len(requests.answered())
    report(
        {"name": "soak command", "value": done, "unit": "kills"},
        during_requests=inside,
        homes=homes,
        answers=answers,
        differing_partitions=found,
        compared_partitions=len(expected) * homes,
        repeated_requests=repeats,
        seconds=round(time.monotonic() - began),
    )
    return not (found or repeats)


def fork_command(home: DevHome) -> int:
    """Fork a process that executes `memflow run`. Return its process id."""
    child = os.fork()
    if child:
        return child
    try:
        os.setsid()
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, 1)
        os.dup2(nothing, 2)
        os.environ.clear()
        os.environ.update(environment())
        os.chdir(ROOT)
        chosen = [part for name in KILLED_MEMORIES for part in ("--memory", name)]
        sys.argv = home.command("run", "--domain", DOMAIN, *chosen, "--no-baselines", "--parallel", "4")[2:]
        app()
    finally:
        os._exit(0)


def import_command() -> None:
    """Import what `memflow run` imports, so that forked processes need not."""
    for name in ("executor", "pipeline", "run"):
        importlib.import_module(f"memflow.cli.{name}")


def _has_ended(child: int) -> bool:
    return os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT | os.WNOHANG) is not None


def _kill(child: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    with contextlib.suppress(ProcessLookupError):
        os.kill(child, signal.SIGKILL)  # before it had a group of its own
    os.waitpid(child, 0)


def soak_beside(folder: Path) -> bool:
    """Let two `memflow run` work beside a backfill. Return whether all ended with the same tables."""
    size = {"users": 2, "periods": 5}
    expected = undisturbed(folder, **size)
    began = time.monotonic()
    with soaked(folder, "beside", **size) as (home, requests):
        try:
            home.start()
            backfill = home.backfill("evaluate_memory", [f"{name}|{DOMAIN}" for name in MEMORIES])
            await_true("the backfill to start", lambda: bool(home.workers()), PATIENCE_S)
            chosen = [part for name in MEMORIES for part in ("--memory", name)]
            command = home.command("run", "--domain", DOMAIN, *chosen, "--no-baselines")
            runs = [
                subprocess.Popen(command, env=environment(), cwd=ROOT, stdout=subprocess.DEVNULL)
                for _ in range(2)
            ]
            statuses = [run.wait(PATIENCE_S) for run in runs]
            await_true("the backfill to end", lambda: home.has_ended(backfill), PATIENCE_S, 2)
            partitions = Counter(runs[0] for runs in home.partitions(backfill).values())
            slots = home.claimed_slots() + home.runs_in_progress()
        finally:
            home.stop()
        found = differences(home, expected)
        # Processes that need the same answer at the same moment each request it; later ones find it in the ledger.
        twice = sum(count > 1 for count in Counter(requests.answered()).values())
        answers = len(requests.answered())
    report(
        {"name": "soak beside", "value": twice, "unit": "requests answered twice"},
        answers=answers,
        exit_statuses=statuses,
        partitions=dict(partitions),
        slots_or_runs_left=slots,
        differing_partitions=found,
        compared_partitions=len(expected),
        seconds=round(time.monotonic() - began),
    )
    return not (found or slots or any(statuses)) and set(partitions) == {"SUCCESS"}


def main() -> int:
    options = arguments(parts="dev,command,beside", dev_kills=20, command_kills=200, seed=1)
    parts = options.parts.split(",")
    if "command" in parts:
        import_command()
    good = True
    for name in parts:
        with tempfile.TemporaryDirectory() as folder:
            chance = random.Random(options.seed)
            if name == "dev":
                good &= soak_dev(Path(folder), options.dev_kills, chance)
            elif name == "command":
                good &= soak_command(Path(folder), options.command_kills, chance)
            elif name == "beside":
                good &= soak_beside(Path(folder))
            else:
                raise SystemExit(f"there is no part {name!r}. Choose from dev, command, beside.")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
