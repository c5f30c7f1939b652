"""The schema of the published file. A record is rejected for faults that its rows would hide.

checks/ tests all other properties on the rows. Extra keys are ignored.
"""

from pydantic import BaseModel, ConfigDict, Field, model_validator


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

    period_end: str
    period_summary: str | None = None
    sessions: list[PublishedSession]
    state: dict[str, str]
    updates: dict[str, PublishedUpdate] = Field(min_length=1)


class AnswerChoice(_PublishedModel):
    """An option, and the values that it is correct for, in the order of `required_info`."""

    state: list[str]
    answer: str = Field(min_length=1)


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

    @model_validator(mode="after")
    def _has_consistent_states(self) -> "PublishedUser":
        """Raise ValueError unless the state of each period follows from the updates up to its end."""
        state: dict[str, str] = {}
        for number, period in enumerate(self.periods):
            state |= {name: update.new for name, update in period.updates.items()}
            for name in [*period.state, *state]:
                if (state_value := period.state.get(name)) != (updated_value := state.get(name)):
                    raise ValueError(
                        f"periods.{number}.state.{name}: the value is {state_value!r}, but the updates so far "
                        f"give {updated_value!r}"
                    )
        return self

    @model_validator(mode="after")
    def _has_questions_of_its_variables(self) -> "PublishedUser":
        """Raise ValueError unless questions require known variables, and options have a value for each of them."""
        for number, question in enumerate(self.qas):
            if unknown_names := [name for name in question.required_info if name not in self.state_schema]:
                raise ValueError(
                    f"qas.{number}: required_info names {unknown_names[0]!r}, which state_schema lacks"
                )
            for position, choice in enumerate(question.answer_choices):
                if len(choice.state) != len(question.required_info):
                    raise ValueError(
                        f"qas.{number}.answer_choices.{position}.state: the values do not match required_info"
                    )
        return self
