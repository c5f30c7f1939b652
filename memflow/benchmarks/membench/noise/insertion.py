"""Insertion of noise units between sessions or messages until a trajectory has its target length (paper, section 4).

The noise of a trajectory depends only on the domain's seed, the trajectory's id and messages, and the pool of units.
"""

import random
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby

from memflow.benchmarks.domains import Domain
from memflow.benchmarks.episodes import arrivals
from memflow.benchmarks.membench.config import Parameters, parameters_of
from memflow.benchmarks.membench.noise.conflicts import find_conflict, forbidden_phrases, normalize
from memflow.benchmarks.membench.noise.synthetic import NoiseUnit, synthetic_units
from memflow.benchmarks.membench.turns import NOISE, Step, session_of
from memflow.errors import BadInput
from memflow.fingerprint import seeded
from memflow.records import Entity, Probe, Turn
from memflow.tokens import estimate


def lengthen(
    domain: Domain, turns: Sequence[Turn], probes: Sequence[Probe] = (), entities: Sequence[Entity] = ()
) -> list[Turn]:
    """Return the turns, with noise if the domain sets `noise_tokens`. Raises BadInput if all noise conflicts."""
    parameters = parameters_of(domain)
    if not parameters.noise_tokens:
        return list(turns)
    pool = synthetic_units(parameters.scene, parameters.language, parameters.noise_tokens)
    return insert_noise(domain, turns, pool, forbidden_phrases(turns, probes, entities))


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

    Raises BadInput if the units without a forbidden phrase are too few.
    """
    parameters = parameters_of(domain)
    # A line break between texts: no phrase runs from one into the next.
    texts = {unit.unit_id: "\n".join(map(normalize, unit.texts)) for unit in pool}
    said: dict[str, list[Turn]] = {}
    for turn in turns:
        said.setdefault(turn.episode_id, []).append(turn)
    found: list[Turn] = []
    for name, messages in said.items():
        chance = random.Random(seeded(domain.seed, NOISE, name))
        played = [turn for turn in messages if turn.reason is None]
        missing = parameters.noise_tokens - sum(estimate(turn.text) for turn in played) if played else 0
        units = []
        for unit in chance.sample(pool, len(pool)) if missing > 0 else ():
            if missing > 0 and find_conflict(texts[unit.unit_id], (forbidden or {}).get(name, ())) is None:
                units.append(unit)
                missing -= unit.tokens
        if missing > 0:
            raise BadInput(
                f"{name}: too many of the {len(pool)} noise units contain a fact or an answer of the trajectory. "
                "Set noise_tokens to 0."
            )
        found.extend(_merge_events(messages[0], _units(parameters, messages), units, chance))
    return found


def _units(parameters: Parameters, turns: Sequence[Turn]) -> list[list[list[Turn]]]:
    """Return groups of messages that noise does not separate: one step, or all consecutive steps of one session."""
    steps = list(arrivals(turns))
    if parameters.noise_between == "messages":
        return [[step] for step in steps]
    return [list(group) for _, group in groupby(steps, key=lambda step: session_of(step[0].message_id))]


def _merge_events(
    first: Turn, real: Sequence[list[list[Turn]]], noise: Sequence[NoiseUnit], chance: random.Random
) -> Iterator[Turn]:
    """Yield the messages of a trajectory together with its noise units, with events numbered from 0."""
    slots = len(real) + len(noise)
    places = set(chance.sample(range(slots), len(real)))
    of_real, of_noise = iter(real), iter(noise)
    event = 0
    for slot in range(slots):
        if slot in places:
            for step in next(of_real):
                yield from (replace(turn, event=event) for turn in step)
                event += 1
        else:
            unit = next(of_noise)
            for number, said in enumerate(unit.steps):
                yield from _messages(first, f"{unit.unit_id}.{number}", said, event)
                event += 1


def _messages(first: Turn, name: str, step: Step, event: int) -> Iterator[Turn]:
    """Yield the rows of a noise step, based on the trajectory's first row."""
    texts = [("user", step.user)] + ([("assistant", step.assistant)] if step.assistant is not None else [])
    for position, (role, text) in enumerate(texts):
        yield Turn(
            domain=first.domain,
            episode_id=first.episode_id,
            base=first.base,
            checkpoint=first.checkpoint,
            event=event,
            position=position,
            message_id=f"{first.episode_id}/{NOISE}/{name}{role[0]}",
            kind="given",
            role=role,
            text=text,
        )
