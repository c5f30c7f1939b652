"""Fixtures of the command line's tests."""

from tests.memflow.cli.conftest import _alone

__all__ = ["_alone"]
