"""The lengths of real models' requests and answers, for forecasts (answer_lengths.toml, and what a ledger recorded)."""

import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

from memflow.chat.requests import ChatMessage, ChatRequest
from memflow.tokens import estimate

FEWEST = 10
"""Recorded answers of a model to a prompt from which their mean counts, and requests from which its rate does."""
TEXT = "text"


@dataclass(frozen=True)
class RecordedUse:
    """What a ledger recorded of models: mean tokens of answers by model and prompt, and mean seconds by model."""

    tokens: Mapping[tuple[str, str], float] = field(default_factory=dict)
    seconds: Mapping[str, float] = field(default_factory=dict)


def prompt_tokens(messages: tuple[ChatMessage, ...]) -> int:
    """Return the estimated tokens of the messages of a request, with those that a chat template adds."""
    data = _lengths()
    return int(data["request"] + sum(data["message"] + estimate(message.content) for message in messages))


def answer_tokens(request: ChatRequest, role: str, model: str, text: str, recorded: RecordedUse) -> int:
    """Return the expected tokens of a model's answer to a request, given the scripted chat's `text`, within its limit.

    A text without a recorded length is as long as the scripted one.
    """
    lengths = _lengths()
    output_type = TEXT if request.output is None else request.output.__name__
    typical_length = (
        recorded.tokens.get((model, request.prompt))
        or request.usual_tokens
        or lengths["prompts"].get(request.prompt)
        or lengths.get(role, {}).get(output_type)
    )
    scripted_length = estimate(text)
    if request.output is not None:
        scripted_length *= lengths["structured"]  # real models write longer JSON than the scripted chat
    return min(math.ceil(typical_length or scripted_length), request.sampling.max_tokens)


@cache
def _lengths() -> dict[str, Any]:
    return tomllib.loads(files("memflow.run").joinpath("answer_lengths.toml").read_text(encoding="utf-8"))
