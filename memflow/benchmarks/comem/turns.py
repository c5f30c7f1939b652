"""Contexts to turns: which checkpoint a message comes before, and with which others it arrives.

What arrives together is never cut by a checkpoint, nor by the place at which a question is asked.
"""

from collections.abc import Iterator, Sequence

from memflow.benchmarks.comem.config import Parameters
from memflow.benchmarks.comem.contexts import Context, Line
from memflow.benchmarks.comem.truncation import indices, visible
from memflow.records import Turn
from memflow.tokens import estimate


def turns_of(domain: str, context: Context, parameters: Parameters) -> Iterator[Turn]:
    """The messages of a context as rows, up to its last checkpoint."""
    reached = indices(context, parameters)
    for event, (first, end) in enumerate(_arrivals(context, parameters)):
        for place in range(first, end):
            line = context.lines[place]
            yield Turn(
                domain=domain,
                episode_id=context.context_id,
                checkpoint=next(number for number, index in enumerate(reached) if place < index),
                event=event,
                position=place - first,
                message_id=context.message_id(place),
                kind="given",
                role=line.role,
                speaker=line.speaker,
                text=line.text,
                sent_at=line.sent_at,
                reason=line.reason or context.reason,
            )


def _arrivals(context: Context, parameters: Parameters) -> Iterator[tuple[int, int]]:
    """Where each arrival begins and ends."""
    asked_at = {index for asked in context.asked for index in visible(context, asked, parameters)}
    cuts = asked_at | set(indices(context, parameters))
    last, first = indices(context, parameters)[-1], 0
    for place in range(1, last + 1):
        together = context.lines[first : place + 1]
        if place in cuts or place == last or not _joins(together, parameters):
            yield first, place
            first = place


def _joins(together: Sequence[Line], parameters: Parameters) -> bool:
    """Whether the last of these lines arrives with those before it."""
    before, line = together[-2], together[-1]
    if parameters.arrivals == "message" or line.session != before.session:
        return False
    if parameters.arrivals == "pair":
        return len(together) == 2 and (before.role, line.role) == ("user", "assistant")
    if parameters.arrivals == "session":
        return True
    # As memories see them, with whoever says each: what is a chunk here is one to those that cut for themselves.
    return (
        sum(estimate(f"{each.speaker or each.role}: {each.text}") for each in together)
        <= parameters.arrival_tokens
    )
