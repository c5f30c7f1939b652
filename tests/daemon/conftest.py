"""`memflow dev` for tests that start it with settings of their own."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from served import Served, served


@pytest.fixture
def memflow_dev() -> Iterator[Callable[[Path], Served]]:
    """Return a function that starts `memflow dev` with a settings file. It ends with the test."""
    with ExitStack() as stack:
        yield lambda settings: stack.enter_context(served(settings))
