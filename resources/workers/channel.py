"""Calls of methods between two processes in both directions, over one connection.

Messages are pickled, so both processes must run the same program. resources/workers/worker.py starts processes.
"""

import threading
import traceback
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from itertools import count
from multiprocessing.connection import Connection
from multiprocessing.reduction import ForkingPickler
from typing import Any, Literal

from memflow.errors import MemflowError

Kind = Literal["call", "post", "result", "error"]


class Channel:
    """One end of a connection. The other end calls the public methods of `handler`, which must not block.

    A method whose result takes time returns a future. The reading thread calls `on_close` once, when the other process
    has ended.
    """

    def __init__(
        self, connection: Connection, handler: object, on_close: Callable[[], None] = lambda: None
    ) -> None:
        self._connection = connection
        self._handler = handler
        self._on_close = on_close
        self._numbers = count()
        self._waiting: dict[int, Future[Any]] = {}
        self._state_lock = threading.Lock()
        self._send_lock = threading.Lock()
        self._closed = False
        self._reader = threading.Thread(target=self._read, name="memflow-channel", daemon=True)

    def open(self) -> None:
        """Start the thread that reads messages and answers the calls of the other end."""
        self._reader.start()

    def call(self, method: str, *arguments: Any) -> Future[Any]:
        """Call a method of the other end's handler. Return a future of its result, which cannot be canceled.

        The future raises the method's exception, or ConnectionError if the other process ends first.
        """
        future: Future[Any] = Future()
        future.set_running_or_notify_cancel()
        with self._state_lock:
            if self._closed:
                future.set_exception(_ended())
                return future
            number = next(self._numbers)
            self._waiting[number] = future
        self._send("call", number, method, arguments)
        return future

    def post(self, method: str, *arguments: Any) -> None:
        """Call a method of the other end's handler without waiting for a result. Posts are handled in order."""
        self._send("post", 0, method, arguments)

    def _send(self, kind: Kind, number: int, method: str, content: Any) -> None:
        try:
            with self._send_lock:
                self._connection.send((kind, number, method, content))
        except OSError:
            return  # the other process has ended, which the reading thread handles

    def _read(self) -> None:
        try:
            while (message := self._receive()) is not None:
                self._handle(*message)
        finally:
            self._end()

    def _receive(self) -> tuple[Kind, int, str, Any] | None:
        """Return the next message from the other process; None if that process has ended."""
        try:
            message: tuple[Kind, int, str, Any] = self._connection.recv()
        except (EOFError, OSError):
            return None
        return message

    def _handle(self, kind: Kind, number: int, method: str, content: Any) -> None:
        match kind:
            case "post":
                getattr(self._handler, method)(*content)
            case "call":
                self._answer(number, method, content)
            case "result":
                self._waiting.pop(number).set_result(content)
            case "error":
                self._waiting.pop(number).set_exception(content)

    def _answer(self, number: int, method: str, arguments: tuple[Any, ...]) -> None:
        try:
            result = getattr(self._handler, method)(*arguments)
        except BaseException as error:  # noqa: BLE001  (it is raised at the other end)
            self._send("error", number, method, _sendable(error))
            return
        if isinstance(result, Future):
            result.add_done_callback(partial(self._reply, number, method))
        else:
            self._send("result", number, method, result)

    def _reply(self, number: int, method: str, result: Future[Any]) -> None:
        error = result.exception()
        if error is None:
            self._send("result", number, method, result.result())
        else:
            self._send("error", number, method, _sendable(error))

    def _end(self) -> None:
        with self._state_lock:
            self._closed = True
        self._connection.close()
        self._on_close()
        for future in self._waiting.values():
            future.set_exception(_ended())


def _sendable(error: BaseException) -> BaseException:
    """Return an error that can be pickled, with the traceback as a note unless memflow raises errors of this type."""
    if not isinstance(error, MemflowError):
        error.add_note("".join(traceback.format_exception(error)))
    try:
        ForkingPickler.loads(ForkingPickler.dumps(error))
    except Exception:  # noqa: BLE001  (pickling raises errors of many types)
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error


def _ended() -> ConnectionError:
    return ConnectionError("the process at the other end of the channel has ended. Rerun.")
