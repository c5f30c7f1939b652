"""The search of entries for a fact that a user took back."""

from collections.abc import Sequence

import numpy as np
import pytest

from memflow.memories.entries import EntryStore, Item, Vector
from memflow.memories.memory import FAILURE, InputType
from memflow.scoring.leaks import NO_EMBEDDER, RetractedFact, find_leaks, normalize


def _held(*texts: str, kind: str = "note", sources: Sequence[str] = ()) -> list[Item]:
    store = EntryStore()
    return [store.add(kind, text, sources=sources) for text in texts]


class _Topics:
    """An embedder: the two dimensions are the words of the topic sugar, and all others."""

    fingerprint, dimensions = "topics", 2

    async def embed(self, texts: Sequence[str], input_type: InputType | None = None) -> Vector:
        shares = [sum(word in text for word in ("sugar", "insulin")) / 2 for text in texts]
        return np.array([[share, (1 - share**2) ** 0.5] for share in shares], np.float32)


FACT = RetractedFact(
    "type 2 diabetes",
    ("My blood sugar needs insulin.",),
    ("My aunt has type 2 diabetes.",),
    (("metformin", "endocrinologist"),),
)


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("I have type 2 diabetes", "exact"),
        ("I have ＴＹＰＥ-two Diabetes!", "normalized"),
        ("It is diabetes, of type 2.", "normalized"),
        ("Her sugar, thus insulin. The sky is blue.", "paraphrase"),
        ("My aunt has type 2 diabetes. So it goes.", None),
        ("my aunt has TYPE 2 diabetes", None),
        ("prototype 2 diabetesX", None),
        ("metformin from the endocrinologist", "combined"),
        ("I like cats.", None),
    ],
)
async def test_entry_leaks_a_fact_in_a_form(text: str, form: str | None) -> None:
    [leak] = await find_leaks(_held(text, "Nothing here."), [FACT], _Topics())
    assert leak.form == form
    assert set(leak.entries) == ({"note-0"} if form else set())


async def test_two_entries_leak_the_parts_of_a_value_only_with_its_subject() -> None:
    fact = RetractedFact("14 March 1987", ("My birthday is on 14 March 1987.",))
    held = _held("Birthday: 14 March", "Year of the birthday is 1987", "The shop opened on 14 March")
    [leak] = await find_leaks(held, [fact])
    assert leak.combined == (("note-0", "note-1"),) and leak.form == "combined"
    assert leak.paraphrase is None and leak.reason == NO_EMBEDDER


async def test_request_itself_leaks_only_if_it_names_the_value() -> None:
    asked = _held("Forget that my sugar needs insulin.", "Forget type 2 diabetes.", sources=["u/9"])
    [leak] = await find_leaks(asked, [FACT], _Topics(), request_ids=["u/9"])
    assert leak.entries == ("note-1",)
    [other] = await find_leaks(asked, [FACT], _Topics())
    assert other.entries == ("note-1", "note-0")


async def test_records_of_failures_are_not_searched() -> None:
    [leak] = await find_leaks(_held("lost: type 2 diabetes", kind=FAILURE), [FACT], _Topics())
    assert leak.form is None and leak.paraphrase == ()


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("Three thousand two hundred and five!", "3205"),
        ("twenty-three, one two", "23 1 2"),
        ("我二十三岁，３万元", "我 23 岁 30000 元"),
        ("It costs 5.50", "it costs 5.50"),
    ],
)
def test_normalize_writes_numerals_in_digits(text: str, normal: str) -> None:
    assert normalize(text) == normal
