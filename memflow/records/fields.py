"""The column types that the rows of several tables share."""

from typing import Annotated

Reason = Annotated[str | None, "The error because of which the row is quarantined; null for a valid row."]
Domain = Annotated[str, "The domain: one setting of a benchmark."]
Assistant = Annotated[
    str, "The assistant: `memory`, or `memory@model` with a chat model other than the default."
]
Episode = Annotated[str, "The episode: an independent stream of events."]
Cut = Annotated[bool, "The token limit ended the text."]
Checkpoint = Annotated[int, "The checkpoint, from 0: the point of the episode at which probes are asked."]
