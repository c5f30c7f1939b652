"""Recorded requests of a small real model, replayed: what `ask` sends of them now.

The file has a JSON line per request (`request`, `response`, `status`, `seconds`), as a logging proxy writes them. It is
read from `smollm2_recorded` of the data folder MEMFLOW_DATA.
"""

import json
import os
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import pytest

from bench.answer_lengths import output_of
from memflow.chat.asking import ask
from memflow.chat.prompts import Prompt
from memflow.chat.requests import ChatRequest, Completion, Sampling, TokenBound

FILE = Path(os.environ.get("MEMFLOW_DATA", "data")) / "smollm2_recorded/smollm2_135m_requests.jsonl"


@dataclass
class RecordedChat:
    """A chat that answers by recorded completions, by the token limit of the request."""

    sampling: ClassVar = Sampling()
    bound: ClassVar = TokenBound()
    completions: dict[int, Completion]
    sent: list[Completion] = field(default_factory=list)

    async def complete(self, request: ChatRequest) -> Completion:
        self.sent.append(self.completions[request.sampling.max_tokens])
        return self.sent[-1]


def completion(record: dict[str, Any]) -> Completion:
    [choice], usage = record["response"]["choices"], record["response"]["usage"]
    end = "cut" if choice["finish_reason"] == "length" else "answered"
    tokens = (usage["prompt_tokens"], usage["completion_tokens"], 0, record["seconds"])
    return Completion(choice["message"]["content"] or "", choice["finish_reason"], *tokens, end=end)


@pytest.mark.skipif(not FILE.is_file(), reason=f"{FILE} is not there; set MEMFLOW_DATA")
async def test_no_recorded_loop_is_requested_at_twice_its_limit() -> None:
    groups: dict[str, dict[int, dict[str, Any]]] = {}
    for line in FILE.read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        body = record["request"]
        if record["status"] == 200:
            key = json.dumps([body["messages"], body.get("response_format")])
            groups.setdefault(key, {})[body["max_tokens"]] = record
    counts: Counter[str] = Counter()
    doubled = []
    for records in groups.values():
        body = records[min(records)]["request"]
        sections = tuple((each["role"], each["content"].replace("$", "$$")) for each in body["messages"])
        prompt = Prompt("recorded", (), output_of(body), "en", body["max_tokens"], None, sections, "")
        chat = RecordedChat({limit: completion(record) for limit, record in records.items()})
        await ask(chat, prompt, {}, attempts=1)  # type: ignore[arg-type]
        for when, answers in (("before", chat.completions.values()), ("now", chat.sent)):
            counts[f"requests {when}"] += len(answers)
            counts[f"completion tokens {when}"] += sum(answer.completion_tokens for answer in answers)
            counts[f"seconds {when}"] += int(sum(answer.latency_s for answer in answers))
        doubled += chat.sent[1:]
    assert len(groups) <= counts["requests now"] <= len(groups) + 1
    assert [answer.end for answer in doubled] == ["answered"], "what is requested again ends there"
    assert 2 * counts["completion tokens now"] < counts["completion tokens before"]
    assert counts["seconds now"] < 0.7 * counts["seconds before"]
