"""`memflow data get` as a process that is killed during a download, and started again."""

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from download_origin import serving

CONTENT = os.urandom(30_000_000)
FILE = "datasets/ronaldahmed/scitechnews/resolve/main/test.json"


@pytest.mark.kill
def test_killed_download_leaves_no_file_and_is_begun_again(
    tmp_path: Path, clean_environment: dict[str, str]
) -> None:
    command = [sys.executable, "-m", "memflow.cli", "data", "get", "scitechnews", "--yes", "--format", "json"]
    with serving() as origin:
        origin.add(FILE, CONTENT, stalls_at=20_000_000)
        environment = {
            **clean_environment,
            "MEMFLOW_DATA": str(tmp_path / "data"),
            "HF_ENDPOINT": origin.url,
            "no_proxy": "127.0.0.1",
        }
        process = subprocess.Popen(command, env=environment, cwd=tmp_path)
        deadline = time.monotonic() + 60
        while not origin.downloads():
            assert process.poll() is None and time.monotonic() < deadline
            time.sleep(0.05)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        assert not (tmp_path / "data" / "scitechnews").exists()
        origin.files[FILE].stalls_at = 0
        done = subprocess.run(
            command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=True
        )
    [file] = json.loads(done.stdout)["files"]
    assert file["sha256"] == hashlib.sha256(CONTENT).hexdigest()
    assert (tmp_path / "data" / "scitechnews" / "test.json").read_bytes() == CONTENT
