"""Corrections of p values for several tests at once."""

from collections.abc import Sequence

from memflow.errors import BadInput


def holm(ps: Sequence[float]) -> list[float]:
    """Return the p values adjusted by Holm's step-down method, in the order of `ps`.

    Rejecting where an adjusted value is at most 5 % keeps the probability of any false alarm at 5 % or less, whatever
    the dependence between the tests (Holm, Scandinavian Journal of Statistics 6, 1979). Raises BadInput for a value
    outside 0 to 1.
    """
    if wrong := [p for p in ps if not 0 <= p <= 1]:
        raise BadInput(f"{wrong[0]} is no p value. Pass values from 0 to 1, without missing ones.")
    adjusted, highest = [0.0] * len(ps), 0.0
    for rank, index in enumerate(sorted(range(len(ps)), key=lambda index: ps[index])):
        highest = max(highest, min(1.0, (len(ps) - rank) * ps[index]))
        adjusted[index] = highest
    return adjusted
