"""The largest parts of a forecast, for `memflow plan`: what they pay for, and how to reduce them."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memflow.benchmarks import registry
from memflow.benchmarks.costs import STAGES, CostPart

if TYPE_CHECKING:
    from memflow.run.dry_run import StepForecast
    from resources.settings.settings import Settings

LEAST_SHARE = 0.2
"""The share of a domain's requests or of its cost from which a stage is listed."""


@dataclass(frozen=True)
class LargePart:
    """A stage with a large share of a domain's requests, tokens or cost. Shares are between 0 and 1."""

    domain: str
    stage: str
    calls: int
    of_calls: int
    tokens: int
    of_tokens: int
    cost_share: float
    """The share of the cost; of the tokens if no model has a price."""
    largest_assistant: str
    """The assistant with most of the stage's tokens; empty if all assistants share the stage."""
    largest_share: float
    """The share of this assistant in the tokens of the stage."""
    purpose: str
    reduction: str

    def __str__(self) -> str:
        share = f"{self.tokens / self.of_tokens:.0%}" if self.of_tokens else "0%"
        most = (
            f" {self.largest_assistant} has {self.largest_share:.0%} of these tokens."
            if self.largest_assistant
            else ""
        )
        return (
            f"{self.domain}: {self.calls:,} of {self.of_calls:,} requests and {share} of {self.of_tokens:,} tokens are "
            f"in stage {self.stage}, {self.purpose}.{most} {self.reduction}"
        )


@dataclass
class _StageSum:
    calls: int = 0
    tokens: int = 0
    cost: float = 0.0


def large_parts(steps: Iterable["StepForecast"], settings: "Settings") -> list[LargePart]:
    """Return the stages of each domain with a large share of its requests or cost, the most expensive first."""
    by_domain: dict[str, list[StepForecast]] = {}
    for step in steps:
        by_domain.setdefault(step.domain, []).append(step)
    return [part for domain, each in by_domain.items() for part in _of_domain(domain, each, settings)]


def _of_domain(name: str, steps: list["StepForecast"], settings: "Settings") -> Iterator[LargePart]:
    domain = settings.domain(name)
    parts: Mapping[str, CostPart] = {**STAGES, **registry.benchmark(domain.benchmark).cost_parts(domain)}
    stages: dict[str, dict[str, _StageSum]] = {}
    for step in steps:
        found = stages.setdefault(step.stage, {}).setdefault(step.assistant, _StageSum())
        for count in step.counts:
            model = settings.model(count.model)
            found.calls += count.calls
            found.tokens += count.prompt_tokens + count.completion_tokens
            found.cost += count.prompt_tokens * model.price_in + count.completion_tokens * model.price_out
    sums = {stage: _sum(found.values()) for stage, found in stages.items()}
    total = _sum(sums.values())

    def share(of: _StageSum) -> float:
        if total.cost:
            return of.cost / total.cost
        return of.tokens / total.tokens if total.tokens else 0.0

    for stage, found in sorted(sums.items(), key=lambda each: -share(each[1])):
        if not total.calls or max(share(found), found.calls / total.calls) < LEAST_SHARE:
            continue
        tokens = {assistant: each.tokens for assistant, each in stages[stage].items() if assistant}
        largest = max(tokens, key=tokens.__getitem__, default="")
        if len(tokens) < 2 or not found.tokens:
            largest = ""
        yield LargePart(
            domain=name,
            stage=stage,
            calls=found.calls,
            of_calls=total.calls,
            tokens=found.tokens,
            of_tokens=total.tokens,
            cost_share=share(found),
            largest_assistant=largest,
            largest_share=tokens[largest] / found.tokens if largest else 0.0,
            purpose=parts[stage].purpose if stage in parts else "requests",
            reduction=parts[stage].reduction if stage in parts else "a smaller --limit",
        )


def _sum(sums: Iterable[_StageSum]) -> _StageSum:
    result = _StageSum()
    for each in sums:
        result.calls += each.calls
        result.tokens += each.tokens
        result.cost += each.cost
    return result
