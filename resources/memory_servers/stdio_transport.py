"""The transport of memory servers over stdin and stdout: one JSON object a line, several requests in flight."""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from memflow.memories.server.protocol import LONGEST_LINE
from memflow.resources.memory_servers.process import (
    Process,
    ServerCommand,
    ServerLog,
    end_process,
    kill_process,
    start_process,
)
from memflow.resources.memory_servers.transport import (
    InvalidAnswer,
    ServerStopped,
    Transport,
    decode,
    encode,
    shown,
)
from memflow.resources.models.event_loop import detached


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
        with self.log.opened(self.command) as stderr:
            self.process = await start_process(self.command, stderr)
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
        await kill_process(self.process)
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
            await kill_process(process)
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
