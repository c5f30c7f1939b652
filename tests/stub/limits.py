"""The stub server's behaviors that reject requests for limits: context windows, quotas, rates and filters.

Each is a function from a Call to a Rejection, or None. Statuses and messages are those of the named providers.
"""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

from stub.calls import Call, Rejection
from stub.rejections import Check


def _overflow(status: int, message: str, **more: Any) -> Check:
    def check(call: Call) -> Rejection | None:
        limit, tokens = call.behavior.max_model_len, call.tokens
        if not limit or tokens <= limit:
            return None
        return Rejection(status, message.format(limit=limit, tokens=tokens), **more)

    return check


def _quota(call: Call) -> Rejection | None:
    message = "You exceeded your current quota, please check your plan and billing details."
    return Rejection(429, message, "insufficient_quota", type="insufficient_quota")


def _filtered_prompt(call: Call) -> Rejection | None:
    message = "The response was filtered due to the prompt triggering the content management policy."
    return Rejection(400, message, "content_filter", "prompt")


def _waits(header: str, value: Callable[[], str]) -> Check:
    def check(call: Call) -> Rejection | None:
        if call.attempt:
            return None
        return Rejection(429, "Rate limit reached.", "rate_limit_exceeded", headers={header: value()})

    return check


LIMIT_CHECKS: Mapping[str, Check] = {
    "overflow_openai": _overflow(
        400,
        "Your input exceeds the limit of this model.",
        code="context_length_exceeded",
        param="messages",
    ),
    "overflow_vllm": _overflow(
        400, "This model's maximum context length is {limit} tokens; the prompt has {tokens}."
    ),
    "overflow_sglang": _overflow(
        400, "The input ({tokens}) is longer than the model's context length ({limit})."
    ),
    "overflow_llama_cpp": _overflow(
        400, "the request exceeds the available context size", type="exceed_context_size_error"
    ),
    "overflow_mistral": _overflow(400, "Prompt contains {tokens} tokens: input too large for the model"),
    "overflow_together": _overflow(422, "`inputs` tokens + `max_new_tokens` must be <= {limit}"),
    "overflow_moonshot": _overflow(400, "Invalid request: Your request exceeded model token limit: {limit}"),
    "overflow_gemini": _overflow(400, "The input token count ({tokens}) exceeds the maximum ({limit})."),
    "overflow_anthropic": _overflow(400, "prompt is too long: {tokens} tokens > {limit} maximum"),
    "overflow_groq": _overflow(400, "Please reduce the length of the messages or completion."),
    "overflow_413": _overflow(413, "Payload Too Large"),
    "quota": _quota,
    "filtered_prompt": _filtered_prompt,
    "waits_ms": _waits("retry-after-ms", lambda: "50"),
    "waits_seconds": _waits("Retry-After", lambda: "1"),
    "waits_date": _waits("Retry-After", lambda: format_datetime(datetime.now(UTC) + timedelta(seconds=2))),
}
"""The behaviors by name."""
