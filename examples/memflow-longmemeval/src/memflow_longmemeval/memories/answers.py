"""Output types of the memories' prompts."""

from pydantic import BaseModel

from memflow.chat.limits import Items, Text


class Facts(BaseModel):
    """The user's facts in a chat."""

    facts: Items[Text]
