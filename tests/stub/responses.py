"""The stub server's behaviors that change responses: the place of thoughts, and responses without an answer.

Each is a function that changes a Draft.
"""

from collections.abc import Callable, Mapping
from typing import Any

from stub.calls import Call, Draft

Change = Callable[[Draft, Call], None]


def _thoughts_in(field: str, wrap: Callable[[str], Any] = lambda thoughts: thoughts) -> Change:
    def change(draft: Draft, call: Call) -> None:
        if draft.thoughts:
            draft.message[field] = wrap(draft.thoughts)

    return change


def _in_tags(draft: Draft, call: Call) -> None:
    if draft.thoughts:
        end = "</think>\n\n" if draft.ends_thoughts else ""
        draft.content = f"<think>\n{draft.thoughts}\n{end}{draft.content}"


def _in_parts(draft: Draft, call: Call) -> None:
    parts = [{"type": "text", "text": draft.content}] if draft.content else []
    if draft.thoughts:
        inner = [{"type": "text", "text": draft.thoughts}]
        parts.insert(0, {"type": "thinking", "thinking": inner})
    draft.content = parts


def _endless(draft: Draft, call: Call) -> None:
    """Add thoughts up to the token limit, so that the response has no answer."""
    bound = call.bound or 4096
    draft.think(bound)
    draft.limit(bound)


def _refuses(draft: Draft, call: Call) -> None:
    draft.message["refusal"], draft.content = "I'm sorry, I cannot assist with that request.", None


def _filtered(draft: Draft, call: Call) -> None:
    draft.content, draft.finish = draft.content[: len(draft.content) // 2], "content_filter"


def _first_only(change: Change) -> Change:
    def of_first(draft: Draft, call: Call) -> None:
        if call.attempt == 0:
            change(draft, call)

    return of_first


def _error_in_200(draft: Draft, call: Call) -> None:
    draft.body = {"error": {"code": 502, "message": "Provider returned error"}}


def _no_choices(draft: Draft, call: Call) -> None:
    draft.body = {"id": "gen-0", "object": "chat.completion", "choices": []}


def _blank(draft: Draft, call: Call) -> None:
    draft.content = " " * 20


def _fenced(draft: Draft, call: Call) -> None:
    if draft.is_json:
        draft.content = f"```json\n{draft.content}\n```"


def _preamble(draft: Draft, call: Call) -> None:
    if draft.is_json:
        draft.content = f"Here is the JSON that you asked for:\n\n{draft.content}\n\nLet me know if it fits."


def _truncates(draft: Draft, call: Call) -> None:
    draft.prompt_tokens = min(draft.prompt_tokens, call.behavior.max_model_len or draft.prompt_tokens)


def _no_usage(draft: Draft, call: Call) -> None:
    draft.reports_usage = False


CHANGES: Mapping[str, Change] = {
    "thinks_too_long": _endless,
    "unclosed_think": _endless,
    "fenced": _fenced,
    "preamble": _preamble,
    "refuses": _refuses,
    "filtered": _filtered,
    "blank": _blank,
    "error_in_200": _error_in_200,
    "warming_up": _first_only(_no_choices),
    "truncates_silently": _truncates,
    "no_usage": _no_usage,
}
"""The behaviors by name, in the order in which they apply."""

THOUGHTS: Mapping[str, Change] = {
    "thinks_hidden": lambda draft, call: None,
    "thinks_in_field": _thoughts_in("reasoning_content"),
    "thinks_in_reasoning": _thoughts_in("reasoning"),
    "thinks_in_details": _thoughts_in(
        "reasoning_details", lambda thoughts: [{"type": "reasoning.text", "text": thoughts}]
    ),
    "thinks_in_tags": _in_tags,
    "thinks_in_parts": _in_parts,
    "thinks_too_long": _thoughts_in("reasoning_content"),
    "unclosed_think": _in_tags,
}
"""The places of thoughts by behavior. A server thinks if it has one of them."""
