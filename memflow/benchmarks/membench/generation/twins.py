"""Wrong options that are as plausible as the right one.

They are values of twins: entities of the same sort in other lives, drawn as the entity itself was drawn. So nothing
that a question states, and nothing about the options, makes one option likelier than another.
"""

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from itertools import islice

from memflow.benchmarks.membench.generation import values
from memflow.benchmarks.membench.generation.graph_sampling import sample_twin
from memflow.benchmarks.membench.generation.graphs import Node
from memflow.benchmarks.membench.generation.plans import PlanRequest
from memflow.benchmarks.membench.generation.vocabulary import OPTIONS
from memflow.errors import BadInput

_TWINS = 1000
"""Twins that are drawn at most. Values that take more are too few for a question."""
_DAY = datetime(2024, 1, 1)


def twins(request: PlanRequest, node: Node) -> Iterator[Node]:
    """Yield entities that another life may have in place of `node`. Raises BadInput after too many."""
    for _ in range(_TWINS):
        yield sample_twin(request.rng, request.parameters, node)
    raise BadInput(
        f"the vocabulary has fewer than {OPTIONS} values for a question about {node.name}. Add words, then rerun."
    )


def wrong_values(
    request: PlanRequest,
    node: Node,
    attribute: str,
    derive: Callable[[str], str] = str,
    count: int = OPTIONS - 1,
) -> tuple[str, ...]:
    """Return `count` other values of a node's attribute, after `derive`. Raises BadInput for too few words."""
    right = node[attribute]

    def distinct() -> Iterator[str]:
        seen = [derive(right)]
        for twin in twins(request, node):
            value = twin[attribute]
            if attribute == "email":
                value = "@".join((right.partition("@")[0], value.partition("@")[2]))
            if attribute == "time" and any(_confusable(value, other) for other in seen):
                continue
            if (value := derive(value)) not in seen:
                seen.append(value)
                yield value

    return tuple(islice(distinct(), count))


def _confusable(time: str, other: str) -> bool:
    """Return whether two times differ in form, or in whether the day of the message counts as the first day."""
    (first, first_later), (second, second_later) = (
        [values.resolve_time(text, _DAY + timedelta(days=days)) for days in (0, 1)] for text in (time, other)
    )
    return abs(first - second) == timedelta(days=1) or first_later - first != second_later - second
