"""The home of the tests of the report."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from report_home import ReportHome, written_home


@pytest.fixture
def home(tmp_path: Path) -> Iterator[ReportHome]:
    """Return a home with results, below tmp_path."""
    with written_home(tmp_path / "home") as home:
        yield home
