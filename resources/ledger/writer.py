"""The ledger's writer thread: one transaction stores the records of several requests (group commit).

sql_ledger.py and lookups.py read; rows.py contains the statements and rows of a transaction.
"""

import asyncio
import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from typing import TypeVar

from sqlalchemy.engine import Engine
from sqlalchemy.exc import DataError, DBAPIError

from memflow.chat.requests import Completion
from memflow.errors import DamagedRow
from memflow.resources.ledger.database import store_error
from memflow.resources.ledger.rows import Record, RecordWriter
from memflow.resources.reconnect import is_lost, pauses

T = TypeVar("T")

BULK = 500
"""Number of records after which a commit starts although nothing waits for it."""
MAX_REST_S = 0.02
"""Maximum pause between two commits."""


class LedgerWriter:
    """A thread that stores records; it starts with the first `store` or `flush`, or when BULK records wait.

    All methods may be called from any thread. After a commit the thread sleeps for as long as the commit took, so that
    under load commits become larger rather than more frequent.
    """

    def __init__(self, engine: Engine, url: str) -> None:
        self._url = url
        self._rows = RecordWriter(engine)
        self._records: deque[Record] = deque()
        self._flushes: deque[Future[None]] = deque()
        self._wake = threading.Event()
        self._starting = threading.Lock()
        self._thread: threading.Thread | None = None
        self._closing = False

    def store(self, record: Record) -> asyncio.Future[Completion]:
        """Add a record. Return a future of the running event loop that is done when the record is stored."""
        record.stored = asyncio.get_running_loop().create_future()
        self._records.append(record)
        self._start()
        return record.stored

    def add(self, record: Record) -> None:
        """Add a record that nobody waits for.

        It is stored with the next record of `store`, at `flush` or `close`, or when BULK records wait.
        """
        self._records.append(record)
        if len(self._records) >= BULK:
            self._start()

    def flush(self) -> None:
        """Wait until all records are stored. Raises StoreBusy or StoreFailed if they cannot be stored yet."""
        if self._records or self._thread is not None:
            done: Future[None] = Future()
            self._flushes.append(done)
            self._start()
            done.result()

    def close(self) -> None:
        """Store all records and end the thread. A later record starts a new thread."""
        try:
            self.flush()
        finally:
            thread, self._thread = self._thread, None
            if thread is not None:
                self._closing = True
                self._wake.set()
                thread.join()
                self._closing = False

    def _start(self) -> None:
        if self._thread is None:
            with self._starting:
                if self._thread is None:
                    thread = threading.Thread(target=self._work, name="ledger writer", daemon=True)
                    thread.start()
                    self._thread = thread
        if not self._wake.is_set():
            self._wake.set()

    def _work(self) -> None:
        closing = False
        while not closing:
            self._wake.wait()
            self._wake.clear()
            closing = self._closing
            began = time.perf_counter()
            flushes = _drain(self._flushes)  # before the records that were added before them
            error = self._commit(_drain(self._records))
            for each in flushes:
                each.set_exception(error) if error is not None else each.set_result(None)
            time.sleep(min(time.perf_counter() - began, MAX_REST_S))

    def _commit(self, records: Sequence[Record]) -> Exception | None:
        """Store records in one transaction. Return the exception if it failed and no request waits for the records."""
        if not records:
            return None
        try:
            stored = self._rows.write(records)
        except DBAPIError as error:
            if not isinstance(error, DataError):
                return self._commit_later(records, error) if is_lost(error) else self._fail(records, error)
            failed: Exception = error
        except Exception as error:  # noqa: BLE001  (the waiting requests raise it)
            failed = error
        else:
            self._announce_stored(records, stored)
            return None
        if len(records) > 1:  # one of them cannot be stored: find it
            errors = [self._commit([record]) for record in records]
            return next((error for error in errors if error is not None), None)
        _announce(records, lambda future, _: future.set_exception(failed))
        return failed if records[0].stored is None else None

    def _commit_later(self, records: Sequence[Record], lost: DBAPIError) -> Exception | None:
        """Store records after a lost connection, which may have hidden that they are stored already."""
        for _ in pauses():
            try:
                earlier = self._rows.read_if_stored(records)
                stored = self._rows.write(records) if earlier is None else earlier
            except DBAPIError as error:
                if not is_lost(error):
                    return self._fail(records, error)
                lost = error
            else:
                self._announce_stored(records, stored)
                return None
        return self._fail(records, lost)

    def _announce_stored(
        self, records: Sequence[Record], stored: Mapping[str, Completion | DamagedRow]
    ) -> None:
        _announce(records, lambda future, key: _settle(future, stored[key]))

    def _fail(self, records: Sequence[Record], error: DBAPIError) -> Exception | None:
        return self._keep(records, store_error(error, self._url))

    def _keep(self, records: Sequence[Record], error: Exception) -> Exception | None:
        """Pass a database error to the waiting requests, and store the other records with the next commit."""
        _announce(records, lambda future, _: future.set_exception(error))
        kept = [record for record in records if record.stored is None]
        self._records.extendleft(reversed(kept))
        return error if kept else None


def _drain(queue: deque[T]) -> list[T]:
    drained = []
    with suppress(IndexError):
        while True:
            drained.append(queue.popleft())
    return drained


def _settle(future: asyncio.Future[Completion], stored: Completion | DamagedRow) -> None:
    if isinstance(stored, DamagedRow):
        future.set_exception(stored)
    else:
        future.set_result(stored)


def _announce(records: Sequence[Record], settle: Callable[[asyncio.Future[Completion], str], None]) -> None:
    """Set the results of the records' futures, with one thread-safe call per event loop."""
    waiting = defaultdict(list)
    for record in records:
        if record.stored is not None and record.completion is not None:
            waiting[record.stored.get_loop()].append((record.stored, record.completion.digest))

    def settle_all(futures: Sequence[tuple[asyncio.Future[Completion], str]]) -> None:
        for future, digest in futures:
            if not future.done():
                settle(future, digest)

    for loop, futures in waiting.items():
        with suppress(RuntimeError):  # the event loop is closed, so nothing waits
            loop.call_soon_threadsafe(settle_all, futures)
