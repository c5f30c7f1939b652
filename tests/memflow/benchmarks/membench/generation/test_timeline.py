"""Times increase by minutes within a session and by hours between sessions. Formatted times parse back."""

import random
from datetime import datetime, timedelta
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from memflow.benchmarks.membench.generation.timeline import SLEEPS, WAKES, sample_times

START = datetime(2024, 10, 1, 8, 0)
TALKS = st.lists(st.integers(0, 60), max_size=12)
SEEDS = st.integers(0, 2**40)


@given(TALKS, SEEDS)
def test_sampled_rounds_are_minutes_apart_and_sessions_are_hours_apart(sessions, seed):
    found = sample_times(sessions, "participation", START, random.Random(seed))
    assert [len(sessions_found) for sessions_found in found] == sessions
    sessions_found = [session for session in found if session]
    assert not sessions_found or sessions_found[0][0] == START
    for session in sessions_found:
        assert {after - before for before, after in pairwise(session)} <= {timedelta(minutes=1)}
        assert WAKES <= session[0].hour < SLEEPS
    for before, after in pairwise(sessions_found):
        assert timedelta(hours=1) <= after[0] - before[-1] <= timedelta(hours=36)
