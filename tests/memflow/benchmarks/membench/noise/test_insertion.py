"""Insertion of noise: messages keep their order, units and sessions stay contiguous, and the length is reached."""

from collections import Counter
from collections.abc import Callable, Sequence

import pytest
from membench_noise import NAME, domain, faults, said, tokens, trial, units

from memflow.benchmarks.domains import Domain
from memflow.benchmarks.membench.noise.conflicts import normalize
from memflow.benchmarks.membench.noise.insertion import insert_noise
from memflow.benchmarks.membench.noise.synthetic import NoiseUnit
from memflow.benchmarks.membench.turns import Step, is_noise
from memflow.errors import BadInput
from memflow.records import Turn

TRIALS = 2_000


def found(insert: Callable[[Domain, list[Turn], list[NoiseUnit]], list[Turn]], trials: int) -> Counter[str]:
    """Count the faults over random domains, trajectories and pools."""
    wrong: Counter[str] = Counter()
    for number in range(trials):
        of, before, pool = trial(number)
        wrong.update(faults(of, before, insert(of, before, pool), pool))
    return wrong


def order(turns: Sequence[Turn]) -> list[str]:
    return [turn.message_id for turn in turns]


def test_noise_insertion_keeps_message_order_and_units_and_adds_the_configured_tokens() -> None:
    assert found(insert_noise, TRIALS) == {}


def test_inserted_noise_is_equal_for_same_seed_and_differs_for_other_seed() -> None:
    before, pool = said([3, 3]), units(40)
    once, again = insert_noise(domain(200), before, pool), insert_noise(domain(200), before, pool)
    other = insert_noise(domain(200, seed=43), before, pool)
    assert once == again
    assert order(once) != order(other)


def test_positions_of_real_messages_among_noise_are_uniform() -> None:
    # Three real messages and three units: 20 ways to place them. Over 4,000 trajectories each comes 200 times,
    # and by chance the sum of squares stays below 50 (19 degrees of freedom) but once in 10,000 times.
    pool = units(3)
    turns = [turn for number in range(4_000) for turn in said([3], f"observation/simple/roles/{number}")]
    ways: dict[str, list[bool]] = {}
    for turn in insert_noise(domain(15 + 3 * 9), turns, pool):
        first_of_unit = is_noise(turn.message_id) and turn.message_id.endswith(".0u")
        if first_of_unit or not is_noise(turn.message_id):
            ways.setdefault(turn.episode_id, []).append(not first_of_unit)
    counts = Counter(map(tuple, ways.values()))
    assert len(counts) == 20
    assert sum((count - 200) ** 2 / 200 for count in counts.values()) < 50


def test_noise_units_with_forbidden_phrases_are_skipped_and_too_few_others_are_rejected() -> None:
    pool = [
        *units(4),
        NoiseUnit("bad", (Step("They moved to New York, NY."),)),
        NoiseUnit("zh", (Step("他说北京下雨了"),)),
    ]
    phrases = {NAME: (normalize("new york ny"), normalize("北京"))}
    long_enough = sum(unit.tokens for unit in pool[:4]) + tokens(said([1]))
    after = insert_noise(domain(long_enough), said([1]), pool, phrases)
    assert {turn.message_id.split("/noise/")[1].split(".")[0] for turn in after if is_noise(turn.message_id)} == {
        "u0", "u1", "u2", "u3",
    }  # fmt: skip
    with pytest.raises(BadInput, match="too many of the 6 noise units contain a fact or an answer"):
        insert_noise(domain(long_enough + 1), said([1]), pool, phrases)
