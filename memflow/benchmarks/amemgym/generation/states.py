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
from memflow.benchmarks.amemgym.wording import json_lines
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
        return await _UserGenerator(domain, config, profile, simulator).generate()
    except GenerationFailed as error:
        return States([replace(profile, reason=str(error))], [], [])


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

    async def generate(self) -> States:
        """Generate the questions, the initial state, and the changes of each period with their life events."""
        schema = await generate_schema(
            self.config, self.profile.profile, self.profile.start_date, self.simulator
        )
        state = await self._initial_state(schema.choices)
        changes = [self._change(0, name, None, value) for name, value in state.items()]
        for period in range(1, self.config.periods):
            updates = await self._updates(period, schema.choices, state, changes)
            values = updates.values()
            events = await self._events(period, schema.choices, state, updates)
            changes += [
                self._change(period, name, state[name], value, event=events[name], summary=updates.summary)
                for name, value in values.items()
            ]
            state = state | values
        return States([self.profile], self._variables(schema), changes)

    def _variables(self, schema: StateSchema) -> list[Variable]:
        """Return a row per variable, with its possible values and the questions that depend on it."""
        return [
            Variable(
                domain=self.domain.name,
                user_id=self.profile.user_id,
                variable=name,
                choices=values,
                questions=[question for question, variables in schema.questions.items() if name in variables],
            )
            for name, values in schema.choices.items()
        ]

    async def _initial_state(self, schema: Mapping[str, list[str]]) -> dict[str, str]:
        """Request the user's value of each variable at the start date. Raises GenerationFailed."""
        fields = {
            "profile": self.profile.profile,
            "date": self.profile.start_date,
            "months": (self.config.periods - 1) * self.config.months_per_period,
            "schema": json_lines(schema),
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
        """Request the changes of a period: which variables change, and to which values."""
        target_count = min(self.config.changes_per_period, len(schema))
        changed_variables = [change.variable for change in changes if change.period > 0]
        limit = self.config.max_changes_per_variable
        candidates = [name for name in schema if changed_variables.count(name) < limit]
        # If too few variables are below the limit, the period offers all variables.
        if self.config.change_limit == "advised" or len(candidates) < target_count:
            candidates = list(schema)
        new_values = {name: [value for value in schema[name] if value != state[name]] for name in candidates}

        updates: Updates = await self.simulator(
            "updates",
            updates_of(new_values, max(1, target_count - 1), min(target_count + 1, len(new_values))),
            {
                "profile": self.profile.profile,
                "origin": self.profile.start_date,
                "step": period,
                "steps": self.config.periods - 1,
                "left": self.config.periods - 1 - period,
                "start": self.config.period_end(period - 1).isoformat(),
                "end": self.config.period_end(period).isoformat(),
                "earlier": _earlier_changes(changes),
                "counts": json_lines({name: changed_variables.count(name) for name in schema}),
                "limit": limit,
                "state": json_lines(state),
                "schema": json_lines(new_values),
                "changes": target_count,
            },
            Updates.fault,
        )
        return updates

    async def _events(
        self, period: int, schema: Mapping[str, list[str]], state: Mapping[str, str], updates: Updates
    ) -> dict[str, str]:
        """Request the life events that cause the changes of a period. Return the event of each variable."""
        values = updates.values()
        changes = {
            name: {"from": state[name], "to": new_value, "possible_values": schema[name]}
            for name, new_value in values.items()
        }
        groups: Groups = await self.simulator(
            "events",
            groups_of(tuple(values)),
            {
                "profile": self.profile.profile,
                "start": self.config.period_end(period - 1).isoformat(),
                "end": self.config.period_end(period).isoformat(),
                "summary": updates.summary,
                "changes": json_lines(changes),
                "unchanged": json_lines({name: value for name, value in state.items() if name not in values}),
            },
            lambda groups: groups.fault(values),
        )
        return {name: group.text for group in groups.groups for name in group.variables}

    def _change(self, period: int, variable: str, old: str | None, value: str, **cause: str) -> Change:
        """Return the row of a change. `old` is None in period 0; `cause` has the columns `event` and `summary`."""
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


def _earlier_changes(changes: Sequence[Change]) -> str:
    """Return all earlier changes as JSON, by the end date of their period: `variable: old -> new`."""
    by_period_end: dict[str, list[str]] = {}
    for change in changes:
        if change.period > 0:
            descriptions = by_period_end.setdefault(change.period_end, [])
            descriptions.append(f"{change.variable}: {change.old} -> {change.value}")
    return json_lines(by_period_end)
