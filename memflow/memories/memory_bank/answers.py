"""What a model answers when a day has ended, or when what all days say is brought up to date."""

from typing import Annotated

from pydantic import BaseModel, Field


class Summary(BaseModel):
    """What happened and what was said, in a day or in all of them."""

    text: Annotated[str, Field(min_length=1, max_length=600)]


class Traits(BaseModel):
    """What a day shows of the user's nature; empty, where it shows nothing."""

    text: Annotated[str, Field(max_length=300)]


class Portrait(BaseModel):
    """What the user is like, as far as all days show."""

    text: Annotated[str, Field(min_length=1, max_length=600)]
