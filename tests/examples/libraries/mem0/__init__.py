"""A fake of mem0ai 2.x: the calls that the adapter uses, with the documented results. Models are requested as there."""

from mem0.memory.main import Memory

__all__ = ["Memory"]
