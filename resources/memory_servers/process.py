"""The process of a memory server: its command, environment variables and log, and the transport over stdin and stdout.

A server ends when its stdin is closed, also because memflow was killed. A line is one JSON object.
"""

import asyncio
import os
import shutil
import signal
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

from memflow.errors import BadSettings
from memflow.memories.server.protocol import LONGEST_LINE
from memflow.resources.memory_servers.transport import (
    InvalidAnswer,
    ServerStopped,
    Transport,
    decode,
    encode,
    shown,
)
from memflow.resources.models.event_loop import detached
from memflow.resources.process import default_signals, signal_group

Process = asyncio.subprocess.Process
ALLOWED = ("PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR", "TERM")
"""Environment variables that every server receives, and those that begin with LC_."""
ADDED = {"PYTHONUNBUFFERED": "1", "PYTHONUTF8": "1"}
"""So that a server in Python needs no flush, and reads UTF-8 in every locale."""
SCRIPTS = (".py", ".js", ".mjs", ".cjs", ".ts", ".rb", ".sh", ".pl", ".jar")
"""Endings of arguments that are files."""
GRACE_S = 2.0
"""Seconds for a server to end after its stdin is closed, and again after SIGTERM."""
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
        is_path = "/" in program
        found = shutil.which((self.folder / Path(program).expanduser()).absolute() if is_path else program)
        if found is None:
            where = f"{self.folder / program}" if is_path else f"{program!r} on PATH"
            raise BadSettings(f"cannot find the program {where}. Fix {self.setting}.")
        for argument in arguments:
            path = self.folder / Path(argument).expanduser()
            if argument.endswith(SCRIPTS) and not argument.startswith("-") and not path.is_file():
                raise BadSettings(f"cannot find the file {path}. Fix {self.setting}.")
        return [str(found), *arguments]

    def environment(self) -> dict[str, str]:
        """Return the server's environment variables by name. Raises BadSettings if an allowed one is not set."""
        missing = [name for name in self.variables if name not in os.environ]
        if missing:
            raise BadSettings(
                f"the environment variable {missing[0]} is not set. Set it, or remove it from "
                f"{self.setting.replace('command', 'variables')}."
            )
        names = {*ALLOWED, *self.variables, *(name for name in os.environ if name.startswith("LC_"))}
        return {name: os.environ[name] for name in names & os.environ.keys()} | ADDED | {**self.given}

    def files(self) -> list[Path]:
        """Return the files that the command names, such as its script."""
        paths = (self.folder / Path(word).expanduser() for word in self.words)
        return [path for path in paths if path.suffix in SCRIPTS and path.is_file()]


class ServerLog:
    """What a server writes to stderr, with a line for each of its starts."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._start = 0
        """The size of the file when the server was started."""

    @contextmanager
    def opened(self, command: ServerCommand) -> Iterator[TextIO]:
        """Yield the file for a start of the server."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("a", encoding="utf-8") as stderr:
            print("---", time.strftime("%Y-%m-%d %H:%M:%S"), command.words[0], file=stderr, flush=True)
            self._start = self._path.stat().st_size
            yield stderr

    def tail(self) -> str:
        """Return the last lines since the last start, for an error message."""
        with self._path.open("rb") as file:
            file.seek(max(self._start, file.seek(0, os.SEEK_END) - TAIL_BYTES))
            lines = file.read().decode("utf-8", "replace").strip().splitlines()[-TAIL_LINES:]
        return f". Its log {self._path} " + (f"ends with: {' | '.join(lines)}" if lines else "is empty")


async def end_process(process: Process) -> str:
    """Close stdin, then end the process group: SIGTERM, then SIGKILL. Return how the process ended."""
    if process.stdin is not None:
        process.stdin.close()
    for number in (signal.SIGTERM, signal.SIGKILL, signal.SIGKILL):
        if process.returncode is None:
            # In Python 3.11, `wait` returns when no process has the server's output any more.
            with suppress(TimeoutError):
                await asyncio.wait_for(process.wait(), GRACE_S)
        if process.returncode is None:
            signal_group(process.pid, number)
    signal_group(process.pid, signal.SIGKILL)  # processes that it started
    status = process.returncode
    return (
        f"ended with status {status}" if status is None or status >= 0 else f"was ended by signal {-status}"
    )


class StdioTransport(Transport):
    """A server that memflow starts. Answers are matched to requests by their number `n`, in any order.

    A line that is no answer ends the server, since what it belongs to is not known.
    """

    outlives_run = False

    def __init__(self, command: ServerCommand, log: Path) -> None:
        super().__init__()
        self.command = command
        self.setting = command.setting
        self.log = ServerLog(log)
        self.process: Process | None = None
        self._answers: dict[int, asyncio.Future[Mapping[str, Any]]] = {}
        self._ending = "is not running"
        self._reader: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Start the process. Raises BadSettings if the command cannot be run."""
        await self.stop()
        words, environment = self.command.resolved(), self.command.environment()
        with self.log.opened(self.command) as stderr:
            try:
                self.process = await asyncio.create_subprocess_exec(
                    *words,
                    stdin=asyncio.subprocess.PIPE,
                    stdout=asyncio.subprocess.PIPE,
                    stderr=stderr,
                    limit=LONGEST_LINE,
                    cwd=self.command.folder,
                    env=environment,
                    start_new_session=True,
                    preexec_fn=default_signals(),
                )
            except OSError as error:
                where = f"{words[0]} in {self.command.folder}"
                raise BadSettings(f"cannot start {where}: {error}. Fix {self.setting}.") from error
        self._reader = detached(self._read(self.process))

    async def exchange(self, message: Mapping[str, Any]) -> Mapping[str, Any]:
        """Write a message as a line, and return the answer with the same number `n`."""
        if self.process is None:
            raise ServerStopped(self._ending)
        stdin = self.process.stdin
        assert stdin is not None
        content = encode(message)
        answer = self._answers[message["n"]] = asyncio.get_running_loop().create_future()
        try:
            with suppress(ConnectionError, RuntimeError):  # it ended: the reader reports why
                stdin.write(content + b"\n")
                await stdin.drain()
            return await answer
        finally:
            self._answers.pop(message["n"], None)

    async def kill(self) -> str:
        """End the process group at once, as a crash would."""
        if self.process is None:
            return ""
        signal_group(self.process.pid, signal.SIGKILL)
        await end_process(self.process)
        return self.log.tail()

    async def stop(self) -> None:
        """End the process group."""
        # If this is canceled, the process is still known, and a later call ends it.
        if self.process is not None:
            await end_process(self.process)
        reader, self._reader = self._reader, None
        if reader is not None:
            reader.cancel()
            await asyncio.gather(reader, return_exceptions=True)
        self.process = None
        self._fail_all(ServerStopped("was ended"))

    async def _read(self, process: Process) -> None:
        """Read lines until the end of the output, then fail the requests in flight."""
        assert process.stdout is not None
        try:
            while line := await process.stdout.readline():
                if line.strip():
                    self._receive(line.strip())
            reason = f"{await end_process(process)}{self.log.tail()}"
        except (InvalidAnswer, ValueError) as wrong:
            signal_group(process.pid, signal.SIGKILL)
            await end_process(process)
            too_long = f"wrote a line longer than {LONGEST_LINE:,} bytes"
            reason = str(wrong) if isinstance(wrong, InvalidAnswer) else too_long
        self._fail_all(ServerStopped(reason))
        if self.process is process:
            self.process, self._ending = None, reason

    def _receive(self, line: bytes) -> None:
        """Pass an answer to its request. A late answer, to a request that failed, is ignored. Raises InvalidAnswer."""
        answer = decode(line)
        number = answer.get("n")
        if type(number) is not int or number > self._number:
            raise InvalidAnswer(f"answered a request n = {number!r} that is not open: {shown(line)}")
        waiting = self._answers.get(number)
        if waiting is not None and not waiting.done():
            waiting.set_result(answer)

    def _fail_all(self, error: ServerStopped) -> None:
        for answer in self._answers.values():
            if not answer.done():
                answer.set_exception(error)
