"""The lengths of real models' requests and answers, for forecasts (answer_lengths.toml, and what a ledger recorded)."""

import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from memflow.chat.requests import ChatMessage, ChatRequest
from memflow.tokens import estimate

FEWEST = 10
"""Recorded answers of a model to a prompt from which their mean counts, and requests from which its rate does."""
TEXT = "text"


@dataclass(frozen=True)
class RecordedUse:
    """What a ledger recorded of models: mean tokens of first answers by model and prompt, and mean seconds by model.

    `retries` has the retries per first request, and the mean tokens of their answers, by model and role.
    """

    tokens: Mapping[tuple[str, str], float] = field(default_factory=dict)
    seconds: Mapping[str, float] = field(default_factory=dict)
    retries: Mapping[tuple[str, str], tuple[float, float]] = field(default_factory=dict)


class ExpectedAnswer(NamedTuple):
    """The expected tokens of a first answer, the retries per request, and the tokens of a retry's answer."""

    tokens: int
    retries: float
    retry_tokens: float


def prompt_tokens(messages: tuple[ChatMessage, ...]) -> int:
    """Return the estimated tokens of the messages of a request, with those that a chat template adds."""
    data = _lengths()
    return int(data["request"] + sum(data["message"] + estimate(message.content) for message in messages))


def expected_answer(
    request: ChatRequest, role: str, model: str, text: str, recorded: RecordedUse
) -> ExpectedAnswer:
    """Return the expected length of a model's answer to a request, within its limit, and the expected retries.

    A text without a recorded length is as long as the scripted chat's `text`. A retry has twice the limit.
    """
    lengths = _lengths()
    output_type = TEXT if request.output is None else request.output.__name__
    limit = request.sampling.max_tokens
    by_limit = {int(key): row for key, row in lengths.get(role, {}).get(output_type, {}).items()}
    nearest = min(by_limit, key=lambda key: abs(math.log(key / limit)), default=0)
    tokens, *retries = by_limit.get(nearest, (0, 0.0, 0.0))
    typical_length = (
        recorded.tokens.get((model, request.prompt))
        or request.usual_tokens
        or lengths["prompts"].get(request.prompt)
        or tokens
    )
    share, retry_tokens = recorded.retries.get((model, role), retries)
    scripted_length = estimate(text)
    if request.output is not None:
        scripted_length *= lengths["structured"]  # real models write longer JSON than the scripted chat
    expected = min(math.ceil(typical_length or scripted_length), limit)
    return ExpectedAnswer(expected, share, min(retry_tokens, 2 * limit))


@cache
def _lengths() -> dict[str, Any]:
    return tomllib.loads(files("memflow.run").joinpath("answer_lengths.toml").read_text(encoding="utf-8"))
