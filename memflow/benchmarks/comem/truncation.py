"""What of a context is visible at a checkpoint: its first messages, by share (paper, section 3.2.2).

Truncation indices are of the context and not of a question, but that a question which its source asks earlier sees
nothing that came after it (`ends`).
"""

import math

from memflow.benchmarks.comem.config import Parameters
from memflow.benchmarks.comem.contexts import Asked, Context


def indices(context: Context, parameters: Parameters) -> tuple[int, ...]:
    """How many messages have been said at each checkpoint, checkpoint 0 first: floor(share x messages)."""
    # Shares such as 0.29 are no binary numbers: 0.29 x 100 is a little less than 29.
    return (
        0,
        *(math.floor(share * len(context.lines) + 1e-9) for share in parameters.checkpoints),
    )


def visible(context: Context, asked: Asked, parameters: Parameters) -> tuple[int, ...]:
    """How many of the messages a question may be answered from at each checkpoint, checkpoint 0 first."""
    if parameters.ends == "context" or asked.end is None:
        return indices(context, parameters)
    return tuple(min(index, asked.end) for index in indices(context, parameters))
