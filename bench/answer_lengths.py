"""Lengths of the recorded answers of a real model, by role, output type and token limit, for answer_lengths.toml.

    python -m bench.answer_lengths SMOLLM2_135M_REQUESTS.JSONL

The file has a JSON line per request (`request`, `response`, `status`), as a logging proxy writes them. Each answer is
counted as a lower limit would have cut it. An answer that is cut and does not repeat itself is requested again with
twice the limit, as memflow does. Prints the mean tokens of first answers, the share of retries, and the mean tokens of
their answers.
"""

import json
import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memflow.chat.loops import loop_of
from memflow.chat.request_bounds import BoundedOutput
from memflow.memories.mem0.answers import Decisions
from memflow.run.answer_lengths import TEXT

ROLES = {
    "Choice": "assistant",
    TEXT: "assistant",
    "Facts": "memory",
    "Decisions": "memory",
    "Summary": "memory",
    "Label": "judge",
    "ReasonedLabel": "judge",
    "DraftQuestions": "simulator",
}
"""The roles of the recorded output types."""
LIMITS = (64, 128, 256, 512)
NUMBERED = re.compile(r"^\d+\. ", re.MULTILINE)


class RecordedOutput:
    """An output type with a recorded schema. Every JSON value is valid."""

    __name__ = "Recorded"

    def __init__(self, schema: dict[str, Any]) -> None:
        self.schema = schema

    def model_json_schema(self) -> dict[str, Any]:
        return self.schema

    def model_validate(self, value: Any, *, context: Any = None) -> Any:
        return value


@dataclass(frozen=True)
class RecordedAnswer:
    """The longest recorded answer to a request. `body` is the request with its lowest limit."""

    kind: str
    body: dict[str, Any]
    text: str
    prompt_tokens: int
    tokens: int
    complete: bool

    def spent(self, limit: int) -> tuple[int, int | None]:
        """Return the tokens of the answer at a limit, and those of a retry with twice the limit; None without one."""
        if self.tokens < limit or (self.tokens == limit and self.complete):
            return self.tokens, None
        is_loop = loop_of(self.text[: len(self.text) * limit // self.tokens], output_of(self.body))
        return limit, None if is_loop else min(self.tokens, 2 * limit)


def recorded_answers(path: Path) -> Iterator[RecordedAnswer]:
    """Yield the longest answer to each recorded chat request whose schema, if it has one, was enforced."""
    groups: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for line in path.read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        body = record["request"]
        if record["status"] == 200 and ("response_format" in body or output_of(body) is None):
            groups[json.dumps([body["messages"], body.get("response_format")])].append(record)
    for records in groups.values():
        records.sort(key=lambda record: int(record["request"]["max_tokens"]))
        body, response = records[0]["request"], records[-1]["response"]
        [choice], usage = response["choices"], response["usage"]
        yield RecordedAnswer(
            body["response_format"]["json_schema"]["name"] if "response_format" in body else TEXT,
            body,
            choice["message"]["content"] or "",
            usage["prompt_tokens"],
            usage["completion_tokens"],
            choice["finish_reason"] != "length",
        )


def output_of(body: dict[str, Any]) -> Any:
    """Return the output type of a request; the decisions of mem0 have the bounds of the lists that the prompt shows."""
    text = body["messages"][-1]["content"]
    if "response_format" in body:
        schema = body["response_format"]["json_schema"]["schema"]
    elif "JSON schema: " in text:
        schema = json.JSONDecoder().raw_decode(text.split("JSON schema: ")[1])[0]
    else:
        return None
    if "decisions" not in schema["properties"]:
        return RecordedOutput(schema)
    memories, facts = (len(NUMBERED.findall(part)) for part in text.split("New facts:"))
    return BoundedOutput(Decisions, 1024, {"fact": facts, "memory": memories, "decisions": facts + memories})


def lengths(answers: Sequence[RecordedAnswer]) -> dict[int, list[float]]:
    """Return the tokens of first answers, the retries per request and the tokens of their answers, by token limit.

    A limit is left out if it is above that of a cut answer, or has the values of the limit before it.
    """
    rows: dict[int, list[float]] = {}
    for limit in (
        limit for limit in LIMITS if all(each.complete or each.tokens >= limit for each in answers)
    ):
        spent = [answer.spent(limit) for answer in answers]
        retries = [tokens for _, tokens in spent if tokens is not None]
        mean = round(sum(tokens for tokens, _ in spent) / len(spent))
        row = [mean, round(len(retries) / len(spent), 2), round(sum(retries) / max(1, len(retries)))]
        if row not in [*rows.values()][-1:]:
            rows[limit] = row
    return rows


if __name__ == "__main__":
    answers = list(recorded_answers(Path(sys.argv[1])))
    for role in dict.fromkeys(ROLES.values()):
        print(f"\n[{role}]")
        for kind in (kind for kind, of in ROLES.items() if of == role):
            chosen = [answer for answer in answers if answer.kind == kind]
            rows = ", ".join(f"{limit} = {row}" for limit, row in lengths(chosen).items())
            print(f"{kind} = {{ {rows} }}  # {len(chosen)} requests")
