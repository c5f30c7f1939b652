"""The published file's shape: one user with periods, sessions and questions. Checks that need one user alone.

Only what memflow uses is declared; other keys are let through. Reading the file is records.py.
"""

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
    """One period: what changes in it, and the whole state at its end."""

    period_end: str
    period_summary: str | None = None
    sessions: list[Session]
    state: dict[str, str]
    updates: dict[str, Update]


class AnswerChoice(_Shape):
    """One option, and the values, in the order of `required_info`, that it is the answer for."""

    state: list[str]
    answer: str = Field(min_length=1)


class Asked(_Shape):
    """One question with its options."""

    query: str = Field(min_length=1)
    required_info: list[str] = Field(min_length=1)
    answer_choices: list[AnswerChoice] = Field(min_length=2)

    def gold(self, state: dict[str, str]) -> int:
        """The right option's index under `state`. Raises ValueError unless there is exactly one."""
        wanted = [state[variable] for variable in self.required_info]
        found = [index for index, choice in enumerate(self.answer_choices) if choice.state == wanted]
        if len(found) != 1:
            raise ValueError(f"{len(found)} of its options answer the state {wanted}, where one has to")
        return found[0]


class PublishedUser(_Shape):
    """One record of the published file."""

    id: str = Field(min_length=1)
    start_time: str
    user_profile: UserProfile
    state_schema: dict[str, list[str]] = Field(min_length=1)
    periods: list[Period] = Field(min_length=1)
    qas: list[Asked] = Field(min_length=1)

    def faults(self) -> list[str]:
        """What does not hold together in this user: places and what is wrong there."""
        found = [*self._period_faults()]
        for number, asked in enumerate(self.qas):
            unknown = [variable for variable in asked.required_info if variable not in self.state_schema]
            if unknown:
                found.append(
                    f"qas.{number}: required_info names {unknown[0]!r}, which state_schema does not have"
                )
                continue
            for index, period in enumerate(self.periods):
                try:
                    asked.gold(period.state)
                except (ValueError, KeyError) as wrong:
                    found.append(f"qas.{number} in periods.{index}: {wrong}")
        return found

    def _period_faults(self) -> list[str]:
        found = []
        before: dict[str, str] = {}
        for index, period in enumerate(self.periods):
            place = f"periods.{index}"
            if set(period.state) != set(self.state_schema):
                found.append(f"{place}.state: its variables are not those of state_schema")
                continue
            for variable, value in period.state.items():
                if value not in self.state_schema[variable]:
                    found.append(f"{place}.state.{variable}: {value!r} is no value of state_schema")
            moved = {variable for variable, value in period.state.items() if before.get(variable) != value}
            if set(period.updates) != moved:
                found.append(f"{place}.updates: it names other variables than those that change")
            for number, session in enumerate(period.sessions):
                if any(period.state.get(name) != value for name, value in session.exposed_states.items()):
                    found.append(
                        f"{place}.sessions.{number}: exposed_states is at odds with the period's state"
                    )
            before = period.state
        return found
