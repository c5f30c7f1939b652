"""The schema of the published file, and the contradictions within the record of one user.

A file is rejected for faults that its rows would hide: an invalid schema, or redundant fields that contradict each
other. checks/ tests all other properties on the rows. Extra keys are ignored.
"""

from collections.abc import Iterator
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class _PublishedModel(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)


class PublishedProfile(_PublishedModel):
    """The user's traits. `formatted_str` is the text of the traits in prompts."""

    name: str
    formatted_str: str


class PublishedSession(_PublishedModel):
    """A session: its first user message, and (gold) the state values that this message exposes; null if unknown."""

    event: str | None
    exposed_states: dict[str, str] | None
    query: str = Field(min_length=1)
    session_time: str


class PublishedUpdate(_PublishedModel):
    """A change of a variable: its value before (null in period 0) and its value from this period on."""

    old: str | None
    new: str


class PublishedPeriod(_PublishedModel):
    """A period: its changes, and the complete state at its end."""

    period_start: str | None = None
    period_end: str
    period_summary: str | None = None
    sessions: list[PublishedSession]
    state: dict[str, str]
    updates: dict[str, PublishedUpdate]


class AnswerChoice(_PublishedModel):
    """An option, and the values that it is correct for, in the order of `required_info`."""

    state: list[str]
    answer: str = Field(min_length=1)
    type: Literal["experience", "random"] | None = None


class PublishedQuestion(_PublishedModel):
    """A published question about a user: the variables that the answer depends on, and the answer options."""

    query: str = Field(min_length=1)
    required_info: list[str] = Field(min_length=1)
    answer_choices: list[AnswerChoice] = Field(min_length=2)


class PublishedUser(_PublishedModel):
    """A record of the published file: one user."""

    id: str = Field(min_length=1)
    start_time: str
    user_profile: PublishedProfile
    state_schema: dict[str, list[str]] = Field(min_length=1)
    periods: list[PublishedPeriod] = Field(min_length=1)
    qas: list[PublishedQuestion] = Field(min_length=1)

    def contradictions(self) -> list[str]:
        """Return the contradictions between redundant fields, each with the path of the field."""
        return [*self._period_faults(), *self._question_faults()]

    def _period_faults(self) -> Iterator[str]:
        state: dict[str, str] = {}
        previous: str | None = None
        for number, period in enumerate(self.periods):
            path = f"periods.{number}"
            for name, update in period.updates.items():
                state[name] = update.new
            if set(period.state) != set(self.state_schema):
                yield f"{path}.state: the variables differ from state_schema"
            for name in dict.fromkeys([*period.state, *state]):
                stated, updated = period.state.get(name), state.get(name)
                if stated != updated:
                    yield f"{path}.state.{name}: the value is {stated!r}, but the updates so far give {updated!r}"
            if period.period_start is not None and period.period_start != previous:
                yield f"{path}.period_start: the date is not the end of the previous period, {previous}"
            previous = period.period_end

    def _question_faults(self) -> Iterator[str]:
        for number, question in enumerate(self.qas):
            path = f"qas.{number}"
            unknown = [name for name in question.required_info if name not in self.state_schema]
            if unknown:
                yield f"{path}: required_info names {unknown[0]!r}, which state_schema lacks"
                continue
            states = [[period.state.get(name) for name in question.required_info] for period in self.periods]
            for position, choice in enumerate(question.answer_choices):
                is_experienced = choice.state in states
                if len(choice.state) != len(question.required_info):
                    yield f"{path}.answer_choices.{position}.state: the values do not match required_info"
                elif choice.type is not None and (choice.type == "experience") != is_experienced:
                    count = "some" if is_experienced else "no"
                    yield (
                        f"{path}.answer_choices.{position}.type: the type is {choice.type}, but {count} period "
                        "has its state"
                    )
