"""The lengths that a plan assumes, against recorded runs of real models, where MEMFLOW_DATA has them."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from bench.answer_lengths import ROLES, RecordedAnswer, lengths, recorded_answers
from memflow.chat.requests import ChatMessage, ChatRequest, Sampling
from memflow.run.answer_lengths import TEXT, RecordedUse, _lengths, expected_answer, prompt_tokens

DATA = Path(os.environ.get("MEMFLOW_DATA", "missing"))
REQUESTS = DATA / "smollm2_recorded/smollm2_135m_requests.jsonl"
RUNS = DATA / "amemgym_runs"
FACTOR = 1.5
NOTHING = RecordedUse()


def request(prompt: str = "p", output: str | None = None, limit: int = 8192, usual: int = 0) -> ChatRequest:
    kind = None if output is None else type(output, (BaseModel,), {})
    return ChatRequest(prompt, {}, (), Sampling(max_tokens=limit), kind, usual_tokens=usual)


@pytest.fixture(scope="module")
def answers() -> list[RecordedAnswer]:
    if not REQUESTS.is_file():
        pytest.skip("needs smollm2_recorded in MEMFLOW_DATA")
    return list(recorded_answers(REQUESTS))


@pytest.mark.parametrize("role", ["assistant", "memory", "judge", "simulator"])
def test_planned_tokens_of_each_role_are_within_a_factor_of_the_recorded_ones(role, answers):
    planned, actual = [0.0, 0.0], [0.0, 0.0]
    for answer in (answer for answer in answers if ROLES[answer.kind] == role):
        messages = tuple(ChatMessage(said["role"], said["content"]) for said in answer.body["messages"])
        limit = answer.body["max_tokens"]
        asked = request(output=None if answer.kind == TEXT else answer.kind, limit=limit)
        expected = expected_answer(asked, role, "m", "an answer", NOTHING)
        planned[0] += prompt_tokens(messages) * (1 + expected.retries)
        planned[1] += expected.tokens + expected.retries * expected.retry_tokens
        first, again = answer.spent(limit)
        actual[0] += answer.prompt_tokens * (1 + (again is not None))
        actual[1] += first + (again or 0)
    for of_plan, of_run in zip(planned, actual, strict=True):
        assert 1 / FACTOR <= of_plan / of_run <= FACTOR


def test_committed_lengths_are_those_of_the_recorded_answers(answers):
    for kind, role in ROLES.items():
        rows = lengths([answer for answer in answers if answer.kind == kind])
        assert {str(limit): row for limit, row in rows.items()} == _lengths()[role][kind]


def texts(kind: str, role: str) -> list[str]:
    """Return the texts of a role in the dialogues of a recorded AMemGym run."""

    def walk(value: Any) -> Iterator[str]:
        if isinstance(value, dict) and value.get("role") == role and "content" in value:
            yield value["content"]
        elif isinstance(value, dict | list):
            for item in value.values() if isinstance(value, dict) else value:
                yield from walk(item)

    files = sorted((RUNS / kind).glob("*/interactions_by_period.json"))
    return [text for file in files for text in walk(json.loads(file.read_text(encoding="utf-8")))]


def test_length_comes_from_the_ledger_then_the_prompt_then_the_role_then_the_scripted_text():
    def planned(asked: ChatRequest, role: str, model: str, text: str = "four") -> int:
        return expected_answer(asked, role, model, text, RecordedUse({("m", "p"): 7.2})).tokens

    assert planned(request(usual=100), "assistant", "m") == 8
    assert planned(request(usual=100), "assistant", "other") == 100
    assert planned(request(), "assistant", "other") == _lengths()["assistant"][TEXT]["256"][0]
    assert planned(request(), "annotator", "other", "x" * 40) == 10
    assert planned(request(output="Unknown"), "judge", "other", "x" * 40) == 20


def test_no_planned_answer_is_longer_than_the_limit_of_its_request():
    assert expected_answer(request(limit=64, usual=880), "assistant", "m", "x" * 4000, NOTHING).tokens == 64


def test_retries_come_from_the_ledger_of_the_role_then_from_the_recorded_limit():
    recorded = RecordedUse(retries={("m", "memory"): (0.4, 300.0)})

    def planned(model: str, limit: int) -> tuple[float, ...]:
        answer = expected_answer(request(output="Facts", limit=limit), "memory", model, "", recorded)
        return answer.retries, answer.retry_tokens

    assert planned("m", 128) == (0.4, 256), "a retry has twice the limit"
    assert planned("m", 512) == (0.4, 300)
    by_limit = _lengths()["memory"]["Facts"]
    assert by_limit["128"][1] > by_limit["256"][1]
    assert planned("other", 150) == tuple(by_limit["128"][1:])
    assert planned("other", 8192) == tuple(by_limit["512"][1:])
