"""Typed models of the responses of chat endpoints. replies.py interprets the responses.

The fields of an answer (choices, message, content) must have the documented types. Any other invalid field counts as
missing, so that an odd token count does not cost the answer.
"""

from typing import Annotated, Any

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)

MOST_TOKENS = 2**31 - 1
"""Maximum of a token count; a larger number is not a count."""


def _count(value: Any) -> int | None:
    """Return a token count given as an integer, a float or a string; None for anything else."""
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value) if 0 <= value <= MOST_TOKENS else None  # false for NaN


def _or_none(value: Any, validate: ValidatorFunctionWrapHandler) -> Any:
    try:
        return validate(value)
    except ValidationError:
        return None


_Count = Annotated[int | None, BeforeValidator(_count)]
_IF_VALID = WrapValidator(_or_none)
"""Validates an optional field; an invalid value counts as missing."""


class _Object(BaseModel):
    model_config = ConfigDict(extra="ignore")


class PromptDetails(_Object):
    """The parts of the prompt tokens."""

    cached_tokens: _Count = None


class CompletionDetails(_Object):
    """The parts of the completion tokens."""

    reasoning_tokens: _Count = None


class Usage(_Object):
    """The token counts of a response. DeepSeek counts cached tokens in `prompt_cache_hit_tokens`."""

    prompt_tokens: _Count = None
    completion_tokens: _Count = None
    total_tokens: _Count = None
    prompt_cache_hit_tokens: _Count = None
    prompt_tokens_details: Annotated[PromptDetails | None, _IF_VALID] = None
    completion_tokens_details: Annotated[CompletionDetails | None, _IF_VALID] = None


class Detail(_Object):
    """A piece of thoughts: of `reasoning_details` (OpenRouter), or of a thinking part (Mistral)."""

    text: Annotated[str | None, _IF_VALID] = None
    summary: Annotated[str | None, _IF_VALID] = None


DETAILS = TypeAdapter[str | list[Detail] | None](str | list[Detail] | None)
"""The type of a field with thoughts."""


class Part(_Object):
    """A part of a content that is a list."""

    type: Annotated[str | None, _IF_VALID] = "text"
    text: Annotated[str | None, _IF_VALID] = None
    thinking: Annotated[str | list[Detail] | None, _IF_VALID] = None


class Function(_Object):
    """The function of a tool call; `arguments` is JSON."""

    arguments: str


class ToolCall(_Object):
    """A tool call of a message."""

    function: Function


class Message(BaseModel):
    """The message of a choice. Fields that hold thoughts are in `model_extra`, since profiles name them."""

    model_config = ConfigDict(extra="allow")

    content: str | list[str | Part] | None = None
    refusal: Annotated[str | None, _IF_VALID] = None
    tool_calls: Annotated[list[ToolCall] | None, _IF_VALID] = None


class Choice(_Object):
    """A choice of a response."""

    message: Message
    finish_reason: Annotated[str | None, _IF_VALID] = None


class Response(_Object):
    """A chat completion, or an error."""

    error: Any = None
    choices: list[Choice] = Field(default_factory=list)
    usage: Annotated[Usage | None, _IF_VALID] = None
