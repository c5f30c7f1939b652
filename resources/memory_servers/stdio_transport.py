"""The transport of memory servers over stdin and stdout: one JSON object a line, several requests in flight.

process.py starts the process.
"""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from memflow.memories.server.protocol import LONGEST_LINE
from memflow.resources.memory_servers.process import ServerCommand, ServerProcess, start_process
from memflow.resources.memory_servers.transport import InvalidAnswer, ServerStopped, Transport, decode, shown
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
        self.log = log
        self.process: ServerProcess | None = None
        self._answers: dict[int, asyncio.Future[Mapping[str, Any]]] = {}
        self._ending = "is not running"
        self._sending = asyncio.Lock()
        self._reader: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Start the process. Raises BadSettings if the command cannot be run."""
        await self.stop()
        self.process = await start_process(self.command, self.log)
        self._reader = detached(self._read(self.process))

    async def exchange(self, number: int, content: bytes) -> Mapping[str, Any]:
        """Write a line, and return the answer with the same number."""
        if self.process is None:
            raise ServerStopped(self._ending)
        answer = self._answers[number] = asyncio.get_running_loop().create_future()
        try:
            await self._write_line(content)
            return await answer
        finally:
            self._answers.pop(number, None)

    async def kill(self) -> str:
        """End the process group at once, as a crash would."""
        process = self.process
        if process is None:
            return ""
        await process.kill()
        return process.log_tail()

    async def stop(self) -> None:
        """End the process group."""
        # If this is canceled, the process is still known, and a later call ends it.
        if self.process is not None:
            await self.process.stop()
        reader, self._reader = self._reader, None
        if reader is not None:
            reader.cancel()
            await asyncio.gather(reader, return_exceptions=True)
        self.process = None
        self._fail_all(ServerStopped("was ended"))

    async def _write_line(self, content: bytes) -> None:
        async with self._sending:
            if self.process is not None:
                with suppress(ConnectionError, RuntimeError):  # it ended: the reader reports why
                    self.process.stdin.write(content + b"\n")
                    await self.process.stdin.drain()

    async def _read(self, process: ServerProcess) -> None:
        """Read lines until the end of the output, then fail the requests in flight."""
        try:
            while line := await process.stdout.readline():
                if line.strip():
                    self._receive(line.strip())
            reason = await process.stop()
        except InvalidAnswer as wrong:
            await process.kill()
            reason = str(wrong)
        except ValueError:
            await process.kill()
            reason = f"wrote a line longer than {LONGEST_LINE:,} bytes"
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
