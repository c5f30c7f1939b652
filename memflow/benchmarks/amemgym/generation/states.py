"""One user and their structured states, made by the simulator (paper, section 3.1).

Made in this order: the profile, where the persona is not one already; questions with the state variables that they
need (schema.py); the initial state; then period by period the values that change and the life events that bring the
changes. A user for whom one of these fails is a profile with its reason, and has no variables.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from memflow.benchmarks.amemgym.answers import (
    Groups,
    Portrait,
    Updates,
    Values,
    groups_of,
    updates_of,
    values_of,
)
from memflow.benchmarks.amemgym.config import Sizes
from memflow.benchmarks.amemgym.generation.personas import Persona
from memflow.benchmarks.amemgym.generation.schema import Schema, make_schema
from memflow.benchmarks.amemgym.generation.simulator import Asker, GivenUp
from memflow.benchmarks.amemgym.wording import written
from memflow.benchmarks.api import States
from memflow.benchmarks.domains import Domain
from memflow.chat.requests import Chat
from memflow.records import Change, Profile, Variable


async def make_user(domain: Domain, sizes: Sizes, persona: Persona, simulator: Chat) -> States:
    """The states of one user; where a stage fails, a profile with its reason alone."""
    asked = Asker(simulator, sizes.language)
    profile = Profile(
        domain=domain.name,
        user_id=persona.id,
        name=persona.name or persona.id,
        profile=persona.profile(),
        start_date=sizes.start_date.isoformat(),
    )
    try:
        if persona.name is None or persona.about is None:
            persona = await _portrayed(persona, asked)
            profile = replace(profile, name=persona.name or persona.id, profile=persona.profile())
        return await _Maker(domain, sizes, profile, asked).make()
    except GivenUp as wrong:
        return States([replace(profile, reason=str(wrong))], [], [])


async def _portrayed(persona: Persona, asked: Asker) -> Persona:
    """The persona with a name and, in place of what is told at length, a summary. A name that is given stays."""
    fields = {"basics": persona.basics(), "told": persona.told()}
    portrait: Portrait = await asked("portrait", Portrait, fields)
    return persona.model_copy(update={"name": persona.name or portrait.name, "about": portrait.about})


@dataclass
class _Maker:
    domain: Domain
    sizes: Sizes
    profile: Profile
    asked: Asker

    async def make(self) -> States:
        """Questions, initial state, and each period's changes with their events."""
        made = await make_schema(self.sizes, self.profile.profile, self.profile.start_date, self.asked)
        state = await self._initial_state(made.choices)
        changes = [self._change(0, name, None, value) for name, value in state.items()]
        for period in range(1, self.sizes.periods):
            updates = await self._updates(period, made.choices, state, changes)
            values = updates.values()
            events = await self._events(period, state, updates)
            changes += [
                self._change(period, name, state[name], value, events[name], updates.summary)
                for name, value in values.items()
            ]
            state = state | values
        return States([self.profile], self._variables(made), changes)

    def _variables(self, made: Schema) -> list[Variable]:
        return [
            Variable(
                domain=self.domain.name,
                user_id=self.profile.user_id,
                variable=name,
                choices=values,
                questions=[question for question, needed in made.questions.items() if name in needed],
            )
            for name, values in made.choices.items()
        ]

    async def _initial_state(self, schema: Mapping[str, list[str]]) -> dict[str, str]:
        fields = {
            "profile": self.profile.profile,
            "date": self.profile.start_date,
            "months": (self.sizes.periods - 1) * self.sizes.months_per_period,
            "schema": written(schema),
        }
        values: Values = await self.asked("initial_state", values_of(schema), fields)
        return values.chosen()

    async def _updates(
        self,
        period: int,
        schema: Mapping[str, list[str]],
        state: Mapping[str, str],
        changes: Sequence[Change],
    ) -> Updates:
        wanted = min(self.sizes.changes_per_period, len(schema))
        moved = [change.variable for change in changes if change.period > 0]
        open_ = [name for name in schema if moved.count(name) < self.sizes.max_changes_per_variable]
        # The limit is soft, as in the published data: a period without changes would be worse.
        movable = open_ if len(open_) >= wanted else list(schema)
        others = {name: [value for value in schema[name] if value != state[name]] for name in movable}

        updates: Updates = await self.asked(
            "updates",
            updates_of(others, max(1, wanted - 1), min(wanted + 1, len(others))),
            {
                "profile": self.profile.profile,
                "start": self.sizes.period_end(period - 1).isoformat(),
                "end": self.sizes.period_end(period).isoformat(),
                "earlier": _earlier(changes),
                "state": written(state),
                "schema": written(others),
                "changes": wanted,
            },
            Updates.fault,
        )
        return updates

    async def _events(self, period: int, state: Mapping[str, str], updates: Updates) -> dict[str, str]:
        values = updates.values()
        groups: Groups = await self.asked(
            "events",
            groups_of(tuple(values)),
            {
                "profile": self.profile.profile,
                "start": self.sizes.period_end(period - 1).isoformat(),
                "end": self.sizes.period_end(period).isoformat(),
                "summary": updates.summary,
                "changes": written({name: {"from": state[name], "to": to} for name, to in values.items()}),
                "unchanged": written({name: value for name, value in state.items() if name not in values}),
            },
            lambda groups: groups.fault(values),
        )
        return {name: group.text for group in groups.groups for name in group.variables}

    def _change(
        self,
        period: int,
        name: str,
        old: str | None,
        value: str,
        event: str | None = None,
        summary: str | None = None,
    ) -> Change:
        return Change(
            domain=self.domain.name,
            user_id=self.profile.user_id,
            period=period,
            period_end=self.sizes.period_end(period).isoformat(),
            variable=name,
            old=old,
            value=value,
            event=event,
            summary=summary,
        )


def _earlier(changes: Sequence[Change]) -> str:
    """What changed in the periods so far, by the day a period ended: `variable: old -> new`."""
    found: dict[str, list[str]] = {}
    for change in changes:
        if change.period > 0:
            moves = found.setdefault(change.period_end, [])
            moves.append(f"{change.variable}: {change.old} -> {change.value}")
    return written(found)
