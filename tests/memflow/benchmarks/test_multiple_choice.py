"""A multiple choice as it is shown, and read again."""

from hypothesis import given
from hypothesis import strategies as st

from memflow.benchmarks.multiple_choice import lettered, unlettered


@given(st.lists(st.text(alphabet="abXY .\n", min_size=1, max_size=20), max_size=10))
def test_unlettered_reverts_lettered(options):
    # A line that begins like the next option cannot be told from it.
    if not any("\n" in option and ". " in option for option in options):
        assert unlettered(lettered(options)) == tuple(options)


def test_options_may_have_several_lines():
    assert unlettered("A. one\nmore\n\nB. two") == ("one\nmore\n", "two")
