"""The stub server: answers that match the schema, request counts and simulated failures."""

import asyncio
import json
import random
import urllib.error
import urllib.request
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from profiles import examples
from pydantic import BaseModel, Field

from memflow.chat.requests import schema_of
from stub import Stub, StubBehavior, count_answers, stub_process
from stub.answers import random_instance


class Part(BaseModel):
    day: Annotated[str, Field(pattern=r"^\d{4}-\d{2}-\d{2}$")]
    key: Annotated[str, Field(pattern=r"^[a-z0-9_]{3,8}$")]
    kind: Literal["home", "work"]


class Whole(BaseModel):
    name: Annotated[str, Field(min_length=12, max_length=20)]
    parts: Annotated[list[Part], Field(min_length=1, max_length=3)]
    score: Annotated[int, Field(ge=1, lt=10)]
    share: Annotated[float, Field(gt=0, le=1)]
    sure: bool
    perhaps: Annotated[str, Field(max_length=5)] | None


@examples(50)
@given(st.integers())
def test_random_instance_matches_its_json_schema(seed: int) -> None:
    Whole.model_validate(random_instance(schema_of(Whole), random.Random(seed)))


def test_random_instance_rejects_an_unsupported_schema() -> None:
    with pytest.raises(ValueError, match="cannot generate a value of the schema"):
        random_instance({"type": "unheard of"}, random.Random(0))


def post(url: str, number: int, **more: Any) -> tuple[int, Any]:
    body = {"model": "stub", "messages": [{"role": "user", "content": f"question {number}"}], **more}
    request = urllib.request.Request(
        url + "/chat/completions", json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    try:
        with urllib.request.urlopen(request, timeout=5) as response:
            return response.status, json.load(response)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


async def test_stub_server_returns_the_same_answer_for_the_same_request() -> None:
    async with Stub() as stub:
        first = await asyncio.to_thread(post, stub.url, 1)
        again = await asyncio.to_thread(post, stub.url, 1)
        other = await asyncio.to_thread(post, stub.url, 2)
    assert first == again
    assert first != other
    assert stub.counts.asked == stub.counts.answered == 3


async def test_stub_server_fails_or_truncates_the_configured_share_of_requests(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    form = {"type": "json_schema", "json_schema": {"name": "x", "schema": schema_of(Whole)}}
    async with Stub(StubBehavior(fail=0.3, garble=0.3, log=str(log))) as stub:
        results = [await asyncio.to_thread(post, stub.url, n, response_format=form) for n in range(60)]
    statuses = [status for status, _ in results]
    assert {200, 429, 500} == set(statuses)
    assert stub.counts.failed == len(statuses) - statuses.count(200)
    assert sum(count_answers(log).values()) == statuses.count(200) == stub.counts.answered
    texts = [answer["choices"][0]["message"]["content"] for status, answer in results if status == 200]
    assert 0 < sum(not is_json(text) for text in texts) == stub.counts.garbled < len(texts)


def is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def test_stub_process_answers_requests_until_the_context_ends() -> None:
    with stub_process(dimensions=8) as url:
        assert post(url, 1)[0] == 200
    with pytest.raises(urllib.error.URLError):
        post(url, 1)
