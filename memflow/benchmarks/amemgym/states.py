"""Users and their structured states, read from the published file or generated (generation/states.py).

`histories` converts rows to the states of each user over time. turns.py has the first messages.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from memflow.benchmarks.amemgym.config import USERS_AT_ONCE, is_generated, parse_config
from memflow.benchmarks.amemgym.generation.personas import select_personas
from memflow.benchmarks.amemgym.generation.states import generate_user
from memflow.benchmarks.amemgym.off_policy import user_records
from memflow.benchmarks.amemgym.published import PublishedUser
from memflow.benchmarks.amemgym.wording import json_lines
from memflow.benchmarks.api import States
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.published_file import valid_records
from memflow.chat.requests import Chat
from memflow.concurrency import gather_bounded
from memflow.records import Change, Profile, Record, Turn, Variable


async def make_states(domain: Domain, records: Sequence[Record], simulator: Chat) -> States:
    """Return the state tables. Published users keep the order of `records`, generated users the order of selection."""
    if not is_generated(domain):
        users = [_published_states(domain, record) for record in _limited_users(domain, records)]
    else:
        config = parse_config(domain)
        personas = select_personas(domain, user_records(domain, records))
        users = await gather_bounded(
            lambda person: generate_user(domain, config, person.persona, simulator), personas, USERS_AT_ONCE
        )
    return States(
        [profile for user in users for profile in user.profiles],
        [variable for user in users for variable in user.variables],
        [change for user in users for change in user.changes],
    )


def selected_users(domain: Domain, records: Sequence[Record]) -> list[Record]:
    """Return the published users up to the domain's limit, without quarantined users."""
    return valid_records(_limited_users(domain, records))


def _limited_users(domain: Domain, records: Sequence[Record]) -> list[Record]:
    users = user_records(domain, records)
    return users[: domain.limit] if domain.limit else users


@dataclass(frozen=True)
class History:
    """One user's profile, and the user's state values in all periods."""

    profile: Profile
    schema: Mapping[str, list[str]]
    questions: Mapping[str, list[str]]
    """The variables of each question, both in order."""
    periods: Sequence[Mapping[str, str]]
    """The complete state at the end of each period."""
    changes: Sequence[Sequence[Change]]
    """The changes of each period."""

    @cached_property
    def schema_text(self) -> str:
        """The schema for prompts. Sessions share it."""
        return json_lines(self.schema)

    @cached_property
    def period_texts(self) -> list[str]:
        """The user's states at the end of each period, as JSON text for prompts."""
        return [json_lines(period) for period in self.periods]

    def end(self, period: int) -> str:
        """Return the last day of `period`."""
        return self.changes[period][0].period_end


def histories(states: States) -> dict[str, History]:
    """Return the history of each user that is not quarantined, by user id."""
    by_user = {}
    for profile in states.profiles:
        if profile.reason is not None:
            continue
        variables = [row for row in states.variables if row.user_id == profile.user_id]
        changes = [row for row in states.changes if row.user_id == profile.user_id]
        by_period = [
            [row for row in changes if row.period == period]
            for period in range(1 + max(row.period for row in changes))
        ]
        questions = {
            question: [row.variable for row in variables if question in row.questions]
            for question in _merge_orders([row.questions for row in variables])
        }
        state: dict[str, str] = {}
        periods = []
        for rows in by_period:
            state = state | {row.variable: row.value for row in rows}
            periods.append(state)
        schema = {row.variable: row.choices for row in variables}
        by_user[profile.user_id] = History(profile, schema, questions, periods, by_period)
    return by_user


def exposed_values(turn: Turn) -> dict[str, str]:
    """Return the state values that a first message exposes, by variable; empty if none are known."""
    values = json.loads(turn.exposes or "{}")
    return values if isinstance(values, dict) else {}


def _merge_orders(lists: Sequence[Sequence[str]]) -> list[str]:
    """Return all items of the lists without duplicates, in an order that preserves the order of each list.

    It is a topological order: an item follows the items before it in every list.
    """
    predecessors: dict[str, list[str]] = {}
    for items in lists:
        for index, item in enumerate(items):
            predecessors.setdefault(item, []).extend(items[:index])
    ordered_items: dict[str, None] = {}
    visited: set[str] = set()

    def visit(item: str) -> None:
        if item not in visited:
            visited.add(item)
            for predecessor in predecessors[item]:
                visit(predecessor)
            ordered_items[item] = None

    for item in predecessors:
        visit(item)
    return list(ordered_items)


def _published_states(domain: Domain, record: Record) -> States:
    """Return the profile, the variables and the changes of a published user; of an invalid record, the reason."""
    if record.reason is not None:
        user_id = record.record_id
        return States(
            [
                Profile(
                    domain=domain.name,
                    user_id=user_id,
                    name=user_id,
                    profile="",
                    start_date="",
                    reason=f"{record.source}, {record.reason}",
                )
            ]
        )
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
            questions=[question.query for question in user.qas if name in question.required_info],
        )
        for name, values in user.state_schema.items()
    ]
    changes = []
    for number, period in enumerate(user.periods):
        events = {name: session.event for session in period.sessions for name in session.exposed_states or ()}
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
                    summary=period.period_summary,
                )
            )
    return States([profile], variables, changes)
