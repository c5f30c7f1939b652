"""Formatting of multiple-choice options, and parsing of formatted options."""

from hypothesis import given
from hypothesis import strategies as st

from memflow.benchmarks.multiple_choice import lettered, unlettered


@given(st.lists(st.text(alphabet="abXY .\n", min_size=1, max_size=20), max_size=10))
def test_unlettered_returns_options_formatted_by_lettered(options):
    # A line that begins like the next option cannot be told from it.
    if not any("\n" in option and ". " in option for option in options):
        assert unlettered(lettered(options)) == tuple(options)
