"""Users and their structured states: read from the published file, or made by the simulator.

Made in this order (paper, section 3.1): questions with the state variables that they need, the initial
state, then period by period the values that change and the life events that bring the changes. A user for
whom one of these fails is a profile with its reason, and has no variables. What users say of their states
is utterances.py.
"""

import asyncio
import json
from collections.abc import Mapping, Sequence
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
from memflow.benchmarks.amemgym.published import PublishedUser
from memflow.benchmarks.amemgym.records import Persona
from memflow.benchmarks.amemgym.sizes import Sizes, generated, sizes_of
from memflow.benchmarks.amemgym.wording import prompt, written
from memflow.benchmarks.benchmark import States
from memflow.chat.asking import ask
from memflow.chat.requests import Chat
from memflow.domains import Domain
from memflow.errors import BadInput
from memflow.records import Change, Profile, Record, Variable


async def make_states(domain: Domain, records: Sequence[Record], simulator: Chat) -> States:
    """The state tables of the domain's users, in the order of `records`."""
    if not generated(domain):
        users = [_published(domain, record) for record in taken(domain, records)]
    else:
        sizes = sizes_of(domain)
        personas = [Persona.model_validate_json(record.content) for record in taken(domain, records)]
        users = await asyncio.gather(*(_made(domain, sizes, persona, simulator) for persona in personas))
    return States(
        [profile for user in users for profile in user.profiles],
        [variable for user in users for variable in user.variables],
        [change for user in users for change in user.changes],
    )


def taken(domain: Domain, records: Sequence[Record]) -> list[Record]:
    """The records that the domain takes. Raises BadInput where there are fewer than it is to have."""
    if not generated(domain):
        return list(records[: domain.limit] if domain.limit else records)
    wanted = sizes_of(domain).users
    if len(records) < wanted:
        raise BadInput(
            f"domain {domain.name} is to have {wanted} users, but there are {len(records)} personas; "
            "give it more personas or lower its parameter users"
        )
    return list(records[: min(wanted, domain.limit or wanted)])


@dataclass(frozen=True)
class History:
    """The states of one user over all periods, as the tables hold them."""

    profile: Profile
    schema: Mapping[str, list[str]]
    questions: Mapping[str, list[str]]
    """Question to the variables that it needs, both in order."""
    periods: Sequence[Mapping[str, str]]
    """The whole state at the end of each period."""
    changes: Sequence[Sequence[Change]]
    """The changes of each period."""

    def end(self, period: int) -> str:
        """The last day of `period`."""
        return self.changes[period][0].period_end


def histories(states: States) -> dict[str, History]:
    """User to history, for every user that is not quarantined."""
    found = {}
    for profile in states.profiles:
        if profile.reason is not None:
            continue
        variables = [row for row in states.variables if row.user_id == profile.user_id]
        mine = [row for row in states.changes if row.user_id == profile.user_id]
        by_period = [
            [row for row in mine if row.period == period]
            for period in range(1 + max(row.period for row in mine))
        ]
        questions: dict[str, list[str]] = {}
        for row in variables:
            for question in row.questions:
                questions.setdefault(question, []).append(row.variable)
        state: dict[str, str] = {}
        periods = []
        for rows in by_period:
            state = state | {row.variable: row.value for row in rows}
            periods.append(state)
        schema = {row.variable: row.choices for row in variables}
        found[profile.user_id] = History(profile, schema, questions, periods, by_period)
    return found


def _published(domain: Domain, record: Record) -> States:
    user = PublishedUser.model_validate_json(record.content)
    profile = Profile(
        domain=domain.name,
        user_id=user.id,
        name=user.user_profile.name,
        profile=user.user_profile.formatted_str,
        start_date=user.start_time,
    )
    variables = [
        Variable(
            domain=domain.name,
            user_id=user.id,
            variable=name,
            choices=values,
            questions=[asked.query for asked in user.qas if name in asked.required_info],
        )
        for name, values in user.state_schema.items()
    ]
    changes = []
    for number, period in enumerate(user.periods):
        events = {name: session.event for session in period.sessions for name in session.exposed_states}
        for name, update in period.updates.items():
            changes.append(
                Change(
                    domain=domain.name,
                    user_id=user.id,
                    period=number,
                    period_end=period.period_end,
                    variable=name,
                    old=update.old,
                    value=update.new,
                    event=events.get(name),
                )
            )
    return States([profile], variables, changes)


class _GivenUp(Exception):
    """One stage failed for one user; the message is the reason. It never leaves this module."""


async def _made(domain: Domain, sizes: Sizes, persona: Persona, simulator: Chat) -> States:
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
            _wrong_drafts,
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
            lambda groups: wrong_cover(groups, values),
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


def wrong_cover(groups: Groups, variables: Mapping[str, str]) -> str | None:
    """What is wrong with `groups`: every one of `variables` has to be in exactly one of them."""
    named = [name for group in groups.groups for name in group.variables]
    missing = [name for name in variables if name not in named]
    twice = [name for name in variables if named.count(name) > 1]
    texts = [group.text for group in groups.groups]
    if missing:
        return f"no group names {json.dumps(missing)}"
    if twice:
        return f"more than one group names {json.dumps(twice)}"
    if len(set(texts)) < len(texts):
        return "two groups have the same text"
    return None


def _wrong_drafts(drafts: DraftQuestions) -> str | None:
    questions = [draft.question for draft in drafts.questions]
    if len(set(questions)) < len(questions):
        return "a question stands there twice"
    known: dict[str, list[str]] = {}
    for draft in drafts.questions:
        names = [variable.name for variable in draft.variables]
        if len(set(names)) < len(names):
            return f"a question names the same variable twice: {draft.question!r}"
        for variable in draft.variables:
            if len(set(variable.values)) < len(variable.values):
                return f"the variable {variable.name!r} has a value twice"
            if known.setdefault(variable.name, variable.values) != variable.values:
                return f"two questions give the variable {variable.name!r} different values"
    return None
