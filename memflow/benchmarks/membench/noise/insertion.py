"""Insertion of noise units between sessions or messages until a trajectory has its target length (paper, section 4).

The noise of a trajectory depends only on the domain's seed, the trajectory's id and messages, and the pool of units.
"""

import random
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from memflow.benchmarks.domains import Domain
from memflow.benchmarks.episodes import arrivals
from memflow.benchmarks.membench.config import Parameters, parameters_of
from memflow.benchmarks.membench.noise.conflicts import find_conflict, forbidden_phrases, normalize
from memflow.benchmarks.membench.noise.synthetic import NoiseUnit, synthetic_units
from memflow.benchmarks.membench.published.noise import published_units
from memflow.benchmarks.membench.turns import NOISE, Step, session_of
from memflow.errors import BadInput
from memflow.fingerprint import seeded
from memflow.records import Entity, Probe, Record, Turn
from memflow.tokens import estimate


@dataclass(frozen=True)
class NoiseDraw:
    """The noise units drawn for a trajectory, how often each was drawn before, and the number of skipped units."""

    units: tuple[tuple[NoiseUnit, int], ...]
    passed_over: int


def insert_noise(
    domain: Domain,
    turns: Sequence[Turn],
    pool: Sequence[NoiseUnit],
    forbidden: Mapping[str, Collection[str]] | None = None,
) -> list[Turn]:
    """Return the turns with noise, so that each trajectory has `noise_tokens` tokens or less than one unit more.

    Tokens are memflow.tokens.estimate of the message texts. Trajectories that are long enough or not played stay
    unchanged. Real messages keep their order, ids and all fields except the event number. Their positions among all
    units are a uniformly drawn subset. Noise has no time and no place. `forbidden` maps each trajectory to the phrases
    that noise must not contain.

    Raises BadInput if the pool is invalid or if every unit contains a forbidden phrase.
    """
    parameters = parameters_of(domain)
    units = NoisePool(pool)
    said: dict[str, list[Turn]] = {}
    for turn in turns:
        said.setdefault(turn.episode_id, []).append(turn)
    found: list[Turn] = []
    for name, messages in said.items():
        chance = random.Random(seeded(domain.seed, NOISE, name))
        real = _units(parameters, messages)
        played = [turn for turn in messages if turn.reason is None]
        missing = parameters.noise_tokens - sum(estimate(turn.text) for turn in played) if played else 0
        drawn = units.draw(name, missing, (forbidden or {}).get(name, ()), chance)
        found.extend(_merge_events(messages[0], real, drawn, chance))
    return found


def _units(parameters: Parameters, turns: Sequence[Turn]) -> list[list[list[Turn]]]:
    """Return groups of messages that noise does not separate: one step, or all consecutive steps of one session."""
    steps = list(arrivals(turns))
    if parameters.noise_between == "messages":
        return [[step] for step in steps]
    return [list(group) for _, group in groupby(steps, key=lambda step: session_of(step[0].message_id))]


def _merge_events(
    first: Turn, real: Sequence[list[list[Turn]]], drawn: NoiseDraw, chance: random.Random
) -> Iterator[Turn]:
    """Yield the messages of a trajectory together with its noise units, with events numbered from 0."""
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


def _messages(
    first: Turn, unit: NoiseUnit, again: int, number: int, step: Step, event: int
) -> Iterator[Turn]:
    """Yield the rows of a noise step, based on the trajectory's first row. The id of a repeated unit has a suffix."""
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


class NoisePool:
    """Noise units with their token counts and normalized texts."""

    def __init__(self, pool: Sequence[NoiseUnit]) -> None:
        """Build the pool. Raises BadInput if two units share an id or if a unit is empty."""
        self._units: list[tuple[NoiseUnit, int, str]] = []
        seen: set[str] = set()
        for unit in pool:
            texts = [text for step in unit.steps for text in (step.user, step.assistant) if text is not None]
            tokens = sum(map(estimate, texts))
            if unit.unit_id in seen or "/" in unit.unit_id:
                raise BadInput(
                    f"the id of the noise unit {unit.unit_id!r} is a duplicate or contains a slash. Rename "
                    "the unit."
                )
            if not tokens:
                raise BadInput(f"the noise unit {unit.unit_id!r} is empty. Remove it from the pool.")
            seen.add(unit.unit_id)
            self._units.append((unit, tokens, _normalize_all(texts)))

    def draw(self, name: str, missing: int, forbidden: Collection[str], chance: random.Random) -> NoiseDraw:
        """Return randomly drawn units with at least `missing` tokens in total, without units that conflict.

        No unit is drawn twice before all other units are drawn.
        """
        units: list[tuple[NoiseUnit, int]] = []
        passed_over = again = 0
        while missing > 0:
            before = len(units)
            for unit, tokens, said in chance.sample(self._units, len(self._units)):
                if missing <= 0:
                    break
                if find_conflict(said, forbidden) is not None:
                    passed_over += 1
                    continue
                units.append((unit, again))
                missing -= tokens
            if len(units) == before:
                raise BadInput(
                    f"{name}: each of the {len(self._units)} noise units contains a fact or an answer of the "
                    "trajectory. Use a larger pool, or set noise_tokens to 0."
                )
            again += 1
        return NoiseDraw(tuple(units), passed_over)


def _normalize_all(texts: Iterable[str]) -> str:
    # A line break between texts: no phrase runs from one into the next.
    return "\n".join(map(normalize, texts))


def lengthen(
    domain: Domain,
    records: Sequence[Record],
    turns: Sequence[Turn],
    probes: Sequence[Probe] = (),
    entities: Sequence[Entity] = (),
) -> list[Turn]:
    """Return the turns, with noise if the domain sets `noise_tokens`.

    Published noise is used if the records contain any, otherwise synthetic noise. Raises BadInput if all noise
    conflicts.
    """
    if not parameters_of(domain).noise_tokens:
        return list(turns)
    return insert_noise(
        domain, turns, noise_units(domain, records), forbidden_phrases(turns, probes, entities)
    )


def noise_units(domain: Domain, records: Sequence[Record]) -> tuple[NoiseUnit, ...]:
    """Return the noise units of a domain as a pool."""
    parameters = parameters_of(domain)
    published = published_units(records, parameters.scene)
    if published:
        return tuple(NoiseUnit(name, steps) for name, steps in published.items())
    return synthetic_units(parameters.scene, parameters.language, parameters.noise_tokens)
