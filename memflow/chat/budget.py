"""The hard budget of a run: calls, tokens and cost."""

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from memflow.errors import BudgetSpent


@dataclass(frozen=True)
class Prices:
    """Prices per million tokens, in any currency. Without a price of cached prompt tokens, they cost as the others."""

    prompt: float = 0.0
    completion: float = 0.0
    cached: float | None = None

    def cost(self, prompt_tokens: float, completion_tokens: float, cached_tokens: float = 0) -> float:
        """Return the cost of tokens. `cached_tokens` are the prompt tokens that a server read from its cache."""
        saved = 0.0 if self.cached is None else cached_tokens * (self.prompt - self.cached)
        return (prompt_tokens * self.prompt + completion_tokens * self.completion - saved) / 1e6


@dataclass(frozen=True)
class Spending:
    """The spending of a run or a request: calls, tokens (of prompts and answers) and cost."""

    calls: float = 0
    tokens: float = 0
    cost: float = 0

    def __add__(self, other: "Spending") -> "Spending":
        return Spending(self.calls + other.calls, self.tokens + other.tokens, self.cost + other.cost)

    def __sub__(self, other: "Spending") -> "Spending":
        return Spending(self.calls - other.calls, self.tokens - other.tokens, self.cost - other.cost)


@dataclass
class Budget:
    """The spending limits of a run; None means no limit. Threads and event loops may share it.

    A request is admitted only if its maximum spending fits. If running requests reserve too much of the budget, the
    request waits until their actual spending is known.
    """

    calls: int | None = None
    tokens: int | None = None
    cost: float | None = None
    spent: Spending = field(default_factory=Spending)
    _reserved: Spending = field(default_factory=Spending, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    @asynccontextmanager
    async def admit(self, maximum: Spending) -> AsyncIterator[list[Spending]]:
        """Admit a request that spends at most `maximum`. Yield a list, to which the caller appends the actual spending.

        If the caller appends nothing, the request counts as one call. Raises BudgetSpent if the budget does not
        suffice.
        """
        while not self.reserve(maximum):  # noqa: ASYNC110 (running requests may be in other event loops)
            await asyncio.sleep(0.01)
        spending: list[Spending] = []
        try:
            yield spending
        finally:
            self.settle(maximum, spending[0] if spending else Spending(calls=maximum.calls))

    def reserve(self, maximum: Spending) -> bool:
        """Reserve spending. Return False if running requests reserve too much. Raises BudgetSpent."""
        with self._lock:
            self._require_rest(self.spent + maximum)
            fits = not self._exceeded_limit(self.spent + self._reserved + maximum)
            if fits:
                self._reserved += maximum
            return fits

    def settle(self, reserved: Spending, spent: Spending) -> None:
        """Replace a reservation by the actual spending."""
        with self._lock:
            self._reserved -= reserved
            self.spent += spent

    def _require_rest(self, spending: Spending) -> None:
        """Raise BudgetSpent if a total spending exceeds a limit."""
        exceeded_limit = self._exceeded_limit(spending)
        if exceeded_limit:
            raise BudgetSpent(
                f"the budget of {exceeded_limit} is used up, so no more requests are sent. Raise the budget, then "
                "rerun."
            )

    def _exceeded_limit(self, spending: Spending) -> str:
        """Return the first limit that a total spending exceeds, as text; "" if it exceeds none."""
        if self.calls is not None and spending.calls > self.calls:
            return f"{self.calls} calls"
        if self.tokens is not None and spending.tokens > self.tokens:
            return f"{self.tokens} tokens"
        if self.cost is not None and spending.cost > self.cost:
            return f"{self.cost:g} (cost)"
        return ""
