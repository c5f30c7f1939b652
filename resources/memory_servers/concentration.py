"""What the messages that a memory lost, or the queries that it did not answer, have in common.

The checks made the items themselves, with healthy neighbors for each, so that one split of one trait is enough; health
(memflow/scoring/health) tests splits of real data.
"""

from collections.abc import Iterator, Mapping, Sequence

Value = int | str | bool
Traits = Mapping[str, Value]
FAILING, WORKING = 0.8, 0.15
"""A split explains failures if at least this share fails on one side, and at most this share on the other."""


def concentration(
    items: Sequence[tuple[Traits, bool]], phrases: Mapping[str, Sequence[str]], side_size: int = 3
) -> str:
    """Return where failures concentrate, in words, or an empty text.

    Each item has traits, and whether it is fine. A split needs `side_size` items on both sides. `phrases` has those of
    check_data.toml.
    """
    best, text = (0.0, 0), ""
    for trait, phrases_of_sides in phrases.items():
        for value, side, is_inside in _splits([traits[trait] for traits, _ in items]):
            inside = [fine for (_, fine), chosen in zip(items, is_inside, strict=True) if chosen]
            outside = [fine for (_, fine), chosen in zip(items, is_inside, strict=True) if not chosen]
            if min(len(inside), len(outside)) < side_size:
                continue
            failing, other = inside.count(False) / len(inside), outside.count(False) / len(outside)
            quality = (round(failing - other, 3), inside.count(False))
            if failing >= FAILING and other <= WORKING and quality > best:
                best = quality
                phrase = phrases_of_sides[side].format(f"{value:,}" if type(value) is int else value)
                rest = f"and {outside.count(False)} of {len(outside)} others"
                text = f"{inside.count(False)} of {len(inside)} {phrase}, {rest}"
    return text


def _splits(values: Sequence[Value]) -> Iterator[tuple[Value, int, list[bool]]]:
    """Yield the splits of a trait: a value, which of the phrases, and which values are on this side."""
    for value in sorted(set(values), key=lambda value: (str(type(value)), value)):
        if type(value) is bool:
            yield value, 0 if value else 1, [other is value for other in values]
            continue
        first = [other > value if type(value) is int else other == value for other in values]  # type: ignore[operator]
        yield value, 0, first
        yield value, 1, [not chosen for chosen in first]
