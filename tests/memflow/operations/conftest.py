"""Fixtures of the command line's tests."""

from tests.memflow.cli.conftest import _alone, empty, measured, printed

__all__ = ["_alone", "empty", "measured", "printed"]
