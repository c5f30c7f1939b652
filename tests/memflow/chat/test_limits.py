"""Limits of output types: their sizes, and the acceptance of answers item by item."""

import json
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from bounded_types import assert_bounded
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from memflow.chat.asking import ask
from memflow.chat.limits import (
    ITEMS,
    TEXT,
    ItemReport,
    Items,
    Number,
    OptionalText,
    SomeItems,
    Text,
    drop_invalid_items,
    limit_output,
)
from memflow.chat.prompts import Prompt
from memflow.chat.requests import ChatRequest, schema_of
from memflow.chat.scripted import ScriptedChat


class Fact(BaseModel):
    """A fact."""

    label: Text
    lines: SomeItems[Number]
    note: OptionalText = ""


class Move(BaseModel):
    action: Literal["move"]
    text: Text


class Stop(BaseModel):
    action: Literal["stop"]


class Found(BaseModel):
    facts: Items[Fact]
    words: Items[Text] = Field(default_factory=list)
    moves: Items[Annotated[Move | Stop, Field(discriminator="action")]] = Field(default_factory=list)


FACT = {"label": "pet", "lines": [1]}
INVALID_FACTS = (
    None,
    "pet",
    {"label": "pet"},
    {"label": "", "lines": [1]},
    {"label": "x" * (TEXT.size + 1), "lines": [1]},
    {"label": "pet", "lines": []},
    {"label": "pet", "lines": ["first"]},
)


def parse(output: type[BaseModel], **answer: Any) -> tuple[Any, ItemReport]:
    report = ItemReport()
    return output.model_validate(answer, context=report), report


def test_limit_output_sets_all_limits_of_a_type_from_parameters() -> None:
    short = limit_output(Found, {"max_text": 7, "max_items": 3, "k": 5})
    assert_bounded(Found)
    assert_bounded(short)
    assert issubclass(short, Found)
    text = json.dumps(schema_of(short))
    assert str(TEXT.size) not in text and str(ITEMS.size) not in text
    resized = text.replace('"maxLength": 7', f'"maxLength": {TEXT.size}').replace(
        '"maxItems": 3', f'"maxItems": {ITEMS.size}'
    )
    assert resized == json.dumps(schema_of(Found))


@given(st.lists(st.one_of(st.integers(1, 99), st.sampled_from(INVALID_FACTS)), max_size=30))
def test_invalid_items_are_reported_and_all_other_items_are_accepted(drawn: Sequence[Any]) -> None:
    items = [FACT | {"label": str(each)} if isinstance(each, int) else each for each in drawn]
    found, report = parse(Found, facts=items)
    assert [fact.label for fact in found.facts] == [str(each) for each in drawn if isinstance(each, int)]
    assert len(report.failed) == sum(not isinstance(each, int) for each in drawn)


def test_reason_of_an_invalid_item_names_its_list_its_position_and_its_error() -> None:
    _, report = parse(
        limit_output(Found, {"max_text": 3}),
        facts=[FACT, {"label": "parrot", "lines": [1]}],
        moves=[{"action": "jump"}, {"action": "stop"}],
    )
    first, second = report.failed
    assert first == "facts, item 2: label: String should have at most 3 characters"
    assert second.startswith("moves, item 1: Input tag 'jump' found")


def test_invalid_item_of_an_inner_list_does_not_invalidate_the_outer_item() -> None:
    found, report = parse(Found, facts=[FACT | {"lines": [1, 0, 2]}, FACT, 5])
    assert [fact.lines for fact in found.facts] == [[1, 2], [1]]
    assert report.failed == [
        "facts, item 3: Input should be a valid dictionary or instance of Fact",
        "lines, item 2: Input should be greater than or equal to 1",
    ]


def test_list_above_its_limit_is_truncated_and_recorded_as_one_failure() -> None:
    found, report = parse(limit_output(Found, {"max_items": 2}), facts=[FACT] * 5)
    assert len(found.facts) == 2
    assert report.failed == ["facts: 3 items after the first 2"]
    assert report.at_limit == ["facts has 2 items"]


def test_texts_and_lists_as_long_as_their_limit_are_reported() -> None:
    _, report = parse(
        limit_output(Found, {"max_text": 3, "max_items": 2}), facts=[FACT, None], words=["a", "abc"], moves=[]
    )
    assert report.at_limit == [
        "facts has 2 items",
        "label has 3 characters",
        "words has 2 items",
        "words has 3 characters",
    ]
    _, report = parse(limit_output(Found, {"max_text": 4, "max_items": 2}), facts=[FACT])
    assert report.at_limit == []


def test_item_check_receives_earlier_accepted_items_and_removes_invalid_ones() -> None:
    found, report = parse(Found, facts=[FACT, FACT, FACT | {"label": "car"}], words=["pet", "cat"])

    def name(item: Fact | str) -> str:
        return item if isinstance(item, str) else item.label

    def check(item: Fact | str, accepted: Sequence[Fact | str]) -> str | None:
        return f"{name(item)} is known" if name(item) in map(name, accepted) else None

    drop_invalid_items(found, check, report)
    assert [fact.label for fact in found.facts] == ["pet", "car"] and found.words == ["cat"]
    assert report.failed == ["facts: pet is known", "words: pet is known"]


PROMPT = Prompt("test/find", (), Found, "en", None, None, (("user", "Find facts."),), "")


async def request(*answers: dict[str, Any]) -> tuple[Any, list[ChatRequest]]:
    """Return the result of `ask` for a model that gives these answers, and its requests."""
    waiting, seen = list(answers), []

    def handler(request: ChatRequest) -> str:
        seen.append(request)
        return json.dumps(waiting.pop(0))

    return await ask(ScriptedChat({PROMPT.name: handler}), PROMPT, {}), seen


async def test_answer_with_a_valid_item_is_accepted_without_another_request() -> None:
    answer, seen = await request({"facts": [FACT, None]})
    assert [fact.label for fact in answer.value.facts] == ["pet"] and len(seen) == 1
    [reason] = answer.failed
    assert reason.startswith("test/find: facts, item 2: ")


async def test_answer_with_invalid_items_only_is_requested_again_with_the_error() -> None:
    answer, seen = await request({"facts": [None]}, {"facts": [FACT]})
    assert [fact.label for fact in answer.value.facts] == ["pet"] and answer.failed == ()
    assert "facts, item 1: Input should be a valid dictionary" in seen[1].messages[-1].content
    answer, seen = await request(*[{"facts": [None]}] * 3)
    assert (answer.value, len(seen)) == (None, 3) and "facts, item 1" in answer.reason
