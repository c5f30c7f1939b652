"""Seeded sampling of the items of an annotation sheet, stratified by episode."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from memflow.annotation.sheet import Header, Sheet, Unit, make_sheet
from memflow.benchmarks.domain_names import DomainName
from memflow.errors import BadInput
from memflow.fingerprint import seeded


@dataclass(frozen=True)
class Candidate:
    """A unit of a domain that may be sampled for annotation, with the correct labels of its items if known."""

    unit: Unit
    key: Mapping[str, str] = field(default_factory=dict)


def draw(header: Header, candidates: Sequence[Candidate], count: int) -> tuple[Sheet, dict[str, str]]:
    """Return a sheet of `count` units (or all, if fewer), sampled with the header's seed, and its answer key.

    Units are drawn round-robin over episodes in random order, one random unit per episode and round. The order of the
    sheet is random too. Raises BadInput if there are no candidates.
    """
    if not candidates:
        raise BadInput(
            f"{header.domain} has no {header.units}, so no sheet of {header.kind} can be sampled. Run "
            "the domain with a larger --limit."
        )
    chance = random.Random(
        seeded("annotation", header.seed, DomainName.parse(header.domain).base, header.kind)
    )
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
