"""Exchange of speaker names: a permutation without fixed points, and its inverse."""

from hypothesis import assume, given
from hypothesis import strategies as st

from memflow.benchmarks.comem.contexts import Context, ContextMessage, ContextQuestion
from memflow.benchmarks.comem.sources.dialsim.names import NameMapping, rename_people

RING = NameMapping({"Ann": "Bo", "Bo": "Geller", "Geller": "Ann"})


def inverse(mapping: NameMapping) -> NameMapping:
    return NameMapping({new: old for old, new in mapping.instead.items()})


def test_speaker_names_are_replaced_only_as_whole_words():
    assert RING.text("Ann's Anna met BO and Mrs. Geller's bo.") == "Bo's Anna met GELLER and Mrs. Ann's bo."


known = st.sampled_from(["Ann", "BO", "Geller", "geller", "Mrs.", " ", "'s", "’s", "-", "_", "7", "ann"])
pieces = st.lists(st.one_of(known, st.text(max_size=4)))


@given(pieces, pieces)
def test_inverse_name_mapping_restores_every_text_and_option(one: list[str], other: list[str]):
    for exchange, back in ((RING.text, inverse(RING).text), (RING.option, inverse(RING).option)):
        assert back(exchange("".join(one))) == "".join(one)
        assume("".join(one) != "".join(other))
        assert exchange("".join(one)) != exchange("".join(other))


def test_rename_people_replaces_names_in_messages_speakers_and_questions():
    asked = ContextQuestion(
        "q", "Whose is Ann's?", ("Bo", "Mrs. geller", "I don't know."), 1, true_of=("Bo", "Mrs. Geller", "")
    )
    context = Context(
        "c", "d", (ContextMessage("Ann, hi!", "user", "Bo"), ContextMessage("?", "user")), (asked,)
    )
    new = rename_people(context, RING)
    assert [(line.speaker, line.text) for line in new.messages] == [("Geller", "Bo, hi!"), (None, "?")]
    assert new.questions[0].question == "Whose is Bo's?"
    assert new.questions[0].options == ("Geller", "Mrs. ann", "I don't know.")
    assert new.questions[0].true_of == ("Geller", "Mrs. Ann", "") and new.questions[0].answer == 1
    assert rename_people(new, inverse(RING)) == context
