"""The declared design of a memory: deviations from storing every message and answering every read that are no fault.

A memory declares its design (`Memory.design`), a memory server in its answer to `hello` (`Capabilities.design`). Health
checks (memflow/scoring/health) report a deviation only if it is not declared.
"""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

Role = Literal["user", "assistant"]


class Design(BaseModel):
    """The declared design of a memory. By default, it stores every message and answers every read."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    window: Annotated[int, Field(ge=1)] | None = None
    """It keeps only this many newest messages."""
    roles: tuple[Role, ...] = ("user", "assistant")
    """The roles whose messages it stores."""
    max_items: Annotated[int, Field(ge=1)] | None = None
    """It returns at most this many items, whatever `k` a read asks for."""
    merges: bool = False
    """It summarizes, selects or merges messages: entries need not grow with messages, and texts are its own."""
    threshold: bool = False
    """A read returns only items that are similar enough to the query, and may return none."""
