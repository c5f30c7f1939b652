"""What a model answers when a day has ended, or when what all days say is brought up to date."""

from pydantic import BaseModel

from memflow.chat.limits import OptionalText, Text


class Summary(BaseModel):
    """What happened and what was said, in a day or in all of them."""

    text: Text


class Traits(BaseModel):
    """What a day shows of the user's nature; empty, where it shows nothing."""

    text: OptionalText


class Portrait(BaseModel):
    """What the user is like, as far as all days show."""

    text: Text
