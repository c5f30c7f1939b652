"""The check of a model's endpoint: small requests, observations, and the settings of the profile that fits.

Every request uses the profile that earlier requests determined. Nothing is stored, and no setting changes.
memflow/cli/models.py prints observations and settings.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from textwrap import shorten
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, Field

from memflow.chat.asking import parse_completion
from memflow.chat.requests import ChatMessage, ChatRequest, Completion, Sampling
from memflow.errors import BadInput, ChatError, FatalChatError, RequestRefused
from memflow.resources.endpoints.endpoint import Endpoint
from memflow.resources.endpoints.profiles import (
    DEFAULT,
    HOSTS,
    PRESETS,
    Preset,
    Profile,
    changed_fields,
    profile_of,
    toml_value,
)
from memflow.resources.endpoints.replies import ChatReply, read_reply
from memflow.resources.endpoints.request_bodies import RequestBodies
from memflow.resources.endpoints.tables import load_table
from memflow.resources.settings.chat_models import Model

SMALL, LARGE = 16, 2048
"""Token limits of the requests: too small for a model that thinks, and large enough."""
MIN_HEADROOM = 1024
PATIENCE_S = 5.0
TRIES = 2
"""A failing request is retried once, within these seconds."""
ERROR_LENGTH = 160
"""Maximum number of characters of an error message."""

_CHOICES = load_table("model_check")
VALUES: Mapping[str, Sequence[Any]] = _CHOICES["values"]
"""The values of profile fields in the order in which they are tried: a server that accepts one accepts later ones."""

_YES = (ChatMessage("user", "Reply with the word yes."),)
_SUM = (ChatMessage("user", "What is 17 + 25? Reply with the number only."),)
_PROSE = (ChatMessage("user", "Describe the sea in one sentence."),)
_SYSTEM = ChatMessage("system", "Be brief.")
_MESSAGES = {
    **dict.fromkeys(("bound", "temperature", "top_p", "seed"), _YES),
    "system": (_SYSTEM, *_YES),
    "alternate": (_SYSTEM, _SYSTEM, *_YES, *_YES),
}
"""Messages that show whether an endpoint accepts a value of a field."""


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
    """A finding of the check about one topic, as a sentence, with the accepted values by profile field."""

    topic: str
    seen: str
    fields: Mapping[str, Any] = field(default_factory=dict)


Post = Callable[[Profile, Mapping[str, Any]], Awaitable[ChatReply]]
"""Sends the body of a chat request with the headers and the URL of a profile. Raises ChatError."""
Response = ChatReply | ChatError
"""The reply to a request, or why there is none."""


def requests_to(model: Model) -> Post:
    """Return the function that sends requests to a model."""

    async def post(profile: Profile, body: Mapping[str, Any]) -> ChatReply:
        where, setting = (model.url, model.key_variable), "`url` of the model in memflow.toml"
        async with Endpoint(*where, profile, 1, PATIENCE_S, tries=TRIES, setting=setting) as endpoint:
            reply, _ = await endpoint.send("/chat/completions", partial(read_reply, profile=profile), body)
        return reply

    return post


class ModelCheck:
    """The check of one model. `profile` has the keys of the body and the headers that every request contains."""

    def __init__(self, model: str, post: Post, profile: Profile) -> None:
        self._model = model
        self._post = post
        own = {name: getattr(profile, name) for name in ("body", "headers", "query", "auth", "tags")}
        self._profile = Profile(**own, temperature="omit", top_p="omit", seed="omit")
        self.requests = 0

    async def run(self) -> AsyncIterator[Observation]:
        """Yield each observation when it is made, as a slow model takes minutes. Raises BadInput without any answer."""
        yield await self._choose("access", [{}, *_of_presets("auth", "query")], _YES, accepts=_has_access)
        for name, messages in _MESSAGES.items():
            yield await self._choose(name, [{name: value} for value in VALUES[name]], messages)
        yield await self._reasoning()
        structures = _CHOICES["structures"]
        yield await self._choose("structured output", structures, _PROSE, LARGE, _Colour, _is_colour)
        if self._profile.structured == "schema":
            dialects = sorted(_of_presets("schema_drop", "schema_unions", "schema_inline"), key=_changes)
            yield await self._choose("schema keywords", dialects, _PROSE, LARGE, _Keywords)

    def _observe(self, topic: str, seen: str, fields: Mapping[str, Any]) -> Observation:
        """Return an observation. Later requests have the values of its fields."""
        self._profile = self._profile.model_copy(update=dict(fields))
        return Observation(topic, seen, fields)

    async def _ask(
        self,
        messages: tuple[ChatMessage, ...],
        limit: int = SMALL,
        output: type[BaseModel] | None = None,
        fields: Mapping[str, Any] | None = None,
    ) -> Response:
        """Send a request with the current profile, after changes of profile fields."""
        self.requests += 1
        profile = self._profile.model_copy(update=dict(fields or {}))
        sampling = Sampling(temperature=0, max_tokens=limit, top_p=0.9, seed=1)
        request = ChatRequest("model check", {}, messages, sampling, output)
        try:
            return await self._post(profile, RequestBodies(profile).build(self._model, request))
        except FatalChatError:
            raise
        except ChatError as error:
            return error

    async def _choose(
        self,
        topic: str,
        choices: Sequence[Mapping[str, Any]],
        messages: tuple[ChatMessage, ...],
        limit: int = SMALL,
        output: type[BaseModel] | None = None,
        accepts: Callable[[Response], bool] = lambda response: isinstance(response, ChatReply),
    ) -> Observation:
        """Try values of profile fields until the endpoint accepts some. Raises BadInput if it answers no request."""
        seen: list[str] = []
        error = ""
        for choice in choices:
            fields = dict(choice)
            if "body" in fields:
                fields["body"] = {**self._profile.body, **fields["body"]}
            response = await self._ask(messages, limit, output, fields)
            if accepts(response):
                seen.append(f"accepts {_shown(fields)}")
                break
            seen.append(f"{'ignores' if isinstance(response, ChatReply) else 'rejects'} {_shown(fields)}")
            if isinstance(response, ChatError):
                error = f" (last error: {shorten(str(response), ERROR_LENGTH, placeholder='...')})"
        else:
            if topic in ("access", "bound"):
                raise BadInput(
                    f"{self._model} answers no request{error}. Fix `url`, `model` or the key, or check it again when "
                    "the server works."
                )
            seen.append("no value works")
        return self._observe(topic, f"{'; '.join(seen)}{error}", fields)

    async def _reasoning(self) -> Observation:
        reply = await self._ask(_SUM, LARGE)
        tokens = (reply.usage.reasoning or 0) if isinstance(reply, ChatReply) else 0
        if not tokens and not (isinstance(reply, ChatReply) and reply.thoughts):
            return self._observe("reasoning", "none seen", {"headroom": 0})
        headroom = max(MIN_HEADROOM, 1 << (4 * tokens - 1).bit_length() if tokens else LARGE)
        amount = f" ({tokens} tokens for the sum of two numbers)" if tokens else ""
        return self._observe("reasoning", f"thinks{amount}", {"headroom": headroom})


def _of_presets(*names: str) -> list[dict[str, Any]]:
    """Return the different values of profile fields in the presets."""
    values = [{name: getattr(preset, name) for name in names} for preset in map(profile_of, PRESETS)]
    return [value for number, value in enumerate(values) if value not in values[:number]]


def _changes(dialect: Mapping[str, Any]) -> tuple[int, ...]:
    """Return by how much a dialect changes schemas, for sorting."""
    drop, *others = dialect.items()
    return len(drop[1]), *(VALUES[name].index(value) for name, value in others)


def _shown(fields: Mapping[str, Any]) -> str:
    """Return the values of fields that are not the defaults of a profile, as TOML."""
    default = Profile()
    changed = {name: value for name, value in fields.items() if value != getattr(default, name)}
    return ", ".join(f"{name} = {toml_value(value)}" for name, value in changed.items()) or "the default"


def _has_access(response: Response) -> bool:
    """Return whether a response is not about the key or the URL."""
    return not (isinstance(response, RequestRefused) and response.status in (401, 403, 404))


def _is_colour(response: Response) -> bool:
    """Return whether a response has the typed answer."""
    return isinstance(response, ChatReply) and bool(parse_completion(Completion(response.text), _Colour)[0])


@dataclass(frozen=True)
class Proposal:
    """A preset, and the fields in which the endpoint differs from it."""

    preset: Preset
    fields: Mapping[str, Any]

    def profile(self) -> Profile:
        """Return the proposed profile."""
        return profile_of(self.preset, **self.fields)

    def toml(self, name: str) -> str:
        """Return the lines for [models.NAME] in memflow.toml."""
        lines = [f"[models.{name}]", f"preset = {toml_value(self.preset)}"]
        if changed := changed_fields(self.profile(), self.preset):
            lines += ["", f"[models.{name}.profile]"]
        return "\n".join([*lines, *(f"{field} = {toml_value(value)}" for field, value in changed.items())])


def propose(observations: Iterable[Observation], url: str, current: Preset = DEFAULT) -> Proposal:
    """Return the preset that contradicts the fewest observations, and the fields that it has to change.

    Ties prefer a preset of the address's host, then the preset with the best values, then `current`.
    """
    seen = {name: value for observation in observations for name, value in observation.fields.items()}
    host = f".{urlsplit(url).hostname}"

    def contradicted(preset: Preset) -> dict[str, Any]:
        profile = profile_of(preset)
        return {name: value for name, value in seen.items() if not _fits(profile, name, value)}

    def rank(preset: Preset) -> tuple[int, bool, int, bool]:
        profile = profile_of(preset)
        lesser = sum(getattr(profile, name) != value for name, value in seen.items())
        elsewhere = not any(host.endswith(f".{known}") for known in HOSTS[preset])
        return len(contradicted(preset)), elsewhere, lesser, preset != current

    best = min(PRESETS, key=rank)
    return Proposal(best, contradicted(best))


def _fits(profile: Profile, name: str, accepted: Any) -> bool:
    """Return whether a profile's field has the accepted value, or one that the endpoint accepts, too."""
    value = getattr(profile, name)
    if name == "headroom":
        return bool(value >= accepted)
    if name == "schema_drop":
        return set(accepted) <= set(value)
    order = VALUES.get(name, ())
    return value == accepted or (value in order and order.index(value) > order.index(accepted))
