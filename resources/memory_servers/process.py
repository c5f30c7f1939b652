"""The process of a memory server: its own process group, a list of allowed environment variables, and its log.

guard.py ends the process group when memflow exits, even if memflow is killed with SIGKILL. stdio_transport.py
exchanges the messages.
"""

import asyncio
import os
import shutil
import signal
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from memflow.errors import BadSettings
from memflow.resources.memory_servers.guard import KILL

ALLOWED = ("PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR", "TERM")
"""Environment variables that every server receives, and those that begin with LC_."""
ADDED = {"PYTHONUNBUFFERED": "1", "PYTHONUTF8": "1"}
"""So that a server in Python needs no flush, and reads UTF-8 in every locale."""
SCRIPTS = (".py", ".js", ".mjs", ".cjs", ".ts", ".rb", ".sh", ".pl", ".jar")
"""Endings of arguments that are files."""
GRACE_S = 2.0
"""Seconds for a server to end after its stdin is closed, and again after SIGTERM."""
STREAM_LIMIT = 1 << 16
"""Half of the bytes of output that are buffered."""
TAIL_LINES, TAIL_BYTES = 12, 4000


@dataclass(frozen=True)
class ServerCommand:
    """A command of the settings: its words, folder, allowed variables, and the line of the settings to fix.

    `given` are further variables, whose values memflow sets.
    """

    words: Sequence[str]
    folder: Path
    variables: Sequence[str] = ()
    setting: str = "`command`"
    given: Mapping[str, str] = field(default_factory=dict)

    def resolved(self) -> list[str]:
        """Return the words with the path of the program. Raises BadSettings if the program or a script is missing."""
        program, *arguments = self.words
        if "/" in program:
            path = self.folder / Path(program).expanduser()
            found = str(path) if os.access(path, os.X_OK) and path.is_file() else None
        else:
            found = shutil.which(program)
        if found is None:
            where = str(self.folder / program) if "/" in program else f"{program!r} on PATH"
            raise BadSettings(f"cannot find the program {where}. Fix {self.setting}.")
        for each in arguments:
            path = self.folder / Path(each).expanduser()
            if each.endswith(SCRIPTS) and not each.startswith("-") and not path.is_file():
                raise BadSettings(f"cannot find the file {path}. Fix {self.setting}.")
        return [found, *arguments]

    def environment(self) -> dict[str, str]:
        """Return the variables for the server. Raises BadSettings if an allowed variable is not set."""
        missing = [name for name in self.variables if name not in os.environ]
        if missing:
            raise BadSettings(
                f"the environment variable {missing[0]} is not set. Set it, or remove it from `variables` beside "
                f"{self.setting}."
            )
        return {**allowed_environment(os.environ, self.variables), **ADDED, **self.given}

    def files(self) -> list[Path]:
        """Return the files that the command names, such as its script."""
        paths = (self.folder / Path(each).expanduser() for each in self.words)
        return [path for path in paths if path.suffix in SCRIPTS and path.is_file()]


def allowed_environment(environment: Mapping[str, str], variables: Iterable[str]) -> dict[str, str]:
    """Return the variables of `environment` that a server may have."""
    names = {*ALLOWED, *variables}
    return {name: value for name, value in environment.items() if name in names or name.startswith("LC_")}


@dataclass
class ServerProcess:
    """A running server with its pipes. `start_process` starts it; `stop` ends it and its process group."""

    process: asyncio.subprocess.Process
    log: Path
    log_start: str
    """The line with which the log of this start begins."""
    transport: asyncio.SubprocessTransport
    ended: asyncio.Event
    _guarded: int
    _stopping: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def stdin(self) -> asyncio.StreamWriter:
        """The pipe to the server."""
        assert self.process.stdin is not None
        return self.process.stdin

    @property
    def stdout(self) -> asyncio.StreamReader:
        """The pipe from the server."""
        assert self.process.stdout is not None
        return self.process.stdout

    async def stop(self) -> int:
        """Close stdin, then end the process group: SIGTERM, then SIGKILL. Return the exit status."""
        async with self._stopping:
            if self._guarded < 0:
                return self._status()
            self.stdin.close()
            if not await self._ends_within(GRACE_S):
                self._signal(signal.SIGTERM)
            if not await self._ends_within(GRACE_S):
                self._signal(signal.SIGKILL)
                await self.ended.wait()
            self.transport.close()
            os.close(self._guarded)
            self._guarded = -1
            return self._status()

    async def end_rest(self) -> None:
        """Wait until the server ends. Then close its output, which a process that it started may have open."""
        await self.ended.wait()
        await asyncio.sleep(GRACE_S)  # for the reader, which has to see the last output first
        self.transport.close()

    async def kill(self) -> None:
        """End the process group at once."""
        self._signal(signal.SIGKILL)
        await self.stop()

    def ending(self, status: int) -> str:
        """Return how the process ended, and the end of its log."""
        how = f"was ended by signal {status - 128}" if status > 128 else f"ended with status {abs(status)}"
        return f"{how}{self.log_tail()}"

    def log_tail(self) -> str:
        """Return the last lines that the server wrote to stderr since its start, for an error message."""
        try:
            with self.log.open("rb") as file:
                file.seek(max(0, file.seek(0, os.SEEK_END) - TAIL_BYTES))
                text = file.read().decode("utf-8", "replace").rpartition(self.log_start)[2].strip()
        except OSError:
            text = ""
        lines = text.splitlines()[-TAIL_LINES:]
        return (
            f". Its log {self.log} ends with: {' | '.join(lines)}"
            if lines
            else f". Its log {self.log} is empty"
        )

    async def _ends_within(self, seconds: float) -> bool:
        # Not `process.wait()`, which in Python 3.11 waits until no process has the server's output.
        try:
            await asyncio.wait_for(self.ended.wait(), seconds)
        except TimeoutError:
            return False
        return True

    def _status(self) -> int:
        status = self.process.returncode
        assert status is not None, "the process has ended"
        return status

    def _signal(self, number: signal.Signals) -> None:
        if self._guarded >= 0:
            with suppress(BrokenPipeError):  # the server has ended
                os.write(self._guarded, KILL if number == signal.SIGKILL else b"t")


class _Streams(asyncio.subprocess.SubprocessStreamProtocol):
    """The pipes of a process, and an event for its end, which does not wait for the end of the pipes."""

    def __init__(self) -> None:
        super().__init__(limit=STREAM_LIMIT, loop=asyncio.get_running_loop())
        self.ended = asyncio.Event()

    def process_exited(self) -> None:
        super().process_exited()
        self.ended.set()


async def start_process(command: ServerCommand, log: Path) -> ServerProcess:
    """Start a server in its own process group. Raises BadSettings if its program or a variable is missing."""
    words, environment = command.resolved(), command.environment()
    log.parent.mkdir(parents=True, exist_ok=True)
    start = f"--- {time.strftime('%Y-%m-%d %H:%M:%S')} {command.words[0]}\n"
    watched, guarded = os.pipe()
    guard = Path(__file__).with_name("guard.py")
    try:
        with log.open("a+b") as stderr:
            stderr.write(start.encode())
            stderr.flush()
            loop = asyncio.get_running_loop()
            transport, streams = await loop.subprocess_exec(
                _Streams,
                *(sys.executable, "-I", "-S", str(guard), str(watched), str(GRACE_S), *words),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=stderr,
                cwd=command.folder,
                env=environment,
                pass_fds=(watched,),
                start_new_session=True,
            )
    except OSError as error:
        os.close(guarded)
        raise BadSettings(
            f"cannot start {words[0]} in {command.folder}: {error}. Fix {command.setting}."
        ) from error
    except BaseException:
        os.close(guarded)
        raise
    finally:
        os.close(watched)
    process = asyncio.subprocess.Process(transport, streams, loop)
    return ServerProcess(process, log, start, transport, streams.ended, guarded)
