"""The output types of the judges' prompts. Answers to questions are free text.

The label must be one of two words. A judge that returns anything else is asked again with the error.
"""

from typing import Annotated, Literal

from pydantic import BaseModel, StringConstraints

LabelName = Literal["CORRECT", "WRONG"]


class Label(BaseModel):
    """A judge's label, alone (`j_2025`)."""

    label: LabelName


class ReasonedLabel(BaseModel):
    """A judge's reason and label, in this order."""

    reason: Annotated[str, StringConstraints(max_length=2000)]
    label: LabelName
