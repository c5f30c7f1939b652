"""Output types narrowed to a request: their patterns require the words that a message must contain."""

import re

from bounded_types import assert_bounded
from hypothesis import given
from hypothesis import strategies as st

from memflow.benchmarks.membench.answers import told_of
from memflow.chat.requests import schema_of


def matches(kind, text: str, side: str = "text") -> bool:
    """Return whether the schema of the type allows this text."""
    schema = schema_of(kind)["properties"][side]
    return len(text) <= schema["maxLength"] and re.search(schema.get("pattern", ""), text) is not None


def test_output_pattern_requires_all_words_of_the_request():
    kind = told_of("Ann's height is 161 cm.", ("161 cm", "Ann"))
    assert_bounded(kind)
    assert matches(kind, "You know, 161 cm is what Ann measures.")
    assert matches(kind, "Ann stands 161 cm tall.")
    assert not matches(kind, "Ann stands 160 cm tall.")
    assert not matches(kind, "She stands 161 cm tall.")


@given(
    st.lists(
        st.text("ab.*[(1 年\\|", min_size=1, max_size=8).map(str.strip).filter(bool), min_size=1, max_size=3
    )
)
def test_output_pattern_accepts_plain_sentence_with_any_required_words(words):
    plain = f"I say {' and '.join(words)}."
    assert matches(told_of(plain, tuple(words)), plain)
