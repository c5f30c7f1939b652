"""The embedded database of the fake."""

from graphiti_core import AsyncFalkorDB

__all__ = ["AsyncFalkorDB"]
