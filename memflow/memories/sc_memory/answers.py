"""What a model answers for a self-controlled memory: a summary, and the controller's two judgements."""

from pydantic import BaseModel

from memflow.chat.limits import Text


class Summary(BaseModel):
    """A message in one sentence."""

    summary: Text


class Activation(BaseModel):
    """Whether a query needs more than the newest messages."""

    needed: bool


class Sufficiency(BaseModel):
    """Whether summaries, beside the newest messages, hold what a query asks for."""

    sufficient: bool
