"""A run whose ledger, runs and events are in PostgreSQL, while the server is restarted: nothing is lost or sent twice.

    python -m bench.postgres_restarts --restarts 5

The modes `fast` and `immediate` alternate; the second is a crash. A run that fails is started again, at most three
times. The domain is amemgym_base of MEMFLOW_DATA. Bounds: no request is answered twice, and all tables equal those of
an undisturbed run on SQLite.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from stub import count_answers, stub_process

from bench.homes import content_hashes
from bench.measure import PostgresServer, arguments, report, restartable_postgres
from memflow.resources.lake.lake import Lake

ATTEMPTS = 3
LATENCY = 0.2
DOMAIN, MEMORIES = "amemgym_base", ("full", "rag_2_4_30")
MODES = ("fast", "immediate")
DEPLOYMENT = Path(__file__).parents[1] / "resources/instance/deployment.yaml"


@dataclass
class RestartResult:
    """The result of a run with restarts of its database server."""

    answered: int
    repeated: int
    restarts: int
    different: list[str]
    """Tables and partitions that differ from those of the undisturbed run."""
    outputs: list[str] = field(default_factory=list)
    """The last lines of each attempt that failed."""


def command(home: Path, url: str, limit: int) -> list[str]:
    """Return the command of a run against a stub server."""
    memories = [part for name in MEMORIES for part in ("--memory", name)]
    sizes = f"--limit {limit} --no-baselines --parallel 3"
    wanted = f"--domain {DOMAIN} {sizes} --url {url} --model stub --embedder hashing".split()
    return [sys.executable, "-m", "memflow.cli", "--home", str(home), "run", *memories, *wanted]


def environment(data: Path) -> dict[str, str]:
    """Return the variables of a process that reads published files from `data`, without personal settings."""
    own = {name: value for name, value in os.environ.items() if not name.startswith(("MEMFLOW_", "DAGSTER_"))}
    return {**own, "MEMFLOW_DATA": str(data)}


def on_postgres(folder: Path, server: PostgresServer) -> dict[str, str]:
    """Return the variables of a process whose ledger and instance are in PostgreSQL."""
    folder.mkdir()
    shutil.copy(DEPLOYMENT, folder / "dagster.yaml")
    connection = {
        "HOST": "127.0.0.1",
        "PORT": str(server.port),
        "USER": "memflow",
        "PASSWORD": "any",
        "DB": "postgres",
    }
    return {
        "DAGSTER_HOME": str(folder),
        "MEMFLOW_LEDGER": f"postgresql+psycopg2://memflow@127.0.0.1:{server.port}/postgres",
        **{f"DAGSTER_POSTGRES_{name}": value for name, value in connection.items()},
    }


def answers(log: Path) -> int:
    """Return the number of answered requests so far."""
    return sum(count_answers(log).values()) if log.exists() else 0


def drill(restarts: int, folder: Path, data: Path, server: PostgresServer, limit: int = 1) -> RestartResult:
    """Run the pipeline while the server is restarted. Return what was answered and what differs."""
    own = environment(data)
    with stub_process(latency=0.01) as url:
        first = command(folder / "undisturbed", url, limit)
        subprocess.run(first, env=own, check=True, capture_output=True, cwd=folder)
    variables = {**own, **on_postgres(folder / "instance", server)}
    log, output = folder / "answers.jsonl", folder / "output.txt"
    log.touch()
    done, failed = 0, []
    total = 0
    with stub_process(latency=LATENCY, log=log) as url:
        for _ in range(ATTEMPTS):
            with output.open("w", encoding="utf-8") as written:
                process = subprocess.Popen(
                    command(folder / "home", url, limit),
                    env=variables,
                    cwd=folder,
                    stdout=written,
                    stderr=subprocess.STDOUT,
                )
                while process.poll() is None:
                    if done < restarts and answers(log) > total:
                        server.restart(MODES[done % 2])
                        done += 1
                        total = answers(log)
                    time.sleep(0.1)
            if process.returncode == 0:
                break
            failed.append(output.read_text(encoding="utf-8")[-1500:])
    counted = count_answers(log)
    found, wanted = (content_hashes(Lake(folder / name / "lake")) for name in ("home", "undisturbed"))
    different = sorted(name for name in found.keys() | wanted.keys() if found.get(name) != wanted.get(name))
    repeated = sum(number - 1 for number in counted.values())
    return RestartResult(sum(counted.values()), repeated, done, different, failed)


def main() -> int:
    """Restart PostgreSQL under a run. Return 1 if a request was repeated or a table differs."""
    options = arguments(restarts=5, limit=1)
    data = os.environ.get("MEMFLOW_DATA", "")
    with tempfile.TemporaryDirectory() as folder, restartable_postgres() as server:
        if server is None or not data:
            print("not run: PostgreSQL is not installed, or MEMFLOW_DATA is not set")
            return 0
        result = drill(options.restarts, Path(folder), Path(data), server, options.limit)
    report(
        {"name": "postgres_restarts", "value": result.restarts, "unit": "restarts"},
        answered=result.answered,
        repeated=result.repeated,
        failed_attempts=len(result.outputs),
        different=result.different,
    )
    for each in result.outputs:
        print(each)
    return int(result.repeated > 0 or bool(result.different) or result.restarts < options.restarts)


if __name__ == "__main__":
    sys.exit(main())
