"""Messages about unknown names."""

from memflow.suggestions import MOST_NAMES, MOST_SUGGESTIONS, unknown_name

MANY = [f"domain_{number:03}" for number in range(80)]


def test_message_suggests_at_most_three_similar_names_and_the_command() -> None:
    text = unknown_name("domain", "domain_01", MANY, "memflow domains")
    assert text.count("domain_") == 1 + MOST_SUGGESTIONS
    assert "Did you mean" in text and text.endswith("`memflow domains` lists all")


def test_message_lists_few_names_and_never_many_names() -> None:
    assert unknown_name("kind", "x", ["a", "b"]) == "there is no kind 'x'. Use one of: a, b"
    assert unknown_name("kind", "x", [], owner="the lake") == "the lake has no kind 'x'. There are none yet"
    assert len(unknown_name("domain", "zzz", MANY).split("domain_")) <= MOST_NAMES
