"""One user's states, made by the simulator (paper, section 3.1).

Made in this order: questions with the state variables that they need, the initial state, then period by
period the values that change and the life events that bring the changes. A user for whom one of these fails
is a profile with its reason, and has no variables.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from memflow.benchmarks.amemgym.answers import (
    DraftQuestions,
    Groups,
    Values,
    groups_of,
    questions_of,
    values_of,
)
from memflow.benchmarks.amemgym.records import Persona
from memflow.benchmarks.amemgym.sizes import Sizes
from memflow.benchmarks.amemgym.wording import prompt, written
from memflow.benchmarks.benchmark import States
from memflow.chat.asking import ask
from memflow.chat.requests import Chat
from memflow.domains import Domain
from memflow.records import Change, Profile, Variable


class _GivenUp(Exception):
    """One stage failed for one user; the message is the reason. It never leaves here."""


async def make_user(domain: Domain, sizes: Sizes, persona: Persona, simulator: Chat) -> States:
    """The states of one user; where a stage fails, a profile with its reason alone."""
    profile = Profile(
        domain=domain.name,
        user_id=persona.id,
        name=persona.name,
        profile=persona.profile(),
        start_date=sizes.start_date.isoformat(),
    )
    try:
        return await _Maker(domain, sizes, profile, simulator).make()
    except _GivenUp as wrong:
        return States([replace(profile, reason=str(wrong))], [], [])


@dataclass
class _Maker:
    domain: Domain
    sizes: Sizes
    profile: Profile
    simulator: Chat

    async def make(self) -> States:
        """Questions, initial state, and each period's changes with their events."""
        variables = await self._variables()
        schema = {variable.variable: variable.choices for variable in variables}
        state = await self._initial_state(schema)
        changes = [self._change(0, name, None, value, None) for name, value in state.items()]
        counts = dict.fromkeys(schema, 0)
        for period in range(1, self.sizes.periods):
            values = await self._updates(period, schema, state, counts)
            events = await self._events(period, state, values)
            for name, value in values.items():
                changes.append(self._change(period, name, state[name], value, events[name]))
                counts[name] += 1
            state = state | values
        return States([self.profile], variables, changes)

    async def _variables(self) -> list[Variable]:
        sizes = self.sizes
        drafts: DraftQuestions = await self._asked(
            "questions",
            questions_of(sizes.questions, sizes.variables_per_question, sizes.choices_per_variable),
            {
                "profile": self.profile.profile,
                "date": self.profile.start_date,
                "months": (sizes.periods - 1) * sizes.months_per_period,
                "questions": sizes.questions,
                "variables": sizes.variables_per_question,
                "values": sizes.choices_per_variable,
            },
            DraftQuestions.fault,
        )
        choices: dict[str, list[str]] = {}
        needed: dict[str, list[str]] = {}
        for draft in drafts.questions:
            for variable in draft.variables:
                choices[variable.name] = variable.values
                needed.setdefault(variable.name, []).append(draft.question)
        return [
            Variable(
                domain=self.domain.name,
                user_id=self.profile.user_id,
                variable=name,
                choices=values,
                questions=needed[name],
            )
            for name, values in choices.items()
        ]

    async def _initial_state(self, schema: Mapping[str, list[str]]) -> dict[str, str]:
        fields = {"profile": self.profile.profile, "date": self.profile.start_date, "schema": written(schema)}
        values: Values = await self._asked("initial_state", values_of(schema), fields, None)
        return values.chosen()

    async def _updates(
        self,
        period: int,
        schema: Mapping[str, list[str]],
        state: Mapping[str, str],
        counts: Mapping[str, int],
    ) -> dict[str, str]:
        wanted = min(self.sizes.changes_per_period, len(schema))
        open_ = [name for name in schema if counts[name] < self.sizes.max_changes_per_variable]
        # The limit is soft, as in the published data: a period without changes would be worse.
        movable = open_ if len(open_) >= wanted else list(schema)
        others = {name: [value for value in schema[name] if value != state[name]] for name in movable}

        def wrong_count(values: Values) -> str | None:
            found = len(values.chosen())
            if wanted - 1 <= found <= wanted + 1 and found > 0:
                return None
            return f"{found} variables change, where {wanted} have to (one more or less will do)"

        values: Values = await self._asked(
            "updates",
            values_of(others, optional=True),
            {
                "profile": self.profile.profile,
                "start": self.sizes.period_end(period - 1).isoformat(),
                "end": self.sizes.period_end(period).isoformat(),
                "state": written(state),
                "schema": written(others),
                "changes": wanted,
            },
            wrong_count,
        )
        return values.chosen()

    async def _events(
        self, period: int, state: Mapping[str, str], values: Mapping[str, str]
    ) -> dict[str, str]:
        groups: Groups = await self._asked(
            "events",
            groups_of(tuple(values)),
            {
                "profile": self.profile.profile,
                "start": self.sizes.period_end(period - 1).isoformat(),
                "end": self.sizes.period_end(period).isoformat(),
                "changes": written({name: {"from": state[name], "to": to} for name, to in values.items()}),
            },
            lambda groups: groups.fault(values),
        )
        return {name: group.text for group in groups.groups for name in group.variables}

    async def _asked(self, stem: str, output: type, fields: Mapping[str, object], check: object) -> Any:
        answer = await ask(self.simulator, prompt(stem, output), fields, check=check)
        if answer.value is None:
            raise _GivenUp(answer.reason or "no answer")
        return answer.value

    def _change(self, period: int, name: str, old: str | None, value: str, event: str | None) -> Change:
        return Change(
            domain=self.domain.name,
            user_id=self.profile.user_id,
            period=period,
            period_end=self.sizes.period_end(period).isoformat(),
            variable=name,
            old=old,
            value=value,
            event=event,
        )
