"""The check of a model's endpoint: small requests, observations, and the matching values of profile fields.

Every request uses the profile that earlier requests determined. Nothing is stored, and no setting changes.
profile_proposal.py converts observations into settings; memflow/cli/models.py prints both.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from pydantic import BaseModel

from memflow.chat.asking import parse_completion
from memflow.chat.requests import ChatMessage, ChatRequest, Completion, Sampling
from memflow.errors import BadInput
from resources.endpoints.model_check_requests import DEFINITIONS, KEYWORDS, CheckResponse, Post, object_schema
from resources.endpoints.profiles import PRESETS, Profile, profile_of
from resources.endpoints.request_bodies import RequestBodies

SMALL, LARGE = 16, 2048
"""Token limits of the requests: too small for a model that thinks, and large enough."""
MIN_HEADROOM = 1024

_YES = (ChatMessage("user", "Reply with the word yes."),)
_SUM = (ChatMessage("user", "What is 17 + 25? Reply with the number only."),)
_PROSE = (ChatMessage("user", "Describe the sea in one sentence."),)
_SYSTEM = ChatMessage("system", "Be brief.")


class _Colour(BaseModel):
    """The typed answer that the check requests."""

    colour: Literal["red", "blue"]


@dataclass(frozen=True)
class Observation:
    """A finding of the check about one topic, as a sentence.

    `fields` has the values that the endpoint accepts, by profile field; the best value is first.
    """

    topic: str
    seen: str
    fields: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)


class ModelCheck:
    """The check of one model. `profile` has the keys of the body and the headers that every request contains."""

    def __init__(self, model: str, post: Post, profile: Profile) -> None:
        self._model = model
        self._post = post
        self._profile = Profile().model_copy(
            update={
                **{name: getattr(profile, name) for name in ("body", "headers", "query", "auth", "tags")},
                **dict.fromkeys(("temperature", "top_p", "seed"), "omit"),
            }
        )
        self._last: CheckResponse | None = None
        self.requests = 0

    async def run(self) -> list[Observation]:
        """Return the observations in the order of the requests. Raises BadInput if no request is answered."""
        found: list[Observation] = []
        for step in (
            self._access,
            self._token_limit,
            self._sampling,
            self._roles,
            self._reasoning,
            self._structured,
            self._keywords,
        ):
            seen = await step()
            best = {name: values[0] for each in seen for name, values in each.fields.items()}
            self._profile = self._profile.model_copy(update=best)
            found += seen
        return [*found, self._usage()]

    async def _ask(
        self,
        messages: Iterable[ChatMessage],
        limit: int = LARGE,
        output: type[BaseModel] | None = None,
        profile: Mapping[str, Any] | None = None,
        **body: Any,
    ) -> CheckResponse:
        """Send a request with the current profile, after changes of profile fields or keys of the body."""
        self.requests += 1
        used = self._profile.model_copy(update=profile or {})
        request = ChatRequest("model check", {}, tuple(messages), Sampling(max_tokens=limit), output)
        response = await self._post(used, {**RequestBodies(used).build(self._model, request), **body})
        if response.reply is not None:
            self._last = response
        return response

    async def _access(self) -> list[Observation]:
        """Find the header of the key and the parameters of the URL if the endpoint rejects those of the profile."""
        first = await self._ask(_YES, SMALL)
        if first.status not in (401, 403, 404):
            return []
        forms = {(preset.auth, tuple(preset.query.items())): preset for preset in map(profile_of, PRESETS)}
        for preset in forms.values():
            form: dict[str, Any] = {"auth": preset.auth, "query": dict(preset.query)}
            if (await self._ask(_YES, SMALL, profile=form)).status not in (401, 403, 404):
                fields = {name: (value,) for name, value in form.items()}
                return [Observation("access", f"takes the key in the header {preset.auth}", fields)]
        raise BadInput(f"{self._model} answers no request ({first.error}). Fix `url`, `model` or the key.")

    async def _token_limit(self) -> list[Observation]:
        accepted: list[str] = []
        rejected: list[str] = []
        for name in ("max_tokens", "max_completion_tokens", "none"):
            if name == "none" and accepted:
                continue
            response = await self._ask(_YES, SMALL, profile={"bound": name})
            if not response.ok and response.status not in (400, 422):
                raise BadInput(
                    f"{self._model} answers no request ({response.error}). Check it again when it works."
                )
            (accepted if response.ok else rejected).append(name)
        if not accepted:
            raise BadInput(f"{self._model} rejects every request ({response.error}). Fix `url` and `model`.")
        said = [f"accepts {' and '.join(accepted)}"] if accepted != ["none"] else []
        said += [f"rejects {' and '.join(rejected)}"] if rejected else []
        return [Observation("token limit", ", ".join(said), {"bound": tuple(accepted)})]

    async def _sampling(self) -> list[Observation]:
        found = []
        values: dict[str, Any] = {"temperature": 0, "top_p": 0.9, "seed": 1}
        together = await self._ask(_YES, SMALL, **values)
        for name, value in values.items():
            if together.ok or (alone := await self._ask(_YES, SMALL, **{name: value})).ok:
                found.append(Observation(name, f"accepts {name}", {name: ("send", "omit")}))
            elif name == "seed" and (await self._ask(_YES, SMALL, random_seed=1)).ok:
                fields = {"seed": ("random_seed", "omit")}
                found.append(Observation(name, "accepts random_seed, rejects seed", fields))
            else:
                found.append(Observation(name, f"rejects {name} ({alone.error})", {name: ("omit",)}))
        return found

    async def _roles(self) -> list[Observation]:
        if (await self._ask((_SYSTEM, _SYSTEM, *_YES, *_YES), SMALL)).ok:
            seen = "accepts a system message, and two messages of one role in a row"
            fields = {"system": ("system", "developer", "user"), "alternate": (False, True)}
            return [Observation("roles", seen, fields)]
        found = []
        if (rejected := await self._ask((_SYSTEM, *_YES), SMALL)).ok:
            found.append(
                Observation("system role", "accepts a system message", {"system": ("system", "user")})
            )
        elif (await self._ask((_SYSTEM, *_YES), SMALL, profile={"system": "developer"})).ok:
            fields = {"system": ("developer", "user")}
            found.append(Observation("system role", "accepts developer, rejects system", fields))
        else:
            seen = f"rejects a system message ({rejected.error}); it becomes part of the first user message"
            found.append(Observation("system role", seen, {"system": ("user",)}))
        systems = (_SYSTEM, _SYSTEM) if found[0].fields["system"][0] == "system" else ()
        rejected = await self._ask((*systems, *_YES, *_YES), SMALL)
        accepted: tuple[bool, ...] = (False, True) if rejected.ok else (True,)
        seen = "accepts" if rejected.ok else f"rejects ({rejected.error})"
        return [
            *found,
            Observation("alternation", f"{seen} two messages of one role in a row", {"alternate": accepted}),
        ]

    async def _reasoning(self) -> list[Observation]:
        response = await self._ask(_SUM)
        place = response.reply.thoughts_place if response.reply is not None else ""
        tokens = response.reasoning_tokens
        if not place and not tokens:
            return [Observation("reasoning", "none seen", {"headroom": (0,)})]
        headroom = max(MIN_HEADROOM, 1 << (4 * tokens - 1).bit_length() if tokens else LARGE)
        where = f" in {place}" if place else ", not shown"
        amount = f" ({tokens} tokens for the sum of two numbers)" if tokens else ""
        short = await self._ask(_SUM, SMALL)
        spent = "" if short.text.strip() else f"; a limit of {SMALL} tokens leaves no answer"
        return [Observation("reasoning", f"thinks{where}{amount}{spent}", {"headroom": (headroom,)})]

    async def _structured(self) -> list[Observation]:
        schema = await self._typed("schema")
        if _is_colour(schema):
            return [Observation("structured output", "follows a JSON schema", {"structured": ("schema",)})]
        rejected = "ignores a JSON schema" if schema.ok else f"rejects a JSON schema ({schema.error})"
        routed = {"provider": {"require_parameters": True}}
        if schema.ok and _is_colour(await self._typed("schema", **routed)):
            seen = f"{rejected} without provider.require_parameters"
            return [Observation("structured output", seen, {"structured": ("schema",), "body": (routed,)})]
        names = {"tool": "a forced tool call", "object": "json_object", "prompt": "a schema in the prompt"}
        accepted = [name for name in names if _is_colour(await self._typed(name))]
        followed = [f"follows {names[name]}" for name in accepted] or [
            "follows nothing else: typed answers will fail"
        ]
        seen = "; ".join([rejected, *followed])
        return [Observation("structured output", seen, {"structured": tuple(accepted) or ("prompt",)})]

    async def _typed(self, structured: str, **body: Any) -> CheckResponse:
        return await self._ask(_PROSE, LARGE, _Colour, {"structured": structured}, **body)

    async def _keywords(self) -> list[Observation]:
        """Send all keywords of a schema together, or one by one if the endpoint rejects them."""
        if self._profile.structured != "schema":
            return []
        properties = {f"p{number}": part for number, part in enumerate(KEYWORDS.values())}
        if (await self._with_schema({**object_schema(**properties), "$defs": DEFINITIONS})).ok:
            fields = {
                "schema_drop": ((),),
                "schema_unions": ("as_is", "any_of"),
                "schema_inline": (False, True),
            }
            return [Observation("schema keywords", f"accepts {', '.join(KEYWORDS)}", fields)]
        rejected = []
        for name, part in KEYWORDS.items():
            definitions = {"$defs": DEFINITIONS} if name == "$ref" else {}
            if not (await self._with_schema({**object_schema(value=part), **definitions})).ok:
                rejected.append(name)
        found: dict[str, tuple[Any, ...]] = {
            "schema_drop": (tuple(name for name in rejected if name not in ("oneOf", "$ref")),),
            "schema_unions": ("any_of",) if "oneOf" in rejected else ("as_is", "any_of"),
            "schema_inline": (True,) if "$ref" in rejected else (False, True),
        }
        return [
            Observation("schema keywords", f"rejects {', '.join(rejected) or 'all of them together'}", found)
        ]

    async def _with_schema(self, schema: Mapping[str, Any]) -> CheckResponse:
        wanted = {"name": "answer", "strict": True, "schema": schema}
        return await self._ask(_PROSE, response_format={"type": "json_schema", "json_schema": wanted})

    def _usage(self) -> Observation:
        usage = self._last.reply.usage if self._last is not None and self._last.reply is not None else None
        if usage is None or not (usage.prompt and usage.completion):
            return Observation("usage", "reports no usage; token counts will be estimates")
        counts = {"cached": usage.cached, "reasoning": usage.reasoning}
        named = [name for name, count in counts.items() if count is not None]
        return Observation("usage", f"reports {', '.join(['prompt', 'completion', *named])} tokens")


def _is_colour(response: CheckResponse) -> bool:
    """Return whether a response has the typed answer."""
    return response.ok and parse_completion(Completion(response.text), _Colour)[0] is not None
