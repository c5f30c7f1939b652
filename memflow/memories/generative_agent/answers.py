"""What a model answers when a generative agent rates memories, and when it reflects on them."""

from typing import Annotated

from pydantic import BaseModel, Field

from memflow.chat.limits import Items, Number, SomeItems, Text


class Rating(BaseModel):
    """How much a memory matters, from 1 (everyday) to 10 (of a lifetime)."""

    importance: Annotated[int, Field(ge=1, le=10)]


class Questions(BaseModel):
    """What is most worth asking about the newest memories."""

    questions: SomeItems[Text]


class Insight(BaseModel):
    """A conclusion, and the numbers of the statements that it rests on."""

    insight: Text
    because: SomeItems[Number]


class Insights(BaseModel):
    """Conclusions from numbered statements: none, where they allow none."""

    insights: Items[Insight]
