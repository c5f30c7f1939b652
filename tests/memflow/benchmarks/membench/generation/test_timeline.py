"""Times increase by minutes within a session and by hours between sessions. Formatted times parse back."""

import random
from datetime import datetime, timedelta
from itertools import chain, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memflow.benchmarks.membench.generation.timeline import SLEEPS, WAKES, parse_time, sample_times
from memflow.errors import BadInput

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


@given(TALKS, SEEDS)
def test_sampled_times_of_observed_messages_are_1_to_36_hours_apart(sessions, seed):
    moments = chain.from_iterable(sample_times(sessions, "observation", START, random.Random(seed)))
    for before, after in pairwise(moments):
        assert timedelta(hours=1) <= after - before <= timedelta(hours=36)


def test_parse_time_rejects_text_in_another_format():
    with pytest.raises(BadInput, match="'tomorrow' is not a time such as 2024"):
        parse_time("tomorrow")
