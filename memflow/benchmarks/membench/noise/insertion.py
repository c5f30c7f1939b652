"""Noise: talk of other matters between what a user says, until a trajectory has its length (paper, section 4).

Noise comes in units, a few steps that belong together, from a pool: published (published/noise.py) or of our own making
(grammar.py). Here units are drawn and put between whole sessions, or between messages. What they must not say is
conflicts.py. A trajectory's noise depends on the domain's seed, its own id and messages, and the pool alone.
"""

import random
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from memflow.benchmarks.domains import Domain
from memflow.benchmarks.episodes import arrivals
from memflow.benchmarks.membench.config import Parameters, parameters_of
from memflow.benchmarks.membench.noise.conflicts import conflict, plain
from memflow.benchmarks.membench.turns import NOISE, Step, session_of
from memflow.errors import BadInput
from memflow.fingerprint import seeded
from memflow.records import Turn
from memflow.tokens import estimate


@dataclass(frozen=True)
class Unit:
    """Steps of noise that belong together: rounds where two speak, messages where one is observed. Its id is unique in
    its pool, and holds no slash."""

    unit_id: str
    steps: tuple[Step, ...]


@dataclass(frozen=True)
class Draw:
    """The units drawn for a trajectory, each with how often it had been drawn before; and how many were passed over."""

    units: tuple[tuple[Unit, int], ...]
    passed_over: int


def woven(
    domain: Domain,
    turns: Sequence[Turn],
    pool: Sequence[Unit],
    forbidden: Mapping[str, Collection[str]] | None = None,
) -> list[Turn]:
    """The messages of every trajectory with noise among them, so that it has `noise_tokens` tokens at least, and less
    than that and its last unit.

    Tokens are memflow.tokens.estimate's of each text that a memory is given. A trajectory whose own messages are as
    long, or none of whose messages is played, stays as it is. Real messages keep their order, ids and all else but
    the number of their event; which places they have among real and noise units is a subset drawn uniformly. Noise has
    neither time nor place.

    `forbidden` are phrases, by trajectory, that its noise must not hold (conflicts.py). Raises BadInput where every
    unit of the pool holds one, and where the pool itself is no good.
    """
    parameters = parameters_of(domain)
    lot = Lot(pool)
    said: dict[str, list[Turn]] = {}
    for turn in turns:
        said.setdefault(turn.episode_id, []).append(turn)
    found: list[Turn] = []
    for name, held in said.items():
        chance = random.Random(seeded(domain.seed, NOISE, name))
        real = _units(parameters, held)
        played = [turn for turn in held if turn.reason is None]
        missing = parameters.noise_tokens - sum(estimate(turn.text) for turn in played) if played else 0
        drawn = lot.drawn(name, missing, (forbidden or {}).get(name, ()), chance)
        found.extend(_walk(held[0], real, drawn, chance))
    return found


def _units(parameters: Parameters, turns: Sequence[Turn]) -> list[list[list[Turn]]]:
    """What is not to be parted: each step, or each run of steps of one session."""
    steps = list(arrivals(turns))
    if parameters.noise_between == "messages":
        return [[step] for step in steps]
    return [list(held) for _, held in groupby(steps, key=lambda step: session_of(step[0].message_id))]


def _walk(
    first: Turn, real: Sequence[list[list[Turn]]], drawn: Draw, chance: random.Random
) -> Iterator[Turn]:
    """The messages of a trajectory, its units among those drawn, events numbered from 0."""
    slots = len(real) + len(drawn.units)
    places = set(chance.sample(range(slots), len(real)))
    of_real, of_noise = iter(real), iter(drawn.units)
    event = 0
    for slot in range(slots):
        if slot in places:
            for step in next(of_real):
                yield from (replace(turn, event=event) for turn in step)
                event += 1
        else:
            unit, again = next(of_noise)
            for number, said in enumerate(unit.steps):
                yield from _messages(first, unit, again, number, said, event)
                event += 1


def _messages(first: Turn, unit: Unit, again: int, number: int, step: Step, event: int) -> Iterator[Turn]:
    """A step of noise as rows like the trajectory's `first`. A unit that is there again has that in its id."""
    name = f"{unit.unit_id}~{again + 1}" if again else unit.unit_id
    texts = [("user", step.user)] + ([("assistant", step.assistant)] if step.assistant is not None else [])
    for position, (role, text) in enumerate(texts):
        yield Turn(
            domain=first.domain,
            episode_id=first.episode_id,
            base=first.base,
            checkpoint=first.checkpoint,
            event=event,
            position=position,
            message_id=f"{first.episode_id}/{NOISE}/{name}.{number}{role[0]}",
            kind="given",
            role=role,
            text=text,
        )


class Lot:
    """A pool to draw from: its units with their lengths in tokens and what they say, plainly."""

    def __init__(self, pool: Sequence[Unit]) -> None:
        """Raises BadInput where two units have one id, or one says nothing."""
        self._units: list[tuple[Unit, int, str]] = []
        seen: set[str] = set()
        for unit in pool:
            texts = [text for step in unit.steps for text in (step.user, step.assistant) if text is not None]
            tokens = sum(map(estimate, texts))
            if unit.unit_id in seen or "/" in unit.unit_id:
                raise BadInput(f"unit {unit.unit_id!r} of noise: the id is there twice, or holds a slash")
            if not tokens:
                raise BadInput(f"unit {unit.unit_id!r} of noise says nothing; leave it out of the pool")
            seen.add(unit.unit_id)
            self._units.append((unit, tokens, _plain(texts)))

    def drawn(self, name: str, missing: int, forbidden: Collection[str], chance: random.Random) -> Draw:
        """Units of at least `missing` tokens, drawn without replacement; those that conflict are passed over.

        When all have been drawn that may be, all may be drawn again.
        """
        units: list[tuple[Unit, int]] = []
        passed_over = again = 0
        while missing > 0:
            before = len(units)
            for unit, tokens, said in chance.sample(self._units, len(self._units)):
                if missing <= 0:
                    break
                if conflict(said, forbidden) is not None:
                    passed_over += 1
                    continue
                units.append((unit, again))
                missing -= tokens
            if len(units) == before:
                raise BadInput(
                    f"{name}: each of the {len(self._units)} units of noise there are holds what the trajectory tells"
                    " or asks for; give it a larger pool, or set noise_tokens to 0"
                )
            again += 1
        return Draw(tuple(units), passed_over)


def _plain(texts: Iterable[str]) -> str:
    # A line break between texts: no phrase runs from one into the next.
    return "\n".join(map(plain, texts))
