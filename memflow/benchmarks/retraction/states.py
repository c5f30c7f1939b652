"""The state tables of the users: a variable is a fact, and a change is a value that is told, taken back or replaced."""

from collections.abc import Iterator, Sequence

from memflow.benchmarks.api import States
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.retraction.plans import TOLD, Fact, Plan, make_plans
from memflow.benchmarks.retraction.turns import checkpoint_end
from memflow.records import Change, Profile, Record, Variable

UNKNOWN = "(not known)"
"""The value of a fact that was never told, or that was taken back."""


def make_states(domain: Domain, records: Sequence[Record]) -> States:
    """Return the users, their facts, and the values of each fact."""
    states = States()
    for plan in make_plans(domain, records):
        states.profiles.append(
            Profile(
                domain=domain.name,
                user_id=plan.user_id,
                name=plan.name,
                profile=f"{plan.name} ({plan.words.language})",
                start_date=f"{checkpoint_end(TOLD):%Y-%m-%d}",
            )
        )
        for fact in plan.facts:
            choices = [*plan.words.facts[fact.name].values, UNKNOWN]
            states.variables.append(
                Variable(
                    domain=domain.name,
                    user_id=plan.user_id,
                    variable=fact.key,
                    choices=choices,
                    questions=[f"{plan.user_id}/{fact.key}"],
                )
            )
            states.changes.extend(_changes(domain.name, plan, fact))
    return states


def _changes(domain: str, plan: Plan, fact: Fact) -> Iterator[Change]:
    old: str | None = None
    for checkpoint in range(plan.checkpoints):
        value = fact.value_at(checkpoint) or UNKNOWN
        if value != old:
            yield Change(
                domain=domain,
                user_id=plan.user_id,
                period=checkpoint,
                period_end=f"{checkpoint_end(checkpoint):%Y-%m-%d}",
                variable=fact.key,
                old=old,
                value=value,
                event=None if checkpoint == TOLD else fact.fate,
            )
        old = value
