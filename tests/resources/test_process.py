"""Signal handling of subprocesses: they can be ended although the parent ignores or blocks signals."""

import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

from memflow.resources.process import ENDING, default_signals

WAITS = "import time; print('ready', flush=True); time.sleep(60)"


@pytest.fixture(autouse=True)
def restored_signals() -> Iterator[None]:
    """Restore the signal handlers and the signal mask of this process."""
    handlers = {number: signal.getsignal(number) for number in ENDING}
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    yield
    for number, handler in handlers.items():
        signal.signal(number, handler)
    signal.pthread_sigmask(signal.SIG_SETMASK, mask)


def is_ended_by(number: signal.Signals) -> bool:
    """Return whether the signal ends a subprocess that is started now."""
    with subprocess.Popen(
        [sys.executable, "-c", WAITS],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        preexec_fn=default_signals(),  # noqa: PLW1509
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.send_signal(number)
        try:
            return process.wait(20) != 0
        finally:
            process.kill()


@pytest.mark.parametrize("number", ENDING, ids=lambda number: number.name)
@pytest.mark.parametrize("how", ["ignored", "blocked"])
def test_subprocess_does_not_inherit_ignored_or_blocked_signals(number: signal.Signals, how: str) -> None:
    if how == "ignored":
        signal.signal(number, signal.SIG_IGN)
    else:
        signal.pthread_sigmask(signal.SIG_BLOCK, {number})
    assert is_ended_by(number)


def test_default_signals_returns_none_without_ignored_signals() -> None:
    for number in ENDING:
        signal.signal(number, signal.SIG_DFL)
    assert default_signals() is None


@pytest.mark.parametrize(
    ("hard", "needed", "limit"),
    [("40", 100, "40 40"), ("90", 60, "60 60"), ("90", 20, "30 30")],
)
def test_limit_of_open_files_is_raised_as_far_as_the_system_permits(
    hard: str, needed: int, limit: str
) -> None:
    program = (
        "import resource; from memflow.resources.process import allow_open_files;"
        f"resource.setrlimit(resource.RLIMIT_NOFILE, (30, {hard}));"
        f"print(allow_open_files({needed}), resource.getrlimit(resource.RLIMIT_NOFILE)[0])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == limit.split()


@pytest.mark.skipif(sys.platform != "linux", reason="reads the memory of the process from /proc")
def test_release_freed_memory_lowers_the_memory_of_the_process() -> None:
    program = (
        "from pathlib import Path\n"
        "from memflow.resources.process import release_freed_memory\n"
        "resident = lambda: int(Path('/proc/self/statm').read_text().split()[1]) * 4096\n"
        "texts = [bytes(2000) for _ in range(50_000)]\n"
        "last = bytes(2000)\n"  # holds the end of the heap
        "del texts\n"
        "before = resident()\n"
        "release_freed_memory()\n"
        "print(before - resident())"
    )
    released = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert int(released.stdout) > 50_000_000


@pytest.mark.skipif(sys.platform != "linux", reason="reads the memory of the process from /proc")
@pytest.mark.parametrize(("megabytes", "is_released"), [(100, True), (4, False)])
def test_release_after_growth_frees_cycles_of_a_process_that_has_grown(
    megabytes: int, is_released: bool
) -> None:
    program = (
        "import gc, weakref\n"
        "from memflow.resources.process import release_after_growth\n"
        "imported = bytearray(b'x') * 20_000_000\n"
        "release_after_growth()\n"
        "class Cycle: pass\n"
        "cycle = Cycle()\n"
        f"cycle.cycle, cycle.bytes = cycle, bytearray(b'x') * {megabytes * 1_000_000}\n"
        "found = weakref.ref(cycle)\n"
        "gc.disable()\n"
        "del cycle\n"
        "release_after_growth()\n"
        "print(found() is None)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(is_released)


@pytest.mark.skipif(sys.platform != "linux", reason="reads the memory of the process from /proc")
def test_limit_free_memory_returns_large_blocks_below_blocks_in_use() -> None:
    program = (
        "from pathlib import Path\n"
        "from memflow.resources.process import limit_free_memory\n"
        "limit_free_memory()\n"
        "resident = lambda: int(Path('/proc/self/statm').read_text().split()[1]) * 4096\n"
        "large = bytearray(b'x') * 30_000_000\n"
        "del large\n"  # by default, the threshold rises to its size
        "blocks = [bytearray(b'x') * 1_000_000 for _ in range(60)]\n"
        "last = bytes(2000)\n"  # holds the end of the heap
        "before = resident()\n"
        "del blocks\n"
        "print(before - resident())"
    )
    released = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert int(released.stdout) > 50_000_000
