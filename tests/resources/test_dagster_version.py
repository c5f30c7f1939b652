"""A version of Dagster outside the range is refused in one sentence; pyproject.toml has the same range."""

import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest

from memflow.errors import MemflowError
from memflow.resources import dagster_version
from memflow.resources.dagster_version import BELOW, OLDEST, require_dagster

PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]


@pytest.mark.parametrize("installed", ["1.12.22", "1.14.0", "2.0.0rc1", "1.14"])
def test_version_outside_the_range_is_refused(installed: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dagster_version, "version", lambda name: installed)
    with pytest.raises(MemflowError, match=rf"^Dagster {installed} is .*at least {OLDEST} .*pip install"):
        require_dagster()


@pytest.mark.parametrize("installed", [OLDEST, "1.13.27", "1.13.99", version("dagster")])
def test_version_inside_the_range_is_accepted(installed: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dagster_version, "version", lambda name: installed)
    require_dagster()


def test_dependencies_state_the_same_range() -> None:
    stated = f">={OLDEST},<{BELOW}"
    assert {f"dagster{stated}", f"dagster-webserver{stated}"} <= set(PROJECT["dependencies"])
