"""The check of a model's endpoint: small requests, observations, and the matching values of profile fields.

Every request uses the profile that earlier requests determined. Nothing is stored, and no setting changes.
profile_proposal.py converts observations into settings; memflow/cli/models.py prints both.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from memflow.chat.asking import parse_completion
from memflow.chat.requests import ChatMessage, ChatRequest, Completion, Sampling
from memflow.errors import BadInput
from memflow.resources.endpoints.model_check_requests import CheckResponse, Post
from memflow.resources.endpoints.profiles import PRESETS, Profile, profile_of
from memflow.resources.endpoints.request_bodies import RequestBodies

SMALL, LARGE = 16, 2048
"""Token limits of the requests: too small for a model that thinks, and large enough."""
MIN_HEADROOM = 1024

_YES = (ChatMessage("user", "Reply with the word yes."),)
_SUM = (ChatMessage("user", "What is 17 + 25? Reply with the number only."),)
_PROSE = (ChatMessage("user", "Describe the sea in one sentence."),)
_SYSTEM = ChatMessage("system", "Be brief.")

_BOUNDS = ("max_tokens", "max_completion_tokens", "none")
_CHOICES: tuple[tuple[str, dict[Any, str], tuple[ChatMessage, ...]], ...] = (
    ("temperature", {"send": "temperature", "omit": ""}, _YES),
    ("top_p", {"send": "top_p", "omit": ""}, _YES),
    ("seed", {"send": "seed", "random_seed": "random_seed", "omit": ""}, _YES),
    (
        "system",
        {"system": "a system message", "developer": "a developer message", "user": ""},
        (_SYSTEM, *_YES),
    ),
    ("alternate", {False: "two messages of one role in a row", True: ""}, (_SYSTEM, _SYSTEM, *_YES, *_YES)),
)
"""Fields of a profile, the words for what each value sends, and messages that show whether an endpoint accepts it.

Every endpoint accepts the last value.
"""
_ROUTED = {"provider": {"require_parameters": True}}
_STRUCTURES: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("a JSON schema", "schema", {}),
    ("a JSON schema with provider.require_parameters", "schema", _ROUTED),
    ("a forced tool call", "tool", {}),
    ("json_object", "object", {}),
    ("a schema in the prompt", "prompt", {}),
)
"""The ways to request a typed answer: words, the value of the field `structured`, and keys of the body."""


class _Colour(BaseModel):
    """The typed answer that the check requests."""

    colour: Literal["red", "blue"]


class _Name(BaseModel):
    kind: Literal["name"]
    name: Annotated[str, Field(min_length=1, max_length=40)] = "sea"


class _Number(BaseModel):
    kind: Literal["number"]
    number: Annotated[int, Field(ge=0, le=9)]
    name: _Name


class _Keywords(BaseModel):
    """A typed answer with the keywords of JSON Schema that output types use and that some servers reject."""

    parts: Annotated[
        list[Annotated[_Name | _Number, Field(discriminator="kind")]], Field(min_length=1, max_length=3)
    ]


@dataclass(frozen=True)
class Observation:
    """A finding of the check about one topic, as a sentence.

    `fields` has the values that the endpoint accepts, by profile field; the best value is first.
    """

    topic: str
    seen: str
    fields: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)


class ModelCheck:
    """The check of one model. `profile` has the keys of the body and the headers that every request contains.

    `on_observation` gets each observation when it is made, since a slow model takes minutes.
    """

    def __init__(
        self,
        model: str,
        post: Post,
        profile: Profile,
        on_observation: Callable[[Observation], object] = lambda observation: None,
    ) -> None:
        self._model = model
        self._post = post
        self._profile = Profile().model_copy(
            update={
                **{name: getattr(profile, name) for name in ("body", "headers", "query", "auth", "tags")},
                **dict.fromkeys(("temperature", "top_p", "seed"), "omit"),
            }
        )
        self._observations: list[Observation] = []
        self._on_observation = on_observation
        self.requests = 0

    async def run(self) -> list[Observation]:
        """Return the observations in the order of the requests. Raises BadInput if no request is answered."""
        await self._token_limit(await self._access())
        for name, words, messages in _CHOICES:
            await self._choice(name, words, messages)
        await self._reasoning()
        await self._structured()
        if self._profile.structured == "schema":
            await self._keywords()
        return self._observations

    def _observe(self, topic: str, seen: str, fields: Mapping[str, tuple[Any, ...]]) -> None:
        """Note an observation. Later requests have the best values of its fields."""
        self._observations.append(Observation(topic, seen, fields))
        self._on_observation(self._observations[-1])
        best = {name: values[0] for name, values in fields.items()}
        self._profile = self._profile.model_copy(update=best)

    async def _ask(
        self,
        messages: Iterable[ChatMessage],
        limit: int = SMALL,
        output: type[BaseModel] | None = None,
        profile: Mapping[str, Any] | None = None,
        **body: Any,
    ) -> CheckResponse:
        """Send a request with the current profile, after changes of profile fields or keys of the body."""
        self.requests += 1
        used = self._profile.model_copy(update=profile or {})
        sampling = Sampling(temperature=0, max_tokens=limit, top_p=0.9, seed=1)
        request = ChatRequest("model check", {}, tuple(messages), sampling, output)
        return await self._post(used, {**RequestBodies(used).build(self._model, request), **body})

    async def _access(self) -> CheckResponse:
        """Return the first response that is not about the key or the URL.

        If the endpoint rejects those of the profile, try those of the presets.
        """
        first = await self._ask(_YES)
        if first.status not in (401, 403, 404):
            return first
        forms = {(preset.auth, tuple(preset.query.items())): preset for preset in map(profile_of, PRESETS)}
        for preset in forms.values():
            form: dict[str, Any] = {"auth": preset.auth, "query": dict(preset.query)}
            response = await self._ask(_YES, profile=form)
            if response.status not in (401, 403, 404):
                fields = {name: (value,) for name, value in form.items()}
                self._observe("access", f"takes the key in the header {preset.auth}", fields)
                return response
        raise BadInput(f"{self._model} answers no request ({first.error}). Fix `url`, `model` or the key.")

    async def _token_limit(self, first: CheckResponse) -> None:
        """Try both parameters of the token limit. If the endpoint rejects both, try a request without a limit."""
        responses: dict[str, CheckResponse] = {}
        for name in _BOUNDS:
            if name != "none" or not any(response.ok for response in responses.values()):
                response = first if name == "max_tokens" else await self._ask(_YES, profile={"bound": name})
                responses[name] = response
                if not response.ok and response.status not in (400, 422):
                    raise BadInput(
                        f"{self._model} answers no request ({response.error}). Check it again when it works."
                    )
        accepted = tuple(name for name, response in responses.items() if response.ok)
        if not accepted:
            raise BadInput(f"{self._model} rejects every request ({response.error}). Fix `url` and `model`.")
        seen = [f"{'accepts' if each.ok else 'rejects'} {name}" for name, each in responses.items()]
        self._observe("token limit", ", ".join(seen), {"bound": accepted})

    async def _choice(self, name: str, words: Mapping[Any, str], messages: tuple[ChatMessage, ...]) -> None:
        """Try the values of a field until the endpoint accepts one."""
        seen: list[str] = []
        *values, last = words
        for number, value in enumerate(values):
            response = await self._ask(messages, profile={name: value})
            if response.ok:
                safer = [other for other in values[number + 1 :] if other != "random_seed"]
                seen.append(f"accepts {words[value]}")
                self._observe(name, "; ".join(seen), {name: (value, *safer, last)})
                return
            seen.append(f"rejects {words[value]} ({response.error})")
        self._observe(name, "; ".join(seen), {name: (last,)})

    async def _reasoning(self) -> None:
        reply = (await self._ask(_SUM, LARGE)).reply
        place = reply.thoughts_place if reply is not None else ""
        tokens = (reply.usage.reasoning or 0) if reply is not None else 0
        if not place and not tokens:
            self._observe("reasoning", "none seen", {"headroom": (0,)})
            return
        headroom = max(MIN_HEADROOM, 1 << (4 * tokens - 1).bit_length() if tokens else LARGE)
        where = f" in {place}" if place else ", not shown"
        amount = f" ({tokens} tokens for the sum of two numbers)" if tokens else ""
        short = await self._ask(_SUM)
        spent = "" if short.text.strip() else f"; a limit of {SMALL} tokens leaves no answer"
        self._observe("reasoning", f"thinks{where}{amount}{spent}", {"headroom": (headroom,)})

    async def _structured(self) -> None:
        """Request a typed answer in each way until the endpoint follows one."""
        seen: list[str] = []
        fields: dict[str, tuple[Any, ...]] = {"structured": ("prompt",)}
        for words, structured, keys in _STRUCTURES:
            changes = {"structured": structured, "body": {**self._profile.body, **keys}}
            response = await self._ask(_PROSE, LARGE, _Colour, changes)
            if _is_colour(response):
                seen.append(f"follows {words}")
                fields = {"structured": (structured,) if structured == "schema" else (structured, "prompt")}
                fields |= {"body": (changes["body"],)} if keys else {}
                break
            seen.append(f"ignores {words}" if response.ok else f"rejects {words} ({response.error})")
        else:
            seen.append("typed answers will fail")
        self._observe("structured output", "; ".join(seen), fields)

    async def _keywords(self) -> None:
        """Request an answer whose schema has all keywords, in the dialect of each preset, the widest first."""
        dialects = {_dialect(profile_of(preset)) for preset in PRESETS}
        for drop, unions, inline in sorted(dialects, key=_changes):
            fields = {"schema_drop": drop, "schema_unions": unions, "schema_inline": inline}
            response = await self._ask(_PROSE, LARGE, _Keywords, fields)
            if response.ok:
                break
        rejected = [*drop, *(["oneOf"] if unions == "any_of" else []), *(["$ref"] if inline else [])]
        seen = f"accepts a schema without {', '.join(rejected)}" if rejected else "accepts all keywords"
        self._observe(
            "schema keywords",
            seen if response.ok else f"rejects the schemas of all presets ({response.error})",
            {
                "schema_drop": (drop,),
                "schema_unions": (unions, "any_of"),
                "schema_inline": (inline, True),
            },
        )


def _dialect(profile: Profile) -> tuple[tuple[str, ...], str, bool]:
    return profile.schema_drop, profile.schema_unions, profile.schema_inline


def _changes(dialect: tuple[tuple[str, ...], str, bool]) -> tuple[int, bool, bool, tuple[str, ...]]:
    """Return by how much a dialect changes schemas, for sorting."""
    drop, unions, inline = dialect
    return len(drop), unions == "any_of", inline, drop


def _is_colour(response: CheckResponse) -> bool:
    """Return whether a response has the typed answer."""
    return response.ok and parse_completion(Completion(response.text), _Colour)[0] is not None
