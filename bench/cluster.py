"""A backfill on a Ray cluster of two nodes, compared with the embedded run, table by table.

PostgreSQL has runs, events and the ledger, a folder that all nodes share has the lake, a stub server answers, and
`memflow dev` starts every run as a Ray job. Each node has its own empty home folder. With `--kill`, all processes of
the second node are killed while its runs wait for answers; its runs start again on the first node.

    python -m bench.cluster [--domains 3] [--assistants 6] [--latency 0.1] [--kill]

The command prints one JSON line. The exit code is 1 if a table differs, a run fails, or a stored request is repeated.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from stub import count_answers, stub_process

from bench.homes import partition_facts, stub_settings
from bench.measure import arguments, postgres_server, report
from bench.ray_nodes import ROOT, RayNodes, documented_commands
from memflow.resources.lake.lake import Lake
from memflow.resources.settings.settings import load

sys.path.append(str(ROOT / "tests"))
from served import Served, served, wait

DOMAINS = ("memorybench_demo", "amemgym_other", "amemgym_small")
ASSISTANTS = ("rag_2_4_30", "bm25_message", "none", "oracle", "full", "recent")
TOP = """home = "{home}"
domains = {domains}
assistants = {assistants}
"""
OWN_DOMAINS = """
[own_domains.amemgym_small]
benchmark = "amemgym"
datasets = ["personas_sample"]
parameters = {parameters}

[own_domains.amemgym_other]
benchmark = "amemgym"
datasets = ["personas_sample"]
seed = 2
parameters = {parameters}
"""
PARAMETERS = (
    "{ users = 2, refinements = 20, periods = 2, questions = 2, variables_per_question = 2, choices_per_variable = 3, "
    "changes_per_period = 3, max_changes_per_variable = 3, min_variants = 4, months_per_period = 3, rounds_init = 1, "
    'rounds_update = 2, start_date = "2020-10-01" }'
)
PATIENCE_S = 900.0
ENDED = {"SUCCESS", "FAILURE", "CANCELED"}


@dataclass
class Cluster:
    """A `memflow dev` whose runs are Ray jobs, with the stores and servers that they share."""

    dev: Served
    nodes: RayNodes
    lake: Lake
    ledger: str
    log: Path
    home: Path
    killed: dict[str, Any] = field(default_factory=dict)

    def stored(self) -> set[str]:
        """Return the digests of the requests that the ledger has answers of."""
        engine = sa.create_engine(self.ledger)
        try:
            with engine.connect() as connection:
                found = connection.execute(sa.text("SELECT digest FROM completions"))
                return {digest for (digest,) in found}
        except sa.exc.ProgrammingError:
            return set()  # no run has opened the ledger yet
        finally:
            engine.dispose()

    def answered(self) -> Counter[str]:
        """Return the number of answers of the stub server by request digest."""
        return count_answers(self.log) if self.log.exists() else Counter()

    def ended(self, backfill: str) -> bool:
        """Return whether all runs of a backfill have ended."""
        return str(self.dev.ask("Backfill", id=backfill)["status"]).startswith("COMPLETED")

    def works_on_second(self, answers: int) -> bool:
        """Return whether the stub server gave so many answers, and all launched runs work, some on the second node.

        A run whose node is lost before it works fails, and another run takes its place.
        """
        enough = sum(self.answered().values()) >= answers and bool(self.nodes.runs("second"))
        return enough and "STARTING" not in {run["status"] for run in self.dev.runs()}

    def kill_second_node(self) -> None:
        """Kill all processes of the second node, and note what the ledger and the stub server had at that time."""
        status = Counter(run["status"] for run in self.dev.runs())
        second = len(self.nodes.runs("second"))
        processes = self.nodes.kill("second")
        time.sleep(1)  # what the first node has sent is answered and stored
        self.killed = {
            "processes": processes,
            "runs": dict(status),
            "second": second,
            "stored": self.stored(),
            "answered": self.answered(),
        }

    def repeated(self) -> int:
        """Return how many requests were sent again although the ledger had an answer when the node was killed."""
        if not self.killed:
            return 0
        now, before = self.answered(), self.killed["answered"]
        return sum(now[digest] > before[digest] for digest in self.killed["stored"])


@contextmanager
def cluster(folder: Path, url: str, domains: Sequence[str], assistants: Sequence[str]) -> Iterator[Cluster]:
    """Start PostgreSQL, two Ray nodes and `memflow dev`. Raises RuntimeError without PostgreSQL."""
    settings, home = write_settings(folder / "memflow.toml", url, domains, assistants), folder / "dagster"
    home.mkdir()
    with ExitStack() as opened:
        port = opened.enter_context(postgres_server())
        if port is None:
            raise RuntimeError("PostgreSQL is missing. Install its server, then rerun.")
        shared = {
            "DAGSTER_POSTGRES_HOST": "127.0.0.1",
            "DAGSTER_POSTGRES_PORT": str(port),
            "DAGSTER_POSTGRES_USER": "memflow",
            "DAGSTER_POSTGRES_PASSWORD": "any",
            "DAGSTER_POSTGRES_DB": "postgres",
            "MEMFLOW_SETTINGS": str(settings),
            "MEMFLOW_LAKE": str(folder / "lake"),
            "MEMFLOW_LEDGER": f"postgresql+psycopg2://memflow@127.0.0.1:{port}/postgres",
        }
        plain = {
            name: value for name, value in os.environ.items() if not name.startswith(("MEMFLOW_", "DAGSTER_"))
        }
        nodes = RayNodes(folder, {**plain, "PYTHONPATH": str(ROOT), **shared})
        opened.callback(nodes.close, "head", "second")
        for node, command in documented_commands().items():
            # With one CPU on the head, the second run must be on the second node.
            nodes.start(node, command.replace("--num-cpus=2", "--num-cpus=1") if node == "head" else command)
        if nodes.accepts_strangers():
            raise RuntimeError("Ray accepts jobs without its secret. Check the version of Ray.")
        text = (Path(ROOT) / "resources" / "instance" / "deployment_ray.yaml").read_text(encoding="utf-8")
        (home / "dagster.yaml").write_text(
            text.replace("max_concurrent_runs: 8", "max_concurrent_runs: 3"), encoding="utf-8"
        )
        own = {
            "DAGSTER_HOME": str(home),
            "RAY_API_SERVER_ADDRESS": nodes.address,
            **nodes.token,
        }
        dev = opened.enter_context(served(settings, **shared, **own))
        log = folder / "stub.log"
        yield Cluster(
            dev, nodes, Lake(shared["MEMFLOW_LAKE"]), shared["MEMFLOW_LEDGER"], log, folder / "home"
        )


def write_settings(file: Path, url: str, domains: Sequence[str], assistants: Sequence[str]) -> Path:
    """Write the settings that `memflow dev`, the nodes and the embedded run share. Return their path."""
    names = {"domains": json.dumps(list(domains)), "assistants": json.dumps(list(assistants))}
    file.write_text(
        TOP.format(home=file.parent / "home", **names)
        + stub_settings(url, concurrency=8)
        + OWN_DOMAINS.format(parameters=PARAMETERS),
        encoding="utf-8",
    )
    return file


def run_jobs(found: Cluster, domains: Sequence[str], assistants: Sequence[str], kill_after: int = 0) -> None:
    """Run all jobs in order, the evaluations as a backfill, and wait for each. With `kill_after`, kill the second node.

    It is killed when the evaluations have had this many answers, and a run is on that node.
    """
    settings = load(found.log.with_name("memflow.toml"))
    datasets = list(dict.fromkeys(name for each in domains for name in settings.domain(each).datasets))
    pairs = [f"{assistant}|{domain}" for domain in domains for assistant in assistants]
    for job, partitions in (("ingest_datasets", datasets), ("generate_domain", domains)):
        for partition in partitions:
            found.dev.launch(job, partition)
        wait_for_runs(found.dev)
    answered = sum(found.answered().values())
    backfill = found.dev.backfill("evaluate_memory", pairs)
    if kill_after:
        wait(
            "evaluations on the second node, and requests",
            lambda: found.ended(backfill) or found.works_on_second(answered + kill_after),
            PATIENCE_S,
            pause=0.1,
        )
        if found.ended(backfill):
            raise RuntimeError("the evaluations ended before a node was killed. Ask for more partitions.")
        found.kill_second_node()
    wait(
        "the backfill to end",
        lambda: found.ended(backfill),
        PATIENCE_S,
        found.dev.progress,
    )
    wait_for_runs(found.dev)
    found.dev.launch("publish_leaderboard")
    wait_for_runs(found.dev)


def wait_for_runs(dev: Served) -> None:
    """Wait until all runs have ended."""
    wait("the runs to end", lambda: {run["status"] for run in dev.runs()} <= ENDED, PATIENCE_S, dev.progress)


def run_embedded(folder: Path, domains: Sequence[str], assistants: Sequence[str]) -> Lake:
    """Run the same partitions with `memflow run` on local files, with a stub server of its own. Return the lake."""
    folder.mkdir()
    with stub_process() as url:
        settings = write_settings(folder / "memflow.toml", url, domains, assistants)
        environment = {
            name: value for name, value in os.environ.items() if not name.startswith(("MEMFLOW_", "DAGSTER_"))
        }
        command = [sys.executable, "-m", "memflow.cli", "--settings", str(settings), "run", "--no-baselines"]
        ended = subprocess.run(
            command, check=False, capture_output=True, text=True, env={**environment, "PYTHONPATH": str(ROOT)}
        )
    if ended.returncode:
        raise RuntimeError(f"`memflow run` failed. Fix the error, then rerun: {ended.stderr[-2000:]}")
    return Lake(folder / "home" / "lake")


def differences(one: Lake, other: Lake) -> tuple[int, list[str]]:
    """Return the number of equal rows, and the tables and partitions that only one lake has or whose rows differ."""
    first, second = partition_facts(one), partition_facts(other)
    contents = [{name: facts.digest for name, facts in each.items()} for each in (first, second)]
    differing = sorted(
        name for name in first.keys() | second.keys() if contents[0].get(name) != contents[1].get(name)
    )
    return sum(facts.rows for name, facts in first.items() if name not in differing), differing


@dataclass(frozen=True)
class ClusterRun:
    """The result of a run on a cluster: wall seconds, runs by status, differing tables, and requests."""

    wall_s: float
    embedded_s: float
    runs: Mapping[str, int]
    rows: int
    differing: Sequence[str]
    answers: int
    distinct: int
    stored: int
    repeats_of_stored: int
    killed: Mapping[str, Any]

    @property
    def is_equal(self) -> bool:
        """Whether all runs succeeded, no table differs from the embedded run, and no stored request was repeated."""
        return set(self.runs) == {"SUCCESS"} and not self.differing and not self.repeats_of_stored


def compare(
    folder: Path, domains: Sequence[str], assistants: Sequence[str], latency: float, kill_after: int
) -> ClusterRun:
    """Run the partitions embedded, then on a cluster, and compare. Without `kill_after`, no node is killed."""
    began = time.perf_counter()
    local = run_embedded(folder / "embedded", domains, assistants)
    embedded_s, log = time.perf_counter() - began, folder / "stub.log"
    with stub_process(latency=latency, log=log) as url, cluster(folder, url, domains, assistants) as found:
        started = time.perf_counter()
        run_jobs(found, domains, assistants, kill_after)
        wall_s = time.perf_counter() - started
        rows, differing = differences(local, found.lake)
        answers = found.answered()
        return ClusterRun(
            round(wall_s, 1),
            round(embedded_s, 1),
            dict(Counter(run["status"] for run in found.dev.runs())),
            rows,
            differing,
            sum(answers.values()),
            len(answers),
            len(found.stored()),
            found.repeated(),
            {name: value for name, value in found.killed.items() if name in ("processes", "runs", "second")},
        )


def main() -> int:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that all servers are ended
    options = arguments(domains=3, assistants=6, latency=0.1, kill=False)
    domains, assistants = DOMAINS[: options.domains], ASSISTANTS[: options.assistants]
    with tempfile.TemporaryDirectory() as name:
        found = compare(Path(name), domains, assistants, options.latency, 20 if options.kill else 0)
    line = {"name": "cluster", "value": found.wall_s, "unit": "s", "peer": found.embedded_s}
    report(line, **{each: value for each, value in asdict(found).items() if not each.endswith("_s")})
    return 0 if found.is_equal else 1


if __name__ == "__main__":
    sys.exit(main())
