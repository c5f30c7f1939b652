"""What the messages that a memory lost, or the queries that it did not answer, have in common.

The checks made the items themselves, with healthy neighbors for each, so that one split of one trait is enough.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence

Value = int | str | bool
Traits = Mapping[str, Value]
Phrases = Mapping[str, tuple[str, str]]
"""By trait, in order of preference: the phrases for both sides of a split. {} is replaced with the value. The sides are
more than and at most a number, with and without a property, of a value and of others."""
FAILING, WORKING = 0.8, 0.15
"""A split explains failures if at least this share fails on one side, and at most this share on the other."""


def concentration(items: Sequence[tuple[Traits, bool]], phrases: Phrases, side_size: int = 3) -> str:
    """Return where failures concentrate, in words, or an empty text.

    Each item has traits, and whether it is fine. A split needs `side_size` items on both sides.
    """
    best, text = (0.0, 0), ""
    for trait, phrases_of_sides in phrases.items():
        for value, side, is_inside in _splits([traits[trait] for traits, _ in items]):
            inside = [fine for traits, fine in items if is_inside(traits[trait])]
            outside = [fine for traits, fine in items if not is_inside(traits[trait])]
            if min(len(inside), len(outside)) < side_size:
                continue
            failing, other = _failing(inside), _failing(outside)
            quality = (round(failing - other, 3), inside.count(False))
            if failing >= FAILING and other <= WORKING and quality > best:
                best = quality
                rest = f"and {outside.count(False)} of {len(outside)} others"
                phrase = phrases_of_sides[side].format(f"{value:,}" if type(value) is int else value)
                text = f"{inside.count(False)} of {len(inside)} {phrase}, {rest}"
    return text


def _failing(fine: Sequence[bool]) -> float:
    return fine.count(False) / len(fine)


def _splits(values: Sequence[Value]) -> Iterator[tuple[Value, int, Callable[[Value], bool]]]:
    """Yield the splits of a trait: a value, which side of it, and a function that says whether a value is inside."""
    for value in sorted(set(values), key=lambda value: (str(type(value)), value)):
        if type(value) is int:
            yield value, 0, lambda other, value=value: other > value  # type: ignore[misc]
            yield value, 1, lambda other, value=value: other <= value  # type: ignore[misc]
        elif type(value) is bool:
            yield value, 0 if value else 1, lambda other, value=value: other is value  # type: ignore[misc]
        else:
            yield value, 0, lambda other, value=value: other == value  # type: ignore[misc]
            yield value, 1, lambda other, value=value: other != value  # type: ignore[misc]
