"""Small trajectories and pools of noise to weave, and what must hold of a weave, sentence by sentence."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from memflow.benchmarks.domains import Domain
from memflow.benchmarks.membench.noise.synthetic import NoiseUnit
from memflow.benchmarks.membench.turns import Step, is_noise, session_of
from memflow.records import Turn
from memflow.tokens import estimate

NAME = "observation/simple/roles/0"


def domain(tokens: int, between: str = "messages", seed: int = 42) -> Domain:
    parameters = {"scene": "observation", "noise_tokens": tokens, "noise_between": between}
    return Domain("longer", "membench", (), "A domain with noise", parameters, seed=seed)


def said(sessions: Sequence[int], name: str = NAME, rounds: bool = False) -> list[Turn]:
    """A trajectory with so many steps in each session; each says its own number."""
    steps = [session for session, length in enumerate(sessions) for _ in range(length)]
    return [
        Turn(
            domain="longer",
            episode_id=name,
            checkpoint=0,
            event=step,
            position=position,
            message_id=f"{name}/{session}.{step}{role[0]}",
            kind="given",
            role=role,
            text=f"{role} tells thing {step}",
            sent_at=f"time {step}",
        )
        for step, session in enumerate(steps)
        for position, role in enumerate(("user", "assistant") if rounds else ("user",))
    ]


def units(count: int, steps: int = 3, rounds: bool = False) -> list[NoiseUnit]:
    """A pool: its texts are 12 characters or a little more, so three tokens or four."""
    return [
        NoiseUnit(
            f"u{number}",
            tuple(
                Step(f"noise {number} {step} .", f"reply {number} {step} ." if rounds else None)
                for step in range(steps)
            ),
        )
        for number in range(count)
    ]


def tokens(turns: Sequence[Turn]) -> int:
    return sum(estimate(turn.text) for turn in turns)


def faults(
    of: Domain, before: Sequence[Turn], after: Sequence[Turn], pool: Sequence[NoiseUnit]
) -> Iterator[str]:
    """What is wrong with a weave of one trajectory."""
    real = [turn for turn in after if not is_noise(turn.message_id)]
    if [replace(turn, event=0) for turn in real] != [replace(turn, event=0) for turn in before]:
        yield "a real message is lost, changed or out of its order"
    places = [(turn.event, turn.position) for turn in after]
    events = [event for event, _ in groupby(place[0] for place in places)]
    if places != sorted(set(places)) or events != list(range(len(events))):
        yield "events are not numbered from 0 in their order"
    if len({turn.message_id for turn in after}) != len(after):
        yield "two messages have one id"
    runs = [
        (name, [turn.text for turn in run])
        for name, run in groupby(after, lambda turn: session_of(turn.message_id))
    ]
    noise = [(name, texts) for name, texts in runs if "/noise/" in name]
    whole = {
        unit.unit_id: [
            text for step in unit.steps for text in (step.user, step.assistant) if text is not None
        ]
        for unit in pool
    }
    if any(texts != whole[name.rpartition("/")[2].partition("~")[0]] for name, texts in noise):
        yield "a unit of noise is torn or changed"
    sessions = [name for name, _ in runs if "/noise/" not in name]
    if of.parameters["noise_between"] == "sessions" and len(sessions) != len(set(sessions)):
        yield "a session is parted"
    wanted = of.parameters["noise_tokens"]
    if tokens(after) < wanted:
        yield "the trajectory is too short"
    longest = max(sum(map(estimate, texts)) for texts in whole.values())
    if tokens(after) >= wanted + longest if noise else tokens(before) < wanted:
        yield "the trajectory is too long by a unit, or has no noise"
    if any(turn.sent_at or turn.exposes for turn in after if is_noise(turn.message_id)):
        yield "noise has a time"


def trial(number: int) -> tuple[Domain, list[Turn], list[NoiseUnit]]:
    """A domain, a trajectory and a pool of chance."""
    chance = random.Random(number)
    rounds = chance.random() < 0.5
    before = said(
        [chance.randint(1, 4) for _ in range(chance.randint(1, 5))], f"scene/simple/roles/{number}", rounds
    )
    pool = units(chance.randint(1, 9), chance.randint(1, 3), rounds)
    between = chance.choice(("sessions", "messages"))
    return domain(chance.randint(1, 90), between, chance.randint(0, 10)), before, pool
