"""Open the budget of a command or a Dagster run: its own, or one that processes share by name."""

from collections.abc import Iterator
from contextlib import closing, contextmanager

from pydantic import ValidationError

from memflow.errors import BadInput, BadSettings
from resources.endpoints.limits import Budget
from resources.settings.sections import BudgetLimits
from resources.shared_limits.budget import SharedBudget
from resources.shared_limits.store import LimitStore


def limits_with(
    limits: BudgetLimits,
    *,
    name: str | None = None,
    calls: int | None = None,
    tokens: int | None = None,
    cost: float | None = None,
) -> BudgetLimits:
    """Return limits with other values where an option is given; 0 is no limit. Raises BadInput for a wrong name."""
    options = {"calls": calls, "tokens": tokens, "cost": cost}
    given = {option: value or None for option, value in options.items() if value is not None}
    try:
        return BudgetLimits(**{**limits.model_dump(), **given, "name": limits.name if name is None else name})
    except ValidationError as wrong:
        raise BadInput(
            f"the budget name {name!r} is invalid. Use at most 100 letters, digits, underscores, dots and hyphens."
        ) from wrong


@contextmanager
def open_budget(limits: BudgetLimits, ledger_url: str) -> Iterator[Budget]:
    """Yield the budget with these limits. Raises BadSettings if a shared budget has no limit."""
    amounts = {"calls": limits.calls, "tokens": limits.tokens, "cost": limits.cost}
    if not limits.name:
        yield Budget(**amounts)  # type: ignore[arg-type]
        return
    if set(amounts.values()) == {None}:
        raise BadSettings(
            f"the budget {limits.name} has no limit. Set `calls`, `tokens` or `cost` in [budget] of memflow.toml, "
            "or use --budget, --budget-calls or --budget-tokens."
        )
    with (
        closing(LimitStore(ledger_url)) as store,
        closing(SharedBudget(limits.name, store, **amounts)) as budget,  # type: ignore[arg-type]
    ):
        yield budget
