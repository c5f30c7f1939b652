"""Bounds of an output type that follow one request."""

import json
from typing import Any

import pytest
from pydantic import ValidationError

from memflow.chat.asking import parse_completion
from memflow.chat.limits import ItemReport
from memflow.chat.loops import loop_of
from memflow.chat.prompts import load
from memflow.chat.request_bounds import BoundedOutput, bound_prompt
from memflow.chat.requests import Completion, schema_digest, schema_of
from memflow.memories.mem0.answers import Decisions, Facts

EXTRACT, DECIDE = load("memflow.memories.mem0", "extract"), load("memflow.memories.mem0", "decide")


def bounded(characters: int = 100, messages: int = 2) -> Any:
    fields = {"messages": "x" * characters}
    return bound_prompt(EXTRACT, fields, {"messages": messages}).output


def test_schema_has_the_numbers_and_the_lengths_of_the_request() -> None:
    schema = schema_of(bounded())
    fact = schema["$defs"]["Fact"]["properties"]
    assert fact["messages"] | {"title": ""} == {
        "items": {"maximum": 2, "minimum": 1, "type": "integer"},
        "maxItems": 2,
        "minItems": 1,
        "title": "",
        "type": "array",
    }
    assert fact["text"]["maxLength"] == 2_048 and schema["properties"]["facts"]["maxItems"] == 32
    assert schema["additionalProperties"] is False and schema["required"] == ["facts"]


def test_similar_requests_share_a_schema_and_the_base_type_keeps_its_own() -> None:
    assert bounded(100) is bounded(1_000) and bounded(1_000) is not bounded(2_000)
    assert schema_digest(bounded(100, 1)) != schema_digest(bounded(100, 2))
    assert schema_of(Facts)["$defs"]["Fact"]["properties"]["messages"]["maxItems"] == 200


def test_bounds_never_exceed_those_of_the_base_and_never_contradict_its_minimum() -> None:
    wide = schema_of(bounded(10**6))["$defs"]["Fact"]["properties"]
    assert wide["text"]["maxLength"] == 8_000
    none = schema_of(bounded(100, 0))["$defs"]["Fact"]["properties"]["messages"]
    assert (none["minItems"], none["maxItems"], none["items"]["maximum"]) == (1, 1, 1)


def test_values_are_those_of_the_base_and_texts_at_their_bound_are_reported() -> None:
    report = ItemReport()
    value = {"facts": [{"text": "y" * 2_048, "messages": [1]}]}
    answer, wrong = parse_completion(Completion(json.dumps(value)), bounded(), report)
    assert isinstance(answer, Facts) and wrong == "" and report.at_limit == ["text has 2,048 characters"]
    with pytest.raises(ValidationError):
        bounded().model_validate({"facts": 1})


def test_cut_answer_that_counts_beyond_the_request_is_a_loop() -> None:
    decisions: Any = BoundedOutput(Decisions, 256, {"fact": 2, "memory": 1, "decisions": 3})
    decision = {"fact": 1, "operation": "ADD", "memory": 0, "replaces": False, "text": "The cello is new"}
    within = json.dumps({"decisions": [decision, decision | {"fact": 2}]})[:-20]
    beyond = json.dumps({"decisions": [decision, decision | {"fact": 3}]})[:-20]
    assert loop_of(within, decisions) == ""
    assert loop_of(beyond, decisions) == "items of `fact` beyond those of the request"
    many = json.dumps({"decisions": [decision] * 4})[:-20]
    assert loop_of(many, decisions) == "items of `decisions` beyond those of the request"
    assert loop_of("no JSON", decisions) == ""


def test_prompt_for_text_has_no_bounds() -> None:
    text = load("memflow.chat", "again")
    assert bound_prompt(text, {"wrong": "x"}, {}) is text
