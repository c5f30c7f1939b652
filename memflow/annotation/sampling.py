"""Drawing a sheet from all the units that could be on it: seeded, spread over episodes."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from memflow.annotation.sheet import Header, Sheet, Unit, make_sheet
from memflow.errors import BadInput
from memflow.fingerprint import seeded


@dataclass(frozen=True)
class Candidate:
    """A unit that may be drawn, and the right label of each of its items, where they have one."""

    unit: Unit
    key: Mapping[str, str] = field(default_factory=dict)


def draw(header: Header, candidates: Sequence[Candidate], count: int) -> tuple[Sheet, dict[str, str]]:
    """A sheet of `count` units, or of all where there are fewer, and its key.

    Episodes take turns in an order of chance, each giving one of its own at random, so that none is drawn more often
    than another by more than one while it has any left. The order in which units are shown is drawn as well. All
    depends on the header's seed alone. Raises BadInput where there is nothing to draw from.
    """
    if not candidates:
        raise BadInput(f"{header.domain} has no {header.units} to draw a sheet of {header.kind} from")
    chance = random.Random(seeded("annotation", header.seed, header.domain, header.kind))
    left: dict[str, list[Candidate]] = {}
    for candidate in candidates:
        left.setdefault(candidate.unit.episode, []).append(candidate)
    turns = sorted(left)
    chance.shuffle(turns)
    for mine in left.values():
        mine.sort(key=lambda candidate: candidate.unit.id)
    for episode in turns:
        chance.shuffle(left[episode])
    drawn: list[Candidate] = []
    while len(drawn) < min(count, len(candidates)):
        for episode in turns:
            if left[episode] and len(drawn) < count:
                drawn.append(left[episode].pop())
    chance.shuffle(drawn)
    key = {item: label for candidate in drawn for item, label in candidate.key.items()}
    told = header.model_copy(update={"drawn": len(drawn), "population": len(candidates), "keyed": bool(key)})
    return make_sheet(told, [candidate.unit for candidate in drawn]), key
