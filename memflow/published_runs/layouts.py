"""The positions of a benchmark's questions: names of conversations, and the questions of each that are scored apart.

Published files count the questions of a conversation with or without those that are scored apart (LoCoMo's
category 5); a layout converts both to the position in the published data.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from memflow.benchmarks.packaged import load_yaml

_NUMBER = re.compile(r"(\d{1,6})\D*$")


@dataclass(frozen=True)
class Layout:
    """The positions of the questions of each conversation, from 0 in the published order: `scored` and `apart`.

    `category_apart` is the category of the questions in `apart`, such as `5`.
    """

    scored: Mapping[str, Sequence[int]]
    apart: Mapping[str, Sequence[int]]
    category_apart: str = ""

    @classmethod
    def of_ids(cls, question_ids: Iterable[str], category_apart: str = "") -> "Layout":
        """Return the layout of questions named `conversation/qN`; positions without a question are `apart`."""
        scored: dict[str, list[int]] = {}
        for name in question_ids:
            conversation, _, number = name.rpartition("/q")
            scored.setdefault(conversation, []).append(int(number))
        apart = {name: sorted({*range(max(numbers) + 1)} - {*numbers}) for name, numbers in scored.items()}
        return cls(scored, apart, category_apart)

    def conversation(self, text: str, counts_from: int = 0) -> str | None:
        """Return the name of a conversation that a file names or numbers, or None for an unknown one."""
        if text in self.scored:
            return text
        number = _NUMBER.search(text)
        index = int(number[1]) - counts_from if number else -1
        return list(self.scored)[index] if 0 <= index < len(self.scored) else None

    def position(self, conversation: str, place: int, with_apart: bool) -> int | None:
        """Return the position of the question at `place`, from 0, of a list; None past its end.

        `with_apart`: the list has the questions scored apart, too.
        """
        positions = sorted([*self.scored[conversation], *(self.apart[conversation] if with_apart else ())])
        return positions[place] if place < len(positions) else None

    def has(self, conversation: str, position: int) -> bool:
        """Return whether a conversation has a question at a position."""
        return position in self.scored[conversation] or position in self.apart[conversation]


@cache
def layout_of(benchmark: str) -> Layout | None:
    """Return the layout of a benchmark's published data, or None for a benchmark whose questions have ids."""
    declared = load_yaml(__package__, "layouts.yaml").get(benchmark)
    if declared is None:
        return None
    apart = {
        name: [position for first, end in ranges for position in range(first, end)]
        for name, (_, ranges) in declared["conversations"].items()
    }
    scored = {
        name: sorted({*range(count)} - {*apart[name]})
        for name, (count, _) in declared["conversations"].items()
    }
    return Layout(scored, apart, str(declared["apart"]))
