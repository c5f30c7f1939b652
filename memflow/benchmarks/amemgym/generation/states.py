"""Generation of one user and the user's structured states (paper, section 3.1).

The order is the profile, the questions and the state schema (schema.py), and the initial state. Then the changes and
their life events follow, period by period.
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
from memflow.benchmarks.amemgym.config import AMemGymConfig
from memflow.benchmarks.amemgym.generation.personas import Persona
from memflow.benchmarks.amemgym.generation.schema import (
    GenerationFailed,
    StateSchema,
    UserSimulator,
    generate_schema,
)
from memflow.benchmarks.amemgym.wording import written
from memflow.benchmarks.api import States
from memflow.benchmarks.domains import Domain
from memflow.chat.requests import Chat
from memflow.records import Change, Profile, Variable


async def generate_user(domain: Domain, config: AMemGymConfig, persona: Persona, chat: Chat) -> States:
    """Return the states of one user. If a step fails, return only the profile with the reason."""
    simulator = UserSimulator(chat, config.language)
    profile = Profile(
        domain=domain.name,
        user_id=persona.id,
        name=persona.name or persona.id,
        profile=persona.profile(),
        start_date=config.start_date.isoformat(),
    )
    try:
        if persona.name is None or persona.about is None:
            persona = await _summarize_persona(persona, simulator)
            profile = replace(profile, name=persona.name or persona.id, profile=persona.profile())
        return await _UserGenerator(domain, config, profile, simulator).make()
    except GenerationFailed as wrong:
        return States([replace(profile, reason=str(wrong))], [], [])


async def _summarize_persona(persona: Persona, simulator: UserSimulator) -> Persona:
    """Return the persona with a summary of its prose as `about`, and with a name if it has none."""
    fields = {"basics": persona.basics(), "told": persona.prose()}
    portrait: Portrait = await simulator("portrait", Portrait, fields)
    return persona.model_copy(update={"name": persona.name or portrait.name, "about": portrait.about})


@dataclass
class _UserGenerator:
    domain: Domain
    config: AMemGymConfig
    profile: Profile
    simulator: UserSimulator

    async def make(self) -> States:
        """Generate the questions, the initial state, and the changes of each period with their life events."""
        made = await generate_schema(
            self.config, self.profile.profile, self.profile.start_date, self.simulator
        )
        state = await self._initial_state(made.choices)
        changes = [self._change(0, name, None, value) for name, value in state.items()]
        for period in range(1, self.config.periods):
            updates = await self._updates(period, made.choices, state, changes)
            values = updates.values()
            events = await self._events(period, made.choices, state, updates)
            changes += [
                self._change(period, name, state[name], value, event=events[name], summary=updates.summary)
                for name, value in values.items()
            ]
            state = state | values
        return States([self.profile], self._variables(made), changes)

    def _variables(self, made: StateSchema) -> list[Variable]:
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
            "months": (self.config.periods - 1) * self.config.months_per_period,
            "schema": written(schema),
        }
        values: Values = await self.simulator("initial_state", values_of(schema), fields)
        return values.chosen()

    async def _updates(
        self,
        period: int,
        schema: Mapping[str, list[str]],
        state: Mapping[str, str],
        changes: Sequence[Change],
    ) -> Updates:
        wanted = min(self.config.changes_per_period, len(schema))
        moved = [change.variable for change in changes if change.period > 0]
        limit = self.config.max_changes_per_variable
        movable = [name for name in schema if moved.count(name) < limit]
        # A period needs changes, so even an enforced limit is soft.
        if self.config.change_limit == "advised" or len(movable) < wanted:
            movable = list(schema)
        others = {name: [value for value in schema[name] if value != state[name]] for name in movable}

        updates: Updates = await self.simulator(
            "updates",
            updates_of(others, max(1, wanted - 1), min(wanted + 1, len(others))),
            {
                "profile": self.profile.profile,
                "origin": self.profile.start_date,
                "step": period,
                "steps": self.config.periods - 1,
                "left": self.config.periods - 1 - period,
                "start": self.config.period_end(period - 1).isoformat(),
                "end": self.config.period_end(period).isoformat(),
                "earlier": _earlier(changes),
                "counts": written({name: moved.count(name) for name in schema}),
                "limit": limit,
                "state": written(state),
                "schema": written(others),
                "changes": wanted,
            },
            Updates.fault,
        )
        return updates

    async def _events(
        self, period: int, schema: Mapping[str, list[str]], state: Mapping[str, str], updates: Updates
    ) -> dict[str, str]:
        values = updates.values()
        changes = {
            name: {"from": state[name], "to": to, "possible_values": schema[name]}
            for name, to in values.items()
        }
        groups: Groups = await self.simulator(
            "events",
            groups_of(tuple(values)),
            {
                "profile": self.profile.profile,
                "start": self.config.period_end(period - 1).isoformat(),
                "end": self.config.period_end(period).isoformat(),
                "summary": updates.summary,
                "changes": written(changes),
                "unchanged": written({name: value for name, value in state.items() if name not in values}),
            },
            lambda groups: groups.fault(values),
        )
        return {name: group.text for group in groups.groups for name in group.variables}

    def _change(self, period: int, variable: str, old: str | None, value: str, **cause: str) -> Change:
        return Change(
            domain=self.domain.name,
            user_id=self.profile.user_id,
            period=period,
            period_end=self.config.period_end(period).isoformat(),
            variable=variable,
            old=old,
            value=value,
            **cause,
        )


def _earlier(changes: Sequence[Change]) -> str:
    """Return all earlier changes as JSON, by the end date of their period: `variable: old -> new`."""
    found: dict[str, list[str]] = {}
    for change in changes:
        if change.period > 0:
            moves = found.setdefault(change.period_end, [])
            moves.append(f"{change.variable}: {change.old} -> {change.value}")
    return written(found)
