"""Shares of a partition: complete, in order, and without dividing what belongs together."""

from dataclasses import dataclass
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from memflow.run.play import Episode
from memflow.shares import WHOLE, Share


@dataclass(frozen=True)
class Row:
    episode_id: str
    number: int


counts = st.integers(1, 7)


def shares(count: int) -> list[Share]:
    return [Share(number, count) for number in range(count)]


@st.composite
def based_episodes(draw: st.DrawFn) -> list[Episode]:
    """Return episodes whose base, if any, is an earlier one."""
    found: list[Episode] = []
    for number in range(draw(st.integers(0, 20))):
        bases = st.sampled_from([None, *(episode.episode_id for episode in found)])
        found.append(Episode(f"e{number}", (), draw(bases)))
    return found


@given(st.lists(st.sampled_from("abc")), counts)
def test_shares_of_rows_contain_all_rows_in_order_and_do_not_divide_an_episode(names, count: int) -> None:
    rows = [Row(name, number) for number, name in enumerate(names)]
    parts = [share.of_rows(rows) for share in shares(count)]
    assert [row for part in parts for row in part] == rows
    ends = [(before[-1], after[0]) for before, after in pairwise(part for part in parts if part)]
    assert all(before.episode_id != after.episode_id for before, after in ends)


@given(based_episodes(), counts)
def test_shares_of_episodes_contain_all_episodes_in_order_and_each_with_its_base(episodes, count) -> None:
    parts = [share.of_episodes(episodes) for share in shares(count)]
    assert [episode for part in parts for episode in part] == episodes
    for part in parts:
        names = {episode.episode_id for episode in part}
        assert all(episode.base is None or episode.base in names for episode in part)


@given(st.lists(st.integers()), counts)
def test_shares_of_equal_items_differ_by_at_most_one_item(items, count: int) -> None:
    sizes = [len(share.of(items)) for share in shares(count)]
    assert sum(sizes) == len(items) and max(sizes) - min(sizes) <= 1


@given(st.integers(1, 300), counts)
def test_shares_of_a_limit_add_up_to_the_limit_if_every_share_can_have_a_request(limit, count) -> None:
    found = [share.of_limit(limit) for share in shares(count)]
    assert min(found) >= 1
    assert sum(found) == max(limit, count)


def test_undivided_step_has_all_items_and_the_whole_limit() -> None:
    assert WHOLE.of("abc") == ["a", "b", "c"]
    assert WHOLE.of_limit(64) == 64
