"""The small sections of memflow.toml: budget, history, encoders."""

from pydantic import Field

from memflow.chat.budget import Budget
from memflow.resources.settings.values import NamedPath, StrictModel


class BudgetLimits(StrictModel):
    """The hard limits on calls, tokens and cost of each command and each Dagster run."""

    calls: int | None = Field(None, ge=1, description="Maximum number of requests.")
    tokens: int | None = Field(None, ge=1, description="Maximum number of prompt and answer tokens.")
    cost: float | None = Field(None, gt=0, description="Maximum cost, by the models' prices.")

    def with_cost(self, cost: float | None) -> "BudgetLimits":
        """Return limits with another cost, unless it is None; 0 is no limit."""
        return self if cost is None else self.model_copy(update={"cost": cost or None})

    def budget(self) -> Budget:
        """Return a budget with these limits, of which nothing is spent."""
        return Budget(self.calls, self.tokens, self.cost)


class History(StrictModel):
    """What `memflow doctor --clean` keeps of the rows that later runs replaced."""

    days: float = Field(
        30, ge=0, le=36_500, description="Remove rows that were replaced longer ago, in days."
    )
    gigabytes: float = Field(
        5, ge=0, le=1_000_000, description="Remove the oldest replaced rows beyond this size, in gigabytes."
    )


class Encoder(StrictModel):
    """The model of BERTScore for texts of one language: a local folder of transformers weights."""

    folder: NamedPath = Field(description="The folder of weights, such as roberta-base or bert-base-chinese.")
    name: str = Field(
        "", max_length=100, description="The name that scores show; the folder's name where empty."
    )
    layer: int | None = Field(
        None, ge=1, le=200, description="The layer; by default that of the bert-score package."
    )
