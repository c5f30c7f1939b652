"""What a metric is: a module of this folder that makes marks of a reply.

What can be computed is computed first, for every reply; then the judge is asked about all of them at once. A judge that
fails or cannot be understood leaves a mark without a value: never a default, never a 0.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from memflow.chat.asking import Answer, ask
from memflow.chat.prompts import load
from memflow.errors import BadInput
from memflow.metrics.backends import MetricBackends
from memflow.records import Probe

PACKAGE = "memflow.benchmarks.memorybench.scorers"
STANDARD = "standard"
PUBLISHED = "published_code"
NO_JUDGE = "there is no judge to ask; name its model under `roles` in memflow.toml"

MetricKey = tuple[str, str]
"""A metric and its variant."""


@dataclass(frozen=True, slots=True)
class MetricValue:
    """What a metric says of a reply: a value, or None and why there is none."""

    metric: str
    value: float | None
    reason: str | None = None
    variant: str = STANDARD
    completion: str | None = None
    """The ledger's digest of the judge's completion, where it was one that judged."""

    @property
    def key(self) -> MetricKey:
        return self.metric, self.variant


@dataclass(frozen=True, slots=True)
class ScoringContext:
    """What there is to measure with, and whether the published slips are wanted beside the standard."""

    instruments: MetricBackends = field(default_factory=MetricBackends)
    published: bool = False
    seed: int = 0


@dataclass(frozen=True, slots=True)
class AnsweredProbe:
    """A probe and the answer to it. `place` counts the probes of its task at its checkpoint."""

    probe: Probe
    answer: str
    place: int = 0

    def gold(self, part: str) -> Any:
        """A part of a gold that has parts. Raises BadInput where it is not there."""
        return gold_part(self.probe, part)


@dataclass(frozen=True, slots=True)
class ComputedValues:
    """The marks for which nobody is asked. `shown` is what of the answer the judge is shown, where not all of it."""

    values: Sequence[MetricValue] = ()
    shown: str = ""


class Scorer(Protocol):
    """A module of this folder."""

    def metric_keys(self, probe: Probe, context: ScoringContext) -> list[MetricKey]:
        """The metric and variant of every mark that it gives, whatever the answer is; the probe's own first."""
        ...

    async def compute(self, answered: AnsweredProbe, context: ScoringContext) -> ComputedValues:
        """What needs no judge."""
        ...

    async def judge(
        self, answered: AnsweredProbe, context: ScoringContext, computed: ComputedValues
    ) -> Sequence[MetricValue]:
        """The marks for which the judge is asked, given what was computed."""
        ...

    def prompts(self, published: bool) -> list[str]:
        """The stems of the prompts that the judge may be asked with."""
        ...

    def required_backends(self, metric: str) -> frozenset[str]:
        """The instruments that its measures use besides a judge; `metric` is the task's."""
        ...


def gold_part(probe: Probe, part: str) -> Any:
    """A part of a gold that has parts. Raises BadInput where it is not there."""
    try:
        return json.loads(probe.gold)[part]
    except (ValueError, KeyError, TypeError) as wrong:
        raise BadInput(
            f"probe {probe.probe_id}: its gold has no {part!r}, which {probe.metric} needs; read {probe.dataset} again"
        ) from wrong


async def ask_judge(
    context: ScoringContext,
    stem: str,
    fields: Mapping[str, Any],
    check: Callable[[Any], str | None] | None = None,
) -> Answer[Any]:
    """The judge's answer to the prompt `stem` of this folder; without a judge none, with its reason."""
    if context.instruments.judge is None:
        return Answer(None, NO_JUDGE)
    return await ask(context.instruments.judge, load(PACKAGE, stem), fields, check=check)


def judged_value(
    metric: str, answer: Answer[Any], read: Callable[[Any], float], variant: str = STANDARD
) -> MetricValue:
    """The mark that `read` finds in the judge's answer, or none with the answer's reason."""
    value = None if answer.value is None else float(read(answer.value))
    return MetricValue(metric, value, answer.reason, variant, completion_digest(answer))


def completion_digest(answer: Answer[Any]) -> str | None:
    """The ledger's digest of the last completion, where one is kept."""
    return (answer.completion.digest or None) if answer.completion else None


def wanted_variants(context: ScoringContext) -> list[str]:
    """The variants that are wanted of a metric with a published slip."""
    return [STANDARD, PUBLISHED] if context.published else [STANDARD]


_FENCED = re.compile(r"```(?:json)?\s*(.*?)```", re.DOTALL)


def parse_list_reply(answer: str, name: str) -> list[str]:
    """The texts of the list `name` in the reply's JSON object; none where there is no such thing."""
    fenced = _FENCED.search(answer)
    text = fenced[1] if fenced else answer
    try:
        given = json.loads(text[text.find("{") : text.rfind("}") + 1], strict=False)[name]
    except (ValueError, KeyError, TypeError):
        return []
    return [_told(one) for one in given] if isinstance(given, list) else []


def _told(one: Any) -> str:
    parts = one.values() if isinstance(one, dict) else [one]
    return " ".join(str(part).strip() for part in parts)
