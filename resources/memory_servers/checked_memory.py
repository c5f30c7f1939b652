"""What the checks of a conversation need of a memory: a memory server or a memory in Python, with what it declares."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from memflow.memories.design import Design
from memflow.memories.server.protocol import SentMessage, WireItem


class CheckedSpace(Protocol):
    """A memory of one episode."""

    async def write(self, messages: Sequence[SentMessage]) -> None:
        """Write messages together. Raises CheckFailed with the reason of a failed write."""
        ...

    async def read(self, query: str, k: int, as_of: int | None = None) -> Sequence[WireItem]:
        """Return the items of a read, best first; with `as_of`, as of the write with this number."""
        ...

    async def stored(self) -> Sequence[WireItem] | None:
        """Return everything that the memory contains, or None if it cannot say so."""
        ...


@dataclass(frozen=True)
class CheckedMemory:
    """A memory and its declarations. `open_space` creates an empty space with a name."""

    open_space: Callable[[str], Awaitable[CheckedSpace]]
    design: Design
    sources: Literal["none", "write", "message"] = "none"
    dates: bool = False
    ranked: bool = True
    batch: Literal["message", "pair", "session", "any"] = "any"
    has_k: bool = True
    """Whether a read returns as many items as it is asked for."""
    time_travel: bool = False
    deterministic: bool = False
    uses_models: bool = False
    one_space: bool = False
    """Whether no second space can exist."""
