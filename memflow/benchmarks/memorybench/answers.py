"""Output types of the prompts that put questions, every part bounded. Most answers are free text."""

from typing import Annotated

from pydantic import BaseModel, Field, StringConstraints


class Limitations(BaseModel):
    """Three limitations of a paper (LimitGen-Syn)."""

    limitations: Annotated[
        list[Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=500)]],
        Field(min_length=3, max_length=3),
    ]


class Ideas(BaseModel):
    """Three hypotheses (IdeaBench)."""

    hypotheses: Annotated[
        list[Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=1500)]],
        Field(min_length=3, max_length=3),
    ]
