"""The base class of scorers, and their shared types and functions.

All replies are first scored without a judge; then all judge requests are sent at once. A judge answer that fails or
cannot be parsed yields a null value with a reason.
"""

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from memflow.benchmarks.verdicts import NO_JUDGE, MetricValue
from memflow.chat.asking import Answer, ask
from memflow.chat.prompts import load
from memflow.errors import BadInput
from memflow.metrics.backends import MetricBackends
from memflow.records import Probe
from memflow.scoring.judges import STANDARD

PACKAGE = "memflow.benchmarks.memorybench.scorers"
PUBLISHED = "published_code"

MetricKey = tuple[str, str]
"""Metric and variant."""


@dataclass(frozen=True, slots=True)
class ScoringContext:
    """The metric backends, whether `published_code` is requested, and the seed."""

    backends: MetricBackends = field(default_factory=MetricBackends)
    published: bool = False
    seed: int = 0


@dataclass(frozen=True, slots=True)
class AnsweredProbe:
    """A probe and its answer. `place` is the number of the probe among the probes of its task at its checkpoint."""

    probe: Probe
    answer: str
    place: int = 0

    def gold(self, part: str) -> Any:
        """Return a field of the gold, which is a JSON object. Raises BadInput if the field is missing."""
        probe = self.probe
        try:
            return json.loads(probe.gold)[part]
        except (ValueError, KeyError, TypeError) as error:
            raise BadInput(
                f"probe {probe.probe_id}: its gold lacks {part!r}, which the metric {probe.metric} needs. "
                f"Rebuild the partition {probe.dataset} of raw/records."
            ) from error


@dataclass(frozen=True, slots=True)
class ComputedValues:
    """Values computed without a judge. `shown` is the part of the answer that the judge sees; None for all."""

    values: Sequence[MetricValue] = ()
    shown: str = ""


class Scorer(ABC):
    """The base class of scorers, which computes no value and calls no judge by default."""

    stems: tuple[str, ...] = ()
    """The judge's prompts."""
    published_stems: tuple[str, ...] = ()
    """Its further prompts for the variant `published_code`."""
    judged: frozenset[str] = frozenset()
    """The metrics whose values a judge decides, also where some answers need none."""
    backends: frozenset[str] = frozenset()
    """The metric backends that are used besides a judge."""

    def missing(self, context: ScoringContext) -> list[str]:
        """Return the measures that the variant `standard` of judged metrics lacks for want of a backend."""
        return []

    @abstractmethod
    def metric_keys(self, probe: Probe, context: ScoringContext) -> list[MetricKey]:
        """Return the metrics and variants that the scorer computes for a probe. The probe's own metric is first."""

    async def compute(self, answered: AnsweredProbe, context: ScoringContext) -> ComputedValues:
        """Return the metric values that are computed without a judge."""
        return ComputedValues()

    async def judge(
        self, answered: AnsweredProbe, context: ScoringContext, computed: ComputedValues
    ) -> Sequence[MetricValue]:
        """Return the metric values that need a judge. `computed` has the values from `compute`."""
        return []

    def required_backends(self, metric: str) -> frozenset[str]:
        """Return the metric backends used in addition to the judge. `metric` is the metric of the task."""
        return self.backends


async def ask_judge(
    context: ScoringContext,
    stem: str,
    fields: Mapping[str, Any],
    check: Callable[[Any], str | None] | None = None,
) -> Answer[Any]:
    """Return the judge's answer to the prompt `stem`. Without a judge, return no answer but a reason."""
    if context.backends.judge is None:
        return Answer(None, NO_JUDGE)
    return await ask(context.backends.judge, load(PACKAGE, stem), fields, check=check)


def judged_value(
    metric: str, answer: Answer[Any], read: Callable[[Any], float], variant: str = STANDARD
) -> MetricValue:
    """Return the value that `read` extracts from the judge's answer, or no value but a reason."""
    value = None if answer.value is None else float(read(answer.value))
    return MetricValue(metric, value, answer.reason, variant, answer.digest)


def variant_name(base: str, missing: Sequence[str]) -> str:
    """Return the name of a score variant, such as `without_bertscore` if the backend BERTScore is missing."""
    if not missing:
        return base
    without = f"without_{'_'.join(missing)}"
    return without if base == STANDARD else f"{base}_{without}"


def in_order(
    values: Iterable[MetricValue], keys: Sequence[MetricKey], missing: Sequence[str]
) -> list[MetricValue]:
    """Return the values in the order of `keys`. One that was not computed, as backends are missing, has a reason."""
    by_key = {value.key: value for value in values}
    reason = f"there is no {' and no '.join(missing)}; see the variant {variant_name(STANDARD, missing)}"
    return [by_key.get(key) or MetricValue(key[0], None, reason, key[1]) for key in keys]


def wanted_variants(context: ScoringContext) -> list[str]:
    """Return the requested variants of a metric that has an error in the published code."""
    return [STANDARD, PUBLISHED] if context.published else [STANDARD]


_FENCED = re.compile(r"```(?:json)?\s*(.*?)```", re.DOTALL)


def parse_list_reply(answer: str, name: str) -> list[str]:
    """Return the texts of the list `name` in a reply's JSON object; empty without such a list."""
    fenced = _FENCED.search(answer)
    text = fenced[1] if fenced else answer
    try:
        given = json.loads(text[text.find("{") : text.rfind("}") + 1], strict=False)[name]
    except (ValueError, KeyError, TypeError):
        return []
    items = given if isinstance(given, list) else []
    parts = [item.values() if isinstance(item, dict) else [item] for item in items]
    return [" ".join(str(part).strip() for part in each) for each in parts]
