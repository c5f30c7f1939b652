"""The check of a model's endpoint: some small requests, what they show, and the profile settings that follow.

Nothing is stored, and no setting changes. profiles.py says what the settings mean; memflow/cli/models.py prints the
result.
"""

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from memflow.errors import BadInput, ChatError, FatalChatError, RequestRefused
from resources.checked_response import Response
from resources.endpoint import Endpoint
from resources.settings_sections import Model

SMALL, LARGE = 16, 2048
"""Token bounds of the requests: too small for a model that thinks, and large enough."""
MIN_HEADROOM = 1024
PATIENCE_S = 5.0
"""Seconds during which a failing request is retried."""

_MESSAGES = [{"role": "user", "content": "Reply with the word yes."}]
_SUM = [{"role": "user", "content": "What is 17 + 25? Reply with the number only."}]
_PROSE = [{"role": "user", "content": "Describe the sea in one sentence of plain prose."}]
_JSON_WANTED = [
    {"role": "user", "content": 'Reply with JSON of this form and nothing else: {"colour": "red"}'}
]
_COLOUR = {
    "type": "object",
    "properties": {"colour": {"type": "string", "enum": ["red", "blue"]}},
    "required": ["colour"],
    "additionalProperties": False,
}


def _object(**properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": [*properties],
        "additionalProperties": False,
    }


_KEYWORDS: Mapping[str, dict[str, Any]] = {
    "minLength": {"type": "string", "minLength": 1},
    "maxLength": {"type": "string", "maxLength": 40},
    "minItems": {"type": "array", "items": {"type": "string"}, "minItems": 1},
    "maxItems": {"type": "array", "items": {"type": "string"}, "maxItems": 3},
    "minimum": {"type": "integer", "minimum": 0},
    "maximum": {"type": "integer", "maximum": 9},
    "default": {"type": "string", "default": "sea"},
    "const": {"const": "sea"},
    "oneOf": {"oneOf": [_object(a={"const": "a"}), _object(b={"const": "b"})]},
    "$ref": {"$ref": "#/$defs/Named"},
}
"""A property for each keyword of JSON Schema that the output types use and that some servers refuse."""
_DEFS = {"Named": _object(name={"type": "string"})}


Send = Callable[[dict[str, Any]], Awaitable[Response]]
"""Sends the body of a chat completion request once."""


@dataclass(frozen=True)
class Observation:
    """What requests showed about one topic, as a sentence.

    `fields` has, for each profile field that follows, the values that the endpoint accepts; the best is first.
    """

    topic: str
    seen: str
    fields: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)


class ModelCheck:
    """The requests that find out what an endpoint accepts. Each is built on what the former ones showed."""

    def __init__(self, model: str, send: Send, extra: Mapping[str, Any] | None = None) -> None:
        """`extra` has keys of the body that every request contains, such as those that switch reasoning."""
        self._send = send
        self._common: dict[str, Any] = {"model": model, **(extra or {})}
        self._bound = "max_tokens"
        self._last = Response(0, {})
        self.requests = 0

    async def run(self) -> list[Observation]:
        """Return the observations in the order of the requests. Raises BadInput if no request is answered."""
        return [
            await self._token_bound(),
            *await self._sampling(),
            *await self._roles(),
            await self._reasoning(),
            *await self._structured(),
            self._usage(),
        ]

    async def _ask(self, messages: list[dict[str, str]], bound: int = LARGE, **more: Any) -> Response:
        self.requests += 1
        bounded = {} if self._bound == "none" else {self._bound: bound}
        response = await self._send({**self._common, "messages": messages, **bounded, **more})
        if response.ok:
            self._last = response
        return response

    async def _token_bound(self) -> Observation:
        accepted: list[str] = []
        refused: list[str] = []
        for name in ("max_tokens", "max_completion_tokens", "none"):
            if name == "none" and accepted:
                continue
            self._bound = name
            response = await self._ask(_MESSAGES, SMALL)
            if not response.ok and response.status not in (400, 422):
                raise BadInput(
                    f"the endpoint answers no request ({response.error}). Fix `url`, `model` or the key, then check "
                    "again."
                )
            (accepted if response.ok else refused).append(name)
        if not accepted:
            raise BadInput(
                f"the endpoint rejects every request ({response.error}). Fix `model`, then check again."
            )
        self._bound = accepted[0]
        return Observation("token bound", _both(accepted, refused), {"bound": tuple(accepted)})

    async def _sampling(self) -> list[Observation]:
        found = []
        values: dict[str, Any] = {"temperature": 0, "top_p": 0.9, "seed": 1}
        together = await self._ask(_MESSAGES, SMALL, **values)
        for name, value in values.items():
            if together.ok or (alone := await self._ask(_MESSAGES, SMALL, **{name: value})).ok:
                found.append(Observation(name, f"accepts {name}", {name: ("send", "omit")}))
            elif name == "seed" and (await self._ask(_MESSAGES, SMALL, random_seed=1)).ok:
                fields = {"seed": ("random_seed", "omit")}
                found.append(Observation(name, "accepts random_seed, rejects seed", fields))
            else:
                found.append(Observation(name, f"rejects {name} ({alone.error})", {name: ("omit",)}))
        return found

    async def _roles(self) -> list[Observation]:
        system, user = {"role": "system", "content": "Be brief."}, _MESSAGES[0]
        if (await self._ask([system, user, user], SMALL)).ok:
            seen = "accepts a system message, and two user messages in a row"
            fields = {"system": ("system", "developer", "user"), "alternate": (False, True)}
            return [Observation("roles", seen, fields)]
        found = []
        if (rejected := await self._ask([system, user], SMALL)).ok:
            fields = {"system": ("system", "user")}
            found.append(Observation("system role", "accepts a system message", fields))
        elif (await self._ask([{**system, "role": "developer"}, user], SMALL)).ok:
            fields = {"system": ("developer", "user")}
            found.append(Observation("system role", "accepts developer, rejects system", fields))
        else:
            seen = f"rejects a system message ({rejected.error}); it becomes part of the first user message"
            found.append(Observation("system role", seen, {"system": ("user",)}))
        rejected = await self._ask([user, user], SMALL)
        accepted: tuple[bool, ...] = (False, True) if rejected.ok else (True,)
        verb = "accepts" if rejected.ok else f"rejects ({rejected.error})"
        seen = f"{verb} two user messages in a row"
        found.append(Observation("alternation", seen, {"alternate": accepted}))
        return found

    async def _reasoning(self) -> Observation:
        response = await self._ask(_SUM)
        places = [
            name
            for name in ("reasoning_details", "reasoning_content", "reasoning")
            if response.message.get(name)
        ]
        content = response.message.get("content")
        if isinstance(content, list) and any(
            isinstance(part, dict) and part.get("type") == "thinking" for part in content
        ):
            places.append("parts of the content")
        if "</think>" in response.text or "<think>" in response.text:
            places.append("<think> tags in the text")
        tokens = response.reasoning_tokens
        if not places and not tokens:
            return Observation("reasoning", "none seen", {"headroom": (0,)})
        wanted = 1 << (4 * tokens - 1).bit_length() if tokens else LARGE
        where = f" in {', '.join(places)}" if places else ", not shown"
        amount = f" ({tokens} tokens for the sum of two numbers)" if tokens else ""
        short = await self._ask(_SUM, SMALL)
        spent = "" if short.text.strip() else f"; a bound of {SMALL} tokens leaves no answer"
        return Observation(
            "reasoning", f"thinks{where}{amount}{spent}", {"headroom": (max(MIN_HEADROOM, wanted),)}
        )

    async def _structured(self) -> list[Observation]:
        schema = await self._ask(_PROSE, response_format=_schema_format(_COLOUR))
        if schema.ok and _is_colour(schema.text):
            followed = Observation("structured output", "follows a JSON schema", {"structured": ("schema",)})
            return [followed, await self._keywords()]
        rejected = "ignores a JSON schema" if schema.ok else f"rejects a JSON schema ({schema.error})"
        tool = {"type": "function", "function": {"name": "reply", "parameters": _COLOUR}}
        choice = {"type": "function", "function": {"name": "reply"}}
        called = await self._ask(_PROSE, tools=[tool], tool_choice=choice)
        written = await self._ask(_JSON_WANTED, response_format={"type": "json_object"})
        accepted = [
            name
            for name, works in (
                ("tool", _is_colour(called.arguments)),
                ("object", _is_colour(written.text)),
            )
            if works
        ]
        followed_names = {"tool": "a forced tool call", "object": "json_object"}
        seen = ", ".join([rejected, *(f"follows {followed_names[name]}" for name in accepted)])
        return [Observation("structured output", seen, {"structured": (*accepted, "prompt")})]

    async def _keywords(self) -> Observation:
        """Return the observation about schema keywords: all in one request, then one by one if that is rejected."""
        numbered = {f"p{number}": part for number, part in enumerate(_KEYWORDS.values())}
        if (
            await self._ask(_PROSE, response_format=_schema_format({**_object(**numbered), "$defs": _DEFS}))
        ).ok:
            accepted = {
                "schema_drop": ((),),
                "schema_unions": ("as_is", "any_of"),
                "schema_inline": (False, True),
            }
            return Observation("schema keywords", f"accepts {', '.join(_KEYWORDS)}", accepted)
        rejected = []
        for name, part in _KEYWORDS.items():
            schema = {**_object(value=part), **({"$defs": _DEFS} if name == "$ref" else {})}
            if not (await self._ask(_PROSE, response_format=_schema_format(schema))).ok:
                rejected.append(name)
        fields: dict[str, tuple[Any, ...]] = {
            "schema_drop": (tuple(name for name in rejected if name not in ("oneOf", "$ref")),)
        }
        if "oneOf" in rejected:
            fields["schema_unions"] = ("any_of",)
        if "$ref" in rejected:
            fields["schema_inline"] = (True,)
        return Observation(
            "schema keywords", f"rejects {', '.join(rejected) or 'all of them together'}", fields
        )

    def _usage(self) -> Observation:
        usage = self._last.usage
        if not usage.get("prompt_tokens"):
            return Observation("usage", "reports no usage; token counts will be estimates")
        details = [
            name
            for name, inside in (
                ("cached_tokens", "prompt_tokens_details"),
                ("reasoning_tokens", "completion_tokens_details"),
            )
            if isinstance(usage.get(inside), dict) and name in usage[inside]
        ]
        return Observation("usage", f"reports {', '.join(['prompt and completion tokens', *details])}")


async def check_model(model: Model) -> tuple[list[Observation], int]:
    """Return the observations about a model's endpoint, and the number of requests.

    Raises EndpointDown if the address cannot be reached, BadInput if it answers no request.
    """
    endpoint = Endpoint(
        model.url,
        key_variable=model.key_variable,
        concurrency=1,
        patience=PATIENCE_S,
        setting="`url` of the model",
    )

    async def send(body: dict[str, Any]) -> Response:
        try:
            answer, _ = await endpoint.post("/chat/completions", body)
        except RequestRefused as error:
            return Response(error.status, error.details)
        except FatalChatError:
            raise
        except ChatError as error:
            return Response(500, str(error))
        return Response(200, answer)

    async with endpoint:
        check = ModelCheck(model.served_as, send, model.profile.body)
        return await check.run(), check.requests


def _both(accepted: list[str], rejected: list[str]) -> str:
    """Return a sentence about the accepted and the rejected parameters; "none" stands for no parameter."""
    said = [f"accepts {' and '.join(accepted)}"] if accepted != ["none"] else []
    return ", ".join([*said, *([f"rejects {' and '.join(rejected)}"] if rejected else [])])


def _schema_format(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "json_schema", "json_schema": {"name": "reply", "strict": True, "schema": schema}}


def _is_colour(text: str) -> bool:
    """Return whether a text is JSON that the schema _COLOUR accepts."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) and value.get("colour") in ("red", "blue")
