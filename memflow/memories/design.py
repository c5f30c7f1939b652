"""What a memory does by design: the deviations from "keeps everything, returns what was asked" that are no fault.

A memory declares its design (`Memory.design`), a memory server in its answer to `hello` (`Capabilities.design`). Health
checks (memflow/scoring/health) do not raise an alarm for what is declared, and do for the same behavior undeclared.
"""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

Role = Literal["user", "assistant"]


class Design(BaseModel):
    """The declared design of a memory. The defaults declare nothing: every message is kept, every read is answered."""

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
