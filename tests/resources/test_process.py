"""process.py: a subprocess can be ended although the process that starts it ignores or blocks signals."""

import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

from resources.process import ENDING, default_signals

WAITS = "import time; print('ready', flush=True); time.sleep(60)"


@pytest.fixture(autouse=True)
def restored_signals() -> Iterator[None]:
    """Restore the handlers and the mask of this process."""
    handlers = {number: signal.getsignal(number) for number in ENDING}
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    yield
    for number, handler in handlers.items():
        signal.signal(number, handler)
    signal.pthread_sigmask(signal.SIG_SETMASK, mask)


def is_ended_by(number: signal.Signals) -> bool:
    """Whether a subprocess that is started now ends at this signal."""
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
def test_ignored_and_blocked_signals_are_not_inherited(number: signal.Signals, how: str) -> None:
    if how == "ignored":
        signal.signal(number, signal.SIG_IGN)
    else:
        signal.pthread_sigmask(signal.SIG_BLOCK, {number})
    assert is_ended_by(number)


def test_nothing_runs_in_the_child_where_no_signal_is_ignored() -> None:
    for number in ENDING:
        signal.signal(number, signal.SIG_DFL)
    assert default_signals() is None
