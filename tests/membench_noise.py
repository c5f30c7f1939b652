"""Small MemBench trajectories, pools of noise, and the properties that a trajectory with noise must have."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from factories import turn

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
    """Return a trajectory with `sessions[i]` steps in session i; the text of a step contains its number."""
    steps = [session for session, length in enumerate(sessions) for _ in range(length)]
    return [
        turn(
            domain="longer",
            episode_id=name,
            event=step,
            position=position,
            kind="given",
            role=role,
            message_id=f"{name}/{session}.{step}{role[0]}",
            text=f"{role} tells thing {step}",
            sent_at=f"time {step}",
        )
        for step, session in enumerate(steps)
        for position, role in enumerate(("user", "assistant") if rounds else ("user",))
    ]


def units(count: int, steps: int = 3, rounds: bool = False) -> list[NoiseUnit]:
    """Return a pool of noise whose texts have three or four tokens."""
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
    """Yield each violated property of one trajectory with noise."""
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
    if any(texts != whole[name.rpartition("/")[2]] for name, texts in noise):
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
    """Return a random domain, trajectory and pool of noise."""
    chance = random.Random(number)
    rounds = chance.random() < 0.5
    before = said(
        [chance.randint(1, 4) for _ in range(chance.randint(1, 5))], f"scene/simple/roles/{number}", rounds
    )
    pool = units(chance.randint(30, 40), chance.randint(1, 3), rounds)
    between = chance.choice(("sessions", "messages"))
    return domain(chance.randint(1, 90), between, chance.randint(0, 10)), before, pool
