"""What the tests of memories share: messages to say, and giving them as the player does."""

from collections.abc import Sequence
from typing import Any

import pytest

from memflow.memories.memory import Memory, Message
from memflow.memories.system import System


def case(system: System, value: Any = None) -> Any:
    """A system (or `value`) as a case of a test, skipped where a package that it needs is not there."""
    skip = pytest.mark.skipif(bool(system.lacks), reason=f"{system.name} needs {system.lacks}")
    return pytest.param(value or system, marks=skip, id=system.name)


def said(*texts: str, first: int = 0, sent_at: str | None = None) -> list[Message]:
    """A user's messages, with the ids m<first>, m<first + 1>, ..."""
    return [Message(f"m{first + at}", "user", text, sent_at=sent_at) for at, text in enumerate(texts)]


async def give(memory: Memory, messages: Sequence[Message]) -> None:
    """Messages that arrive together and want no reply."""
    memory.store.advance(len(messages))
    await memory.write(messages)
