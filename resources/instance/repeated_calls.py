"""Storages of Dagster in PostgreSQL that survive a restart of the server: their calls are repeated.

A call that began before the connection was lost may have had its effect, so only calls that may run twice are repeated.
postgres_event_log.py stores events and postgres_run_storage.py adds runs with a check of their own.
"""

import functools
import inspect
import threading
from collections.abc import Callable
from typing import Any, TypeVar

from resources.reconnect import repeat_if_lost

S = TypeVar("S", bound=type)

_calls = threading.local()
NOT_REPEATED = {
    "alembic_version",
    "config_schema",
    "config_type",
    "create_clean_storage",
    "dispose",
    "end_watch",
    "from_config_value",
    "inst_data",
    "migrate",
    "optimize",
    "optimize_for_webserver",
    "register_instance",
    "upgrade",
    "watch",
}
"""The methods that are not repeated: those without statements, and migrations."""


def repeat_calls(storage: S) -> S:
    """Repeat the public methods of a storage class after a lost connection, until the server is back."""
    for name, method in inspect.getmembers(storage, inspect.isfunction):
        generator = inspect.isgeneratorfunction(inspect.unwrap(method))
        if not name.startswith("_") and name not in NOT_REPEATED and not generator:
            setattr(storage, name, _repeated(method))
    return storage


def in_repeated_call() -> bool:
    """Return whether this thread is in a call that follows a lost connection, so that its effects may exist."""
    return getattr(_calls, "attempt", 0) > 1


def _repeated(method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def call(*arguments: Any, **named: Any) -> Any:
        if getattr(_calls, "attempt", 0):
            return method(*arguments, **named)  # the outer call is repeated
        attempts = 0

        def attempt() -> Any:
            nonlocal attempts
            attempts += 1
            _calls.attempt = attempts
            try:
                return method(*arguments, **named)
            finally:
                _calls.attempt = 0

        return repeat_if_lost(attempt)

    return call
