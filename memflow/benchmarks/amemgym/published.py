"""The published file's shape: one user with periods, sessions and questions; and what rows could not say of it.

A file is refused where something in it could not be told from its rows: what does not have this shape, and what is
said twice at odds (`PublishedUser.faults`). What the rows do say is tested on them, and for generated users too:
expectations.py. Other keys are let through. Reading the file is records.py, writing one export.py.
"""

from collections.abc import Iterator
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class _Shape(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)


class UserProfile(_Shape):
    """The user's traits; `formatted_str` is how prompts show them."""

    name: str
    formatted_str: str


class Session(_Shape):
    """One session: its first user message, and (gold) the state values that it exposes."""

    event: str | None
    exposed_states: dict[str, str]
    query: str = Field(min_length=1)
    session_time: str


class Update(_Shape):
    """A state variable's value before (null in period 0) and from this period on."""

    old: str | None
    new: str


class Period(_Shape):
    """One period: what changes in it, and the whole state at its end.

    `update_cnts` is let through: it holds the changes of the whole run in every period, and so tells the future.
    """

    period_start: str | None = None
    period_end: str
    period_summary: str | None = None
    sessions: list[Session]
    state: dict[str, str]
    updates: dict[str, Update]


class AnswerChoice(_Shape):
    """One option, and the values, in the order of `required_info`, that it is the answer for."""

    state: list[str]
    answer: str = Field(min_length=1)
    type: Literal["experience", "random"] | None = None


class Asked(_Shape):
    """One question with its options."""

    query: str = Field(min_length=1)
    required_info: list[str] = Field(min_length=1)
    answer_choices: list[AnswerChoice] = Field(min_length=2)


class PublishedUser(_Shape):
    """One record of the published file."""

    id: str = Field(min_length=1)
    start_time: str
    user_profile: UserProfile
    state_schema: dict[str, list[str]] = Field(min_length=1)
    periods: list[Period] = Field(min_length=1)
    qas: list[Asked] = Field(min_length=1)

    def faults(self) -> list[str]:
        """What is said twice in this user, and differently: places, and what is wrong there."""
        return [*self._period_faults(), *self._question_faults()]

    def _period_faults(self) -> Iterator[str]:
        state: dict[str, str] = {}
        before: str | None = None
        for number, period in enumerate(self.periods):
            place = f"periods.{number}"
            state = state | {name: update.new for name, update in period.updates.items()}
            if set(period.state) != set(self.state_schema):
                yield f"{place}.state: its variables are not those of state_schema"
            for name in dict.fromkeys([*period.state, *state]):
                told, made = period.state.get(name), state.get(name)
                if told != made:
                    yield f"{place}.state.{name}: it is {told!r}, where the updates up to there make it {made!r}"
            if period.period_start is not None and period.period_start != before:
                yield f"{place}.period_start: it is not the day on which the period before ends, {before}"
            before = period.period_end

    def _question_faults(self) -> Iterator[str]:
        for number, asked in enumerate(self.qas):
            place = f"qas.{number}"
            unknown = [name for name in asked.required_info if name not in self.state_schema]
            if unknown:
                yield f"{place}: required_info names {unknown[0]!r}, which state_schema does not have"
                continue
            lived = [[period.state.get(name) for name in asked.required_info] for period in self.periods]
            for at, choice in enumerate(asked.answer_choices):
                if len(choice.state) != len(asked.required_info):
                    yield f"{place}.answer_choices.{at}.state: it has not one value for each of required_info"
                elif choice.type is not None and (choice.type == "experience") != (choice.state in lived):
                    there = "some" if choice.state in lived else "no"
                    yield f"{place}.answer_choices.{at}.type: it is {choice.type}, and {there} period has its state"
