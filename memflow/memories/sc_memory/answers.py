"""What a model answers for a self-controlled memory: a summary, and the controller's two judgements."""

from typing import Annotated

from pydantic import BaseModel, Field


class Summary(BaseModel):
    """A message in one sentence."""

    summary: Annotated[str, Field(min_length=1, max_length=240)]


class Activation(BaseModel):
    """Whether a query needs more than the newest messages."""

    needed: bool


class Sufficiency(BaseModel):
    """Whether summaries, beside the newest messages, hold what a query asks for."""

    sufficient: bool
