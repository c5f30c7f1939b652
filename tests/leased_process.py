"""A process that inherits a lease and sleeps, as a run or a program of `memflow dev` does."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from resources.runs.leases import Holder, acquire

SLEEP = [sys.executable, "-c", "import time; time.sleep(600)"]


@contextmanager
def leased_process(path: Path, *, named: bool = True) -> Iterator[subprocess.Popen[bytes]]:
    """Start a process that holds the lease at `path`, named in its file or not. Kill it at the end."""
    lease = acquire(path)
    assert lease is not None
    process = subprocess.Popen(SLEEP, pass_fds=[lease.descriptor])
    try:
        if named:
            lease.hand_over(Holder.of(process.pid))
        else:
            lease.file.close()
        yield process
    finally:
        process.kill()
        process.wait()
