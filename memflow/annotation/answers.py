"""What a judge answers when it annotates: one of the labels that the item allows."""

from functools import lru_cache
from typing import Annotated, Any, Literal, cast

from pydantic import BaseModel, ConfigDict, Field, create_model

Name = Annotated[str, Field(min_length=1, max_length=32)]


class Chosen(BaseModel):
    """The name of a label."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    label: Name


@lru_cache(maxsize=4096)
def chosen_of(labels: tuple[str, ...]) -> type[Chosen]:
    """Return Chosen with one of these labels, sorted: typing caches Literals regardless of order, and the order is part
    of a request's digest.
    """
    one_of = cast(Any, Literal)[tuple(sorted(labels))]
    narrowed: type[Chosen] = create_model(
        "Chosen", __base__=Chosen, __doc__=Chosen.__doc__, label=(one_of, ...)
    )
    return narrowed
