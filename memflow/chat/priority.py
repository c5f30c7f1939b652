"""The priority of a request: the number of later requests that depend on the request.

If requests wait for a server, those of the longest chains are sent first, because the longest chain determines when a
run ends.
"""

from contextvars import ContextVar

REMAINING: ContextVar[int] = ContextVar("remaining", default=0)
"""The number of events that an episode plays after the current request; 0 for a request that nothing waits for."""
