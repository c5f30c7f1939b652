"""The input of scoring: the verdicts of one assistant in one domain."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from memflow.records import Claim, Policy, Probe, Verdict
from memflow.scoring.groups import Group


@dataclass(frozen=True)
class AssistantResults:
    """One assistant's verdicts in one domain, and the verdicts of its lower and upper bound.

    `probes` are all probes that need a verdict. `oracle` (upper bound) and `none` (lower bound) have the verdicts of
    the memories of these names under the same chat model. Either is empty if that memory was not run.
    """

    domain: str
    assistant: str
    memory: str
    model: str
    probes: Sequence[Probe]
    verdicts: Sequence[Verdict]
    oracle: Sequence[Verdict]
    none: Sequence[Verdict]
    simulator: str
    scripted: bool
    claims: Sequence[Claim] = ()
    """The judged claims about the assistant's memory; empty where there are none."""
    scripted_judge: bool = False
    policies: Sequence[Policy] = ()
    """The steps of its evolution, where it evolves."""
    groups: Sequence[Group] = ()
    """Its verdicts in groups, for a benchmark that aggregates in SQL; the rows are then empty."""
    population: Any = None
    """What `Benchmark.population` returns for its domain and chat model."""
