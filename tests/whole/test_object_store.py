"""The demo on a lake in an object store: the same tables as in a folder, and two hosts beside a reader."""

import json
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from s3_server import BUCKET, s3_server

from bench.homes import content_hashes
from memflow.operations.planned_runs import Outcome
from memflow.records import TABLES
from memflow.resources.lake.lake import Lake
from memflow.resources.lake.storage import opening
from memflow.resources.publishing.warehouse import Warehouse

ADDRESS = f"s3://{BUCKET}/team/lake"
DOMAIN = "amemgym_demo~2"
SELECTION = ("--domain", DOMAIN, "--memory", "full")
pytestmark = pytest.mark.pipeline


@pytest.fixture(scope="module")
def server() -> Iterator[dict[str, str]]:
    with s3_server() as environment:
        yield environment


class Host:
    """A home with a cache of its own, whose lake is in the object store and whose ledger is shared."""

    def __init__(self, folder: Path, environment: dict[str, str], lake: str) -> None:
        self.home = folder / "home"
        self.environment = {
            **environment,
            "MEMFLOW_CACHE": str(folder / "cache"),
            "MEMFLOW_LAKE": lake,
            "MEMFLOW_LEDGER": f"sqlite:///{folder.parent / 'ledger.sqlite'}",
        }
        folder.mkdir(parents=True)

    def start(self, *arguments: str) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            [sys.executable, "-m", "memflow.cli", "--home", str(self.home), *arguments],
            env=self.environment,
            cwd=self.home.parent,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )


def ended(process: "subprocess.Popen[str]") -> dict[str, object]:
    try:
        out, errors = process.communicate(timeout=600)
    finally:
        process.kill()
    assert process.returncode == 0, (out, errors)
    found = json.loads(out)
    return found if isinstance(found, dict) else {"rows": found}


@pytest.fixture
def s3_lake(server: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Lake]:
    """Return a function that opens a lake on the server, with a cache of its own."""
    for name, value in server.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("MEMFLOW_CACHE", str(tmp_path / "cache"))
    return Lake


def test_hosts_with_a_lake_in_an_object_store_share_the_tables_of_a_local_run(
    s3_lake: Callable[[str], Lake],
    run_in: Callable[..., Outcome],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run_in(tmp_path / "local", [DOMAIN], ["none", "full"])
    monkeypatch.setenv("MEMFLOW_LAKE", ADDRESS)
    monkeypatch.setenv("MEMFLOW_LEDGER", f"sqlite:///{tmp_path / 'ledger.sqlite'}")
    made = run_in(tmp_path / "a", [DOMAIN], ["none", "full"])
    lake = s3_lake(ADDRESS)
    assert content_hashes(lake) == content_hashes(Lake(tmp_path / "local" / "lake"))
    assert not (tmp_path / "a" / "lake").exists()

    monkeypatch.setenv("MEMFLOW_CACHE", str(tmp_path / "other cache"))
    again = run_in(tmp_path / "b", [DOMAIN], ["none", "full"])
    assert (len(again.ran), len(again.up_to_date)) == (0, len(made.ran))
    assert again.scores == made.scores
    assert (tmp_path / "b" / "memflow.duckdb").exists()
    opening._opened.clear()
    client = Lake(ADDRESS).storage.store  # type: ignore[attr-defined]
    run_in(tmp_path / "b", [DOMAIN], ["none", "full"])
    assert client.requests["list"] < 3 * len(TABLES), client.requests
    assert client.requests["get"] < 20, client.requests
    rows = Warehouse(Lake(ADDRESS), tmp_path / "b" / "memflow.duckdb").sql(
        "SELECT count(*) AS n FROM score.verdicts"
    )
    assert rows[0]["n"] == sum(
        len(lake.read("score.verdicts", name)) for name in lake.partitions("score.verdicts")
    )


def test_two_hosts_write_the_same_and_different_partitions_beside_a_reader(
    s3_lake: Callable[[str], Lake],
    server: dict[str, str],
    own_environment: dict[str, str],
    tmp_path: Path,
) -> None:
    environment = {**own_environment, **server}
    address = f"s3://{BUCKET}/shared/lake"
    hosts = [Host(tmp_path / "hosts" / name, environment, address) for name in ("a", "b")]
    lake = s3_lake(address)
    failures: list[BaseException] = []
    questions, is_over = [0], threading.Event()

    def read() -> None:
        warehouse = Warehouse(lake, tmp_path / "memflow.duckdb")
        try:
            while not is_over.is_set():
                # A reply is written before its verdicts, and each partition has one verdict per reply and metric.
                [row] = warehouse.sql(
                    "SELECT count(*) FILTER (r.probe_id IS NULL) AS alone, "
                    "(SELECT count(*) FROM question.probes) AS probes "
                    "FROM score.verdicts v LEFT JOIN answer.replies r USING (domain, assistant, probe_id)"
                )
                assert row["alone"] == 0, row
                questions[0] += 1
                is_over.wait(0.3)
        except BaseException as failed:  # noqa: BLE001  (reported by the test)
            failures.append(failed)

    reader = threading.Thread(target=read)
    reader.start()
    try:
        runs = [
            host.start("run", *SELECTION, *more, "--force", "--format", "json")
            for host, more in zip(hosts, (("--memory", "recent"), ("--memory", "none")), strict=True)
        ]
        for process in runs:
            ended(process)
    finally:
        is_over.set()
        reader.join(60)
    assert failures == []
    assert questions[0] > 3
    assistants = {name.partition("/")[2] for name in lake.partitions("score.verdicts")}
    assert assistants >= {"full", "recent", "none"}
    for table in TABLES:
        for partition in lake.partitions(table):
            assert len(lake.read(table, partition)) == lake.facts(table, partition).rows
