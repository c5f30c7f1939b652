"""Output types of the simulated users' prompts."""

from typing import Annotated, Literal

from pydantic import BaseModel, Field, StringConstraints, model_validator


class Critique(BaseModel):
    """What the simulated user makes of an answer (paper, A.2.2); reasons first, then the decision."""

    reasoning: Annotated[str, StringConstraints(max_length=600)]
    behaviour: Literal["continue", "end"]
    response: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=600)] | None

    @model_validator(mode="after")
    def _goes_on_with_words(self) -> "Critique":
        if self.behaviour == "continue" and self.response is None:
            raise ValueError("the person continues, and response says nothing")
        return self


class Satisfaction(BaseModel):
    """How satisfied the user is with an answer, from 1 to 10 (paper, A.2.2)."""

    score: Annotated[int, Field(ge=1, le=10)]
