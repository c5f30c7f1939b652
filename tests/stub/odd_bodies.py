"""Odd bodies of chat completions, each with the outcome that a client must report. odd_responses.py has odd HTTP.

A name states the odd part of the response. An outcome is a value of memflow.chat.requests.End, or the name of an
exception of memflow.errors.
"""

import json
from collections.abc import Iterator
from typing import Any

from stub.odd_json import TEXT, Literal, completion, dump_json

LEVELS = 100_000
"""Levels of nesting that exceed every decoder's recursion limit."""
MEGABYTE = 2**20

OddBody = tuple[str, str, bytes]
"""A name, the outcome, and the body."""


def odd_bodies() -> Iterator[OddBody]:
    """Yield all odd bodies."""
    for name, outcome, value in _values():
        yield name, outcome, value if isinstance(value, bytes) else dump_json(value)


def _values() -> Iterator[tuple[str, str, Any]]:
    yield from _contents()
    yield from _messages_and_choices()
    yield from _roots()
    yield from _finish_reasons()
    yield from _usages()
    yield from _thoughts()
    yield from _errors()


def _contents() -> Iterator[tuple[str, str, Any]]:
    text = {"type": "text", "text": TEXT}
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}
    deep_list = Literal("[" * LEVELS + "]" * LEVELS)
    deep_object = Literal('{"a":' * LEVELS + "1" + "}" * LEVELS)
    contents: list[tuple[str, str, Any]] = [
        ("null", "blank", None),
        ("empty", "blank", ""),
        ("white space", "blank", " \n\t "),
        ("an integer", "broken", 4),
        ("a float", "broken", 4.5),
        ("a boolean", "broken", True),
        ("an object", "broken", {"text": TEXT}),
        ("NaN", "broken", Literal("NaN")),
        ("minus infinity", "broken", Literal("-Infinity")),
        ("a number of 5,000 digits", "broken", Literal("9" * 5000)),
        ("a float beyond doubles", "broken", Literal("1e999")),
        ("no parts", "blank", []),
        ("a text part", "answered", [text]),
        ("two text parts", "answered", [text, text]),
        ("a string as part", "answered", [TEXT]),
        ("an output_text part", "answered", [{"type": "output_text", "text": TEXT}]),
        ("a part without type", "answered", [{"text": TEXT}]),
        ("a part of type null", "blank", [{"type": None, "text": TEXT}]),
        ("a text part without text", "blank", [{"type": "text"}]),
        ("a text part with null", "blank", [{"type": "text", "text": None}]),
        ("a text part with a number", "blank", [{"type": "text", "text": 4}]),
        ("a thinking part and a text part", "answered", [thinking, text]),
        ("a thinking part alone", "blank", [thinking]),
        ("a thinking part with a string", "answered", [{"type": "thinking", "thinking": "Hm."}, text]),
        ("a thinking part with a number", "answered", [{"type": "thinking", "thinking": 4}, text]),
        ("a part of unknown type", "blank", [{"type": "image_url", "image_url": {"url": "x"}}]),
        ("a null part", "broken", [None]),
        ("a number as part", "broken", [4]),
        ("a list as part", "broken", [["text"]]),
        ("100,000 nested lists", "broken", deep_list),
        ("100,000 nested objects", "broken", deep_object),
        ("100,000 brackets in a string", "answered", "[" * LEVELS),
        ("an escaped NUL", "answered", Literal('"a\\u0000b"')),
        ("an unpaired high surrogate", "answered", Literal('"a\\ud83d b"')),
        ("an unpaired low surrogate", "answered", Literal('"a\\ude00 b"')),
        ("surrogates in the wrong order", "answered", Literal('"\\ude00\\ud83d"')),
        ("a surrogate in UTF-8", "broken", Literal('"a\ud83db"')),
        ("an emoji", "answered", "\U0001f600"),
        ("noncharacters and direction marks", "answered", "\ufffe\u202e\u200b answer"),
        ("terminal escapes", "answered", "\x1b[2J\x07 answer"),
        ("an invalid escape", "broken", Literal('"\\x41"')),
        ("a raw line feed", "answered", Literal('"a\nb"')),
        ("200,000 characters", "answered", "word " * 40_000),
        ("code", "answered", "import os; os.abort()"),
    ]
    for name, outcome, content in contents:
        yield f"content: {name}", outcome, completion({"content": content})
    missing = completion()
    del missing["choices"][0]["message"]["content"]
    yield "content: missing", "blank", missing
    yield (
        "content: a tool call",
        "blank",
        completion({"content": None, "tool_calls": [{"function": {"name": "f", "arguments": "{}"}}]}),
    )
    for name, outcome, refusal in (
        ("a sentence", "refused", "I cannot help with that."),
        ("empty", "answered", ""),
        ("null", "answered", None),
        ("a number", "answered", 4),
        ("a list", "answered", ["no"]),
    ):
        yield f"refusal: {name}", outcome, completion({"refusal": refusal})
    yield "refusal: without content", "refused", completion({"content": None, "refusal": "No."})


def _messages_and_choices() -> Iterator[tuple[str, str, Any]]:
    for name, message in (("a string", TEXT), ("a list", []), ("a number", 4), ("a boolean", False)):
        yield f"message: {name}", "broken", completion(message)
    yield "message: null", "broken", completion(choice={"message": None})
    yield "message: empty", "blank", completion(choice={"message": {}})
    yield "message: a delta instead", "broken", completion(choices=[{"delta": {"content": TEXT}}])
    yield "message: a text instead", "broken", completion(choices=[{"text": TEXT, "finish_reason": "stop"}])
    for name, choices in (
        ("null", None),
        ("empty", []),
        ("an object", {}),
        ("a string", TEXT),
        ("a number", 4),
        ("a null choice", [None]),
        ("a number as choice", [4]),
        ("a string as choice", [TEXT]),
        ("a list as choice", [[]]),
        ("an empty choice", [{}]),
    ):
        yield f"choices: {name}", "broken", completion(choices=choices)
    yield "choices: missing", "broken", {"id": "x", "object": "chat.completion"}
    yield "choices: two", "answered", completion(choices=completion()["choices"] * 2)


def _roots() -> Iterator[tuple[str, str, Any]]:
    whole = dump_json(completion())
    for name, body in (
        ("a list", b"[]"),
        ("null", b"null"),
        ("a string", b'"x"'),
        ("a number", b"4"),
        ("NaN", b"NaN"),
        ("empty object", b"{}"),
        ("nothing", b""),
        ("white space", b" \n "),
        ("100,000 levels", b"[" * LEVELS + b"]" * LEVELS),
        ("100,000 levels without an end", b'{"a":' * LEVELS),
        ("two completions", whole + whole),
        ("text after the JSON", whole + b"done"),
        ("text before the JSON", b"Here it is: " + whole),
        ("single quotes", whole.replace(b'"', b"'")),
        ("a trailing comma", whole[:-1] + b",}"),
        ("JSON in a JSON string", json.dumps(whole.decode()).encode()),
        ("UTF-16", whole.decode().encode("utf-16")),
        ("Latin-1", whole.replace(b"An answer", "caf\u00e9".encode("latin-1"))),
        ("zeros", bytes(4096)),
        ("HTML", b"<!DOCTYPE html><html><body>Sign in to the Wi-Fi</body></html>"),
        ("XML", b'<?xml version="1.0"?><error/>'),
        ("plain text", b"upstream connect error"),
        ("YAML", b"choices:\n- message: x\n"),
        ("server-sent events", b"data: " + whole + b"\n\ndata: [DONE]\n\n"),
        ("server-sent comments", b": OPENROUTER PROCESSING\n\n"),
        ("named server-sent events", b"event: ping\ndata: {}\n\n"),
        ("lines of JSON", whole + b"\n" + whole + b"\n"),
    ):
        yield f"body: {name}", "broken", body
    for at in range(1, 10):
        yield f"body: the first {at} tenths", "broken", whole[: len(whole) * at // 10]
    yield "body: with a byte order mark", "answered", b"\xef\xbb\xbf" + whole
    yield "body: with white space around", "answered", b"\n\n " + whole + b" \r\n"
    yield "body: with the same key twice", "answered", b'{"choices": null, ' + whole[1:]
    yield (
        "body: with 10,000 other keys",
        "answered",
        {**completion(), **{f"key {n}": n for n in range(10_000)}},
    )


def _finish_reasons() -> Iterator[tuple[str, str, Any]]:
    for reason in ("length", "MAX_TOKENS", "max_tokens", "model_length"):
        yield f"finish reason: {reason}", "cut", completion(choice={"finish_reason": reason})
    yield (
        "finish reason: length without text",
        "cut",
        completion({"content": None}, choice={"finish_reason": "length"}),
    )
    for reason in ("content_filter", "SAFETY", "RECITATION", "blocklist"):
        yield f"finish reason: {reason}", "filtered", completion(choice={"finish_reason": reason})
    yield "finish reason: refusal", "refused", completion(choice={"finish_reason": "refusal"})
    for reason in ("error", "abort", "insufficient_system_resource"):
        yield f"finish reason: {reason}", "broken", completion(choice={"finish_reason": reason})
    others: list[Any] = [
        None,
        "",
        "eos",
        "tool_calls",
        "\0",
        "stop" * 5000,
        4,
        4.5,
        True,
        [],
        {},
        Literal("NaN"),
    ]
    for value in others:
        yield f"finish reason: {str(value)[:12]!r}", "answered", completion(choice={"finish_reason": value})


def _usages() -> Iterator[tuple[str, str, Any]]:
    usages: list[Any] = [None, [], "many", 4, True, {}, {"prompt_tokens": 9}, {"tokens": 9}]
    for usage in usages:
        yield f"usage: {usage}", "answered", completion(usage=usage)
    literals = [Literal(text) for text in ("NaN", "Infinity", "1e999", "9" * 4000, "-0.0")]
    counts: list[Any] = [None, -1, 0, 1.5, True, "12", "x", "1e999", "", [], {}, [9], 2**31, 2**63, *literals]
    for count in counts:
        usage = dict.fromkeys(("prompt_tokens", "completion_tokens", "total_tokens"), count)
        yield f"usage: counts of {type(count).__name__} {str(count)[:9]}", "answered", completion(usage=usage)
    cached: list[Any] = [{"cached_tokens": "x"}, {"cached_tokens": -1}, {"reasoning_tokens": None}]
    for details in (None, [], "x", 4, *cached):
        usage = dict.fromkeys(("prompt_tokens_details", "completion_tokens_details"), details)
        yield f"usage: details {details}", "answered", completion(usage=usage)


def _thoughts() -> Iterator[tuple[str, str, Any]]:
    values: list[Any] = ["Hm.", "", None, 4, [], [None], [{"text": "Hm."}], [{"text": 4}], {"text": "Hm."}]
    for field in ("reasoning_content", "reasoning", "reasoning_details"):
        for value in values:
            yield f"thoughts: {field} {value}", "answered", completion({field: value})
        yield f"thoughts: {field} alone", "blank", completion({"content": None, field: "Hm."})
    for name, outcome, content in (
        ("before the answer", "answered", f"<think>Hm.</think>{TEXT}"),
        ("without an opening tag", "answered", f"Hm.</think>{TEXT}"),
        ("without a closing tag", "cut", f"<think>Hm. {TEXT}"),
        ("alone", "blank", "<think>Hm.</think>"),
        ("twice", "answered", f"<think>Hm.</think><think>So.</think>{TEXT}"),
        ("nested", "answered", f"<think><think>Hm.</think></think>{TEXT}"),
    ):
        yield f"thoughts: tags {name}", outcome, completion({"content": content})


def _errors() -> Iterator[tuple[str, str, Any]]:
    for name, outcome, error in (
        ("a string", "broken", "Provider returned error"),
        ("a list", "broken", ["Provider returned error"]),
        ("a number", "broken", 502),
        ("true", "broken", True),
        ("without a code", "broken", {"message": "Provider returned error"}),
        ("with code 429", "ChatError", {"message": "Rate limited", "code": 429}),
        ("with code 502", "ChatError", {"message": "Bad gateway", "code": 502}),
        ("with code 503 as text", "ChatError", {"message": "Overloaded", "code": "503"}),
        ("with a code of 400 digits", "broken", {"message": "x", "code": "5" * 400}),
        ("with code 400", "RequestRefused", {"message": "Invalid request", "code": 400}),
        ("with code 401", "ModelMisconfigured", {"message": "No auth credentials found", "code": 401}),
        ("with code 402", "QuotaExhausted", {"message": "Insufficient credits", "code": 402}),
        ("about the context", "PromptTooLong", {"message": "maximum context length is 9", "code": 400}),
        ("about the filter", "filtered", {"message": "flagged", "code": "content_filter"}),
        ("about the quota", "QuotaExhausted", {"message": "x", "type": "insufficient_quota"}),
    ):
        yield f"error in a 200: {name}", outcome, {"error": error}
    yield "error in a 200: beside choices", "ChatError", completion(error={"message": "x", "code": 502})
    empty: list[Any] = [None, {}, "", False, []]
    for value in empty:
        yield f"error in a 200: {value!r} beside choices", "answered", completion(error=value)
