"""Conversion of a context to turns. Each turn has its checkpoint and its event (a batch of messages written at once).

No checkpoint and no question lies inside a batch.
"""

from collections.abc import Iterator, Sequence

from memflow.benchmarks.comem.config import CoMemConfig
from memflow.benchmarks.comem.contexts import Context, ContextMessage, truncation_indices, visible_counts
from memflow.records import Turn
from memflow.tokens import estimate


def make_turns(domain: str, context: Context, config: CoMemConfig) -> Iterator[Turn]:
    """Yield the messages of a context as rows of utterance.turns, up to the last checkpoint."""
    reached = truncation_indices(context, config)
    for event, (first, end) in enumerate(_batches(context, config)):
        for place in range(first, end):
            line = context.messages[place]
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


def _batches(context: Context, config: CoMemConfig) -> Iterator[tuple[int, int]]:
    asked_at = {index for asked in context.questions for index in visible_counts(context, asked, config)}
    cuts = asked_at | set(truncation_indices(context, config))
    last, first = truncation_indices(context, config)[-1], 0
    for place in range(1, last + 1):
        together = context.messages[first : place + 1]
        if place in cuts or place == last or not _joins_batch(together, config):
            yield first, place
            first = place


def _joins_batch(together: Sequence[ContextMessage], config: CoMemConfig) -> bool:
    """Return whether the last message joins the batch of the messages before it."""
    if config.arrivals == "message" or together[-1].session != together[-2].session:
        return False
    # Counted as memories count them, with the speaker, so that a batch here is one chunk there.
    return (
        sum(estimate(f"{each.speaker or each.role}: {each.text}") for each in together)
        <= config.arrival_tokens
    )
