"""A PostgreSQL server of the tests' own, where its programs are installed."""

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


def programs() -> Path | None:
    """The folder with initdb and pg_ctl: on the path, or where Debian puts them."""
    if found := shutil.which("initdb"):
        return Path(found).parent
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    return folders[-1].parent if folders else None


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """The SQLAlchemy URL of an empty database. Root cannot run the server, so the user postgres does."""
    folder = programs()
    if folder is None:
        lacks = "there is no PostgreSQL on this machine: neither initdb on the path nor /usr/lib/postgresql"
        if os.environ.get("CI") == "true":
            pytest.fail(lacks)
        pytest.skip(lacks)
    home = Path(tempfile.mkdtemp(prefix="memflow-postgres-"))
    as_user: list[str] = []
    if os.geteuid() == 0:
        shutil.chown(home, "postgres")
        as_user = ["runuser", "-u", "postgres", "--"]
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]

    def run(program: str, *arguments: str) -> None:
        subprocess.run(
            [*as_user, str(folder / program), *arguments], check=True, capture_output=True, cwd=home
        )

    data = str(home / "data")
    run("initdb", "-D", data, "-U", "memflow", "--auth=trust", "--no-sync")
    run(
        "pg_ctl",
        "-D",
        data,
        "-w",
        "-l",
        str(home / "log"),
        "-o",
        f"-p {port} -h 127.0.0.1 -k {home}",
        "start",
    )
    try:
        yield f"postgresql+psycopg2://memflow@127.0.0.1:{port}/postgres"
    finally:
        run("pg_ctl", "-D", data, "-m", "immediate", "stop")
        shutil.rmtree(home, ignore_errors=True)
