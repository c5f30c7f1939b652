"""The stub server in a subprocess, and its log."""

import json
import os
import subprocess
import sys
import urllib.request
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from memflow.resources.process import default_signals

FOLDER = str(Path(__file__).parents[1])
"""The folder of the package `stub`."""


def request_digests(log: Path) -> list[str]:
    """Return the digests of the requests that a stub server answered, in order; none if there is no log yet."""
    if not log.exists():
        return []
    # Without the line that is being written.
    lines = [json.loads(line) for line in log.read_text(encoding="utf-8").split("\n")[:-1]]
    return [line["key"] or line["body"] for line in lines if line["status"] == 200]


def count_answers(log: Path) -> Counter[str]:
    """Return the number of answered requests in a stub server's log, by request digest."""
    return Counter(request_digests(log))


def request_counts(url: str) -> dict[str, int]:
    """Return the numbers of requests that a stub server has counted (`Counts`)."""
    with urllib.request.urlopen(url.removesuffix("/v1") + "/stub/counts") as answer:
        counts: dict[str, int] = json.load(answer)
        return counts


@contextmanager
def stub_process(**behavior: Any) -> Iterator[str]:
    """Run a stub server in a subprocess, and yield its base URL."""
    arguments = [f"--{name.replace('_', '-')}={value}" for name, value in behavior.items()]
    with subprocess.Popen(
        [sys.executable, "-m", "stub", *arguments],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([FOLDER, os.environ.get("PYTHONPATH", "")])},
        preexec_fn=default_signals(),  # noqa: PLW1509  (None unless signals are ignored)
    ) as process:
        try:
            assert process.stdout is not None
            url = process.stdout.readline().strip()
            if not url:
                raise RuntimeError(
                    "the stub server did not start. Fix the error that it printed above, then rerun."
                )
            yield url
        finally:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
