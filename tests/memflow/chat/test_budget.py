"""Budgets of calls, tokens and cost."""

import asyncio

import pytest

from memflow.chat.budget import Budget, Prices, Spending
from memflow.errors import BudgetSpent


@pytest.mark.parametrize(
    ("budget", "most", "used", "requests", "admitted"),
    [
        (Budget(calls=5), Spending(calls=1), Spending(1, 10), 20, 5),
        # 20 + 20 + 20 leave too little for one that may take 60.
        (Budget(tokens=100), Spending(1, 60), Spending(1, 20), 5, 3),
    ],
)
async def test_budget_admits_requests_that_fit_and_waits_for_running_requests(
    budget: Budget, most: Spending, used: Spending, requests: int, admitted: int
) -> None:
    async def one() -> None:
        async with budget.admit(most) as spent:
            await asyncio.sleep(0.001)
            spent.append(used)

    results = await asyncio.gather(*(one() for _ in range(requests)), return_exceptions=True)
    assert sum(isinstance(result, BudgetSpent) for result in results) == requests - admitted
    assert budget.spent == Spending(admitted, admitted * used.tokens, 0)


async def test_spent_cost_budget_rejects_further_requests() -> None:
    budget = Budget(cost=1.0)
    most = Spending(1, 0, Prices(prompt=2.0, completion=8.0).cost(100_000, 100_000))
    async with budget.admit(most) as took:
        took.append(most)
    with pytest.raises(BudgetSpent, match="Raise the budget"):
        async with budget.admit(most):
            raise AssertionError("it was let through")
