"""The lengths that a plan assumes, against recorded runs of real models, where MEMFLOW_DATA has them."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from memflow.chat.requests import ChatMessage, ChatRequest, Sampling
from memflow.run.answer_lengths import RecordedUse, answer_tokens, prompt_tokens

DATA = Path(os.environ.get("MEMFLOW_DATA", "missing"))
REQUESTS = DATA / "smollm2_recorded/smollm2_135m_requests.jsonl"
RUNS = DATA / "amemgym_runs"
ROLES = {
    "Choice": "assistant",
    "Facts": "memory",
    "Decisions": "memory",
    "Summary": "memory",
    "Label": "judge",
    "ReasonedLabel": "judge",
    "DraftQuestions": "simulator",
}
"""The roles of the recorded types of output; a text with at most 128 tokens is an assistant's, others a memory's."""
FACTOR = 1.5
NOTHING = RecordedUse()


def request(prompt: str = "p", output: str | None = None, limit: int = 8192, usual: int = 0) -> ChatRequest:
    kind = None if output is None else type(output, (BaseModel,), {})
    return ChatRequest(prompt, {}, (), Sampling(max_tokens=limit), kind, usual_tokens=usual)


def recorded() -> Iterator[tuple[str, dict[str, Any], dict[str, int]]]:
    """Yield the role, the request and the token counts of the server of each answered request."""
    for line in REQUESTS.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        usage = row["response"].get("usage") if row["status"] == 200 else None
        if usage and "messages" in row["request"]:
            kind = kind_of(row["request"])
            limit = row["request"]["max_tokens"]
            role = ROLES.get(kind or "", "assistant" if limit <= 128 else "memory")
            yield role, row["request"], usage


def kind_of(body: dict[str, Any]) -> str | None:
    return (body.get("response_format") or {}).get("json_schema", {}).get("name")


@pytest.mark.skipif(not REQUESTS.is_file(), reason="needs smollm2_recorded in MEMFLOW_DATA")
@pytest.mark.parametrize("role", ["assistant", "memory", "judge", "simulator"])
def test_planned_tokens_of_each_role_are_within_a_factor_of_the_recorded_ones(role: str):
    planned, actual = [0, 0], [0, 0]
    for of_role, body, usage in recorded():
        if of_role == role:
            messages = tuple(ChatMessage(said["role"], said["content"]) for said in body["messages"])
            asked = request(output=kind_of(body), limit=body["max_tokens"])
            planned[0] += prompt_tokens(messages)
            planned[1] += answer_tokens(asked, role, "m", "an answer", NOTHING)
            actual[0] += usage["prompt_tokens"]
            actual[1] += usage["completion_tokens"]
    for of_plan, of_run in zip(planned, actual, strict=True):
        assert 1 / FACTOR <= of_plan / of_run <= FACTOR


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
    ledger = RecordedUse({("m", "p"): 7.2})
    assert answer_tokens(request(usual=100), "assistant", "m", "four", ledger) == 8
    assert answer_tokens(request(usual=100), "assistant", "other", "four", ledger) == 100
    assert answer_tokens(request(), "assistant", "other", "four", ledger) == 18
    assert answer_tokens(request(), "annotator", "other", "x" * 40, ledger) == 10
    assert answer_tokens(request(output="Unknown"), "judge", "other", "x" * 40, ledger) == 20


def test_no_planned_answer_is_longer_than_the_limit_of_its_request():
    assert answer_tokens(request(limit=64, usual=880), "assistant", "m", "x" * 4000, NOTHING) == 64
