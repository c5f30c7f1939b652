"""The published score of an order of events, from the lines of a response.

Each line in order takes the first free event of the reference that a judge calls the same; blank lines and headings are
lines, too. A line that is equal to an event counts as that event even if the judge says no. Ranks are compared over the
events and the unmatched lines, by Kendall's tau-b; what a list lacks has the rank after all.
"""

import math
from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple

SameEvent = Callable[[str, str], Awaitable[bool]]
"""Returns whether an event of the reference and a line of the response are the same event."""
NO_INFORMATION_LINES = ("I do not have information about this.",)
HEADING_LINES = ("Here is the order:", "")


class OrderValues(NamedTuple):
    """The published values of an order. `tau` is (tau-b + 1) / 2, and NaN where the reference has one event."""

    precision: float
    recall: float
    f1: float
    tau: float

    @property
    def product(self) -> float:
        """Tau x F1: what the published code computes and does not report."""
        return self.tau * self.f1


def response_lines(response: str) -> list[str]:
    """Return the lines of a response as the published code splits them; an empty response is one empty line."""
    return response.split("\n")


async def align(reference: Sequence[str], lines: Sequence[str], same: SameEvent) -> list[str]:
    """Return the lines, each matched line replaced by its event of the reference. One call at a time, as published."""
    used: set[int] = set()
    aligned = []
    for line in lines:
        match = None
        for index, event in enumerate(reference):
            if index not in used and await same(event, line):
                match = index
                break
        if match is not None:
            used.add(match)
        aligned.append(line if match is None else reference[match])
    return aligned


def order_values(reference: Sequence[str], aligned: Sequence[str]) -> OrderValues:
    """Return the values of aligned lines. A repeated event costs no precision, and has its last rank."""
    from scipy.stats import kendalltau  # noqa: PLC0415  (half a second, which listing domains does not need)

    events, given = set(reference), set(aligned)
    both = len(events & given)
    extra = sum(line not in events for line in aligned)
    missing = sum(event not in given for event in reference)
    precision = both / (both + extra) if both + extra else 0.0
    recall = both / (both + missing) if both + missing else 0.0
    f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    union = list(dict.fromkeys((*reference, *aligned)))
    ranks = [_ranks(union, items) for items in (reference, aligned)]
    tau = float(kendalltau(*ranks).statistic) if len(union) > 1 else math.nan
    return OrderValues(precision, recall, f1, (tau + 1) / 2)


def _ranks(union: Sequence[str], items: Sequence[str]) -> list[int]:
    rank = {item: position for position, item in enumerate(items, 1)}
    return [rank.get(item, len(union) + 1) for item in union]


def constant_values(reference: Sequence[str]) -> dict[str, OrderValues]:
    """Return the values of two constant answers by name: `no_information`, and `heading`, a heading before the gold."""
    return {
        "no_information": order_values(reference, NO_INFORMATION_LINES),
        "heading": order_values(reference, [*HEADING_LINES, *reference]),
    }
