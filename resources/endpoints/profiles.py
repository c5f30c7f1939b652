"""Model profiles: which requests an OpenAI-compatible endpoint accepts, and which parts of its responses are thoughts.

presets.toml has one profile per provider; memflow.toml overrides single fields. request_bodies.py applies a profile to
requests, replies.py to responses. Addresses, sampling values and prices belong to the model's settings.
"""

import json
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, JsonValue, field_validator, model_validator

from memflow.chat.prompts import load
from memflow.fingerprint import digest
from memflow.resources.endpoints.tables import load_table
from memflow.suggestions import unknown_name

_PRESETS: dict[str, dict[str, Any]] = load_table("presets")
HOSTS: Mapping[str, tuple[str, ...]] = {name: (*_PRESETS[name].pop("hosts", ()),) for name in _PRESETS}
"""The known hosts of each preset's provider; their subdomains are hosts of it, too."""
PRESETS = tuple(_PRESETS)


def _known_preset(name: str) -> str:
    if name not in PRESETS:
        raise ValueError(unknown_name("preset", name, PRESETS))
    return name


Preset = Annotated[str, AfterValidator(_known_preset)]
"""The name of a table of presets.toml."""
DEFAULT: Preset = "vllm"

_CREDENTIALS = frozenset({"authorization", "proxy-authorization", "api-key", "x-api-key", "x-goog-api-key"})
_REQUEST_KEYS = frozenset({"messages", "model", "n", "response_format", "stream", "tool_choice", "tools"})
_OF_ERRORS = frozenset({"window", "auth"})
"""Fields that decide which requests fail and who answers, not what is answered."""


class Profile(BaseModel):
    """The form of requests that an endpoint accepts, and the form of its responses. The defaults fit vLLM."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    structured: Literal["schema", "tool", "object", "prompt"] = "schema"
    """How typed answers are requested: a JSON schema, a forced tool call, any JSON object, or words."""
    schema_drop: tuple[str, ...] = ()
    """Keywords that the JSON schema omits; its descriptions state them in words."""
    schema_unions: Literal["as_is", "any_of"] = "as_is"
    """any_of: `oneOf` becomes `anyOf`, without `discriminator`."""
    schema_inline: bool = False
    """Whether `$ref` is replaced by its definition."""
    schema_in_prompt: bool = False
    """Whether the prompt shows the schema; always for `object` and `prompt`."""
    strict: bool = True
    """Whether `strict` is sent with a schema or tool."""
    bound: Literal["max_tokens", "max_completion_tokens", "none"] = "max_tokens"
    """The parameter of the token limit."""
    headroom: int = Field(0, ge=0, le=1_048_576)
    """Tokens for thoughts, added to the token limit of each request."""
    temperature: Literal["send", "omit"] = "send"
    top_p: Literal["send", "omit"] = "send"
    seed: str = "send"
    """send, omit, or another name of the parameter, such as random_seed."""
    system: Literal["system", "developer", "user"] = "system"
    """The role of system messages; user: they are joined with the user message after them, as with `alternate`."""
    alternate: bool = False
    """Whether consecutive messages of one role are joined, and a user message comes first."""
    thoughts: tuple[str, ...] = ("reasoning_details", "reasoning_content", "reasoning")
    """The fields of a response message that may hold thoughts."""
    tags: tuple[str, str] = ("<think>", "</think>")
    """The delimiters of thoughts in the content."""
    thinking: str = ""
    """A key of thinking_levels; empty: the server's default."""
    thinking_levels: dict[str, dict[str, JsonValue]] = {}
    """The keys of the request body that set each level of thinking."""
    body: dict[str, JsonValue] = {}
    """Further keys of the request body."""
    headers: dict[str, str] = {}
    """Further headers of requests; never a key."""
    query: dict[str, str] = {}
    """Parameters of the URL."""
    auth: str = "Authorization: Bearer"
    """The header of the key, and its scheme after a colon."""
    window: int | None = Field(None, ge=1)
    """The context window in tokens; by default what the server states. Longer requests are not sent."""

    @field_validator("body")
    @classmethod
    def _keeps_the_request(cls, body: dict[str, Any]) -> dict[str, Any]:
        for name in sorted(_REQUEST_KEYS & set(body)):
            raise ValueError(f"the key {name} of the body belongs to the request. Remove it from `body`.")
        return body

    @field_validator("headers")
    @classmethod
    def _has_no_key(cls, headers: dict[str, str]) -> dict[str, str]:
        for name in headers:
            if name.lower() in _CREDENTIALS:
                raise ValueError(
                    f"the header {name} contains a key, and settings contain no keys. Set `key_variable` of the "
                    "model to the environment variable with the key."
                )
        return headers

    @model_validator(mode="after")
    def _knows_the_level(self) -> "Profile":
        if self.thinking and self.thinking not in self.thinking_levels:
            known = ", ".join(self.thinking_levels) or "none: set `body` instead"
            raise ValueError(
                f"the thinking level {self.thinking!r} is unknown. Use one of the levels of this profile: {known}"
            )
        return self

    @property
    def shows_schema(self) -> bool:
        """Whether prompts for typed answers contain the schema."""
        return self.schema_in_prompt or self.structured in ("object", "prompt")

    def digest(self) -> str:
        """Return the content hash of the fields that affect answers; "" if they have their defaults."""
        changed = self.model_dump(mode="json", exclude_defaults=True, exclude=set(_OF_ERRORS))
        # The levels that are not used change nothing.
        changed.pop("thinking_levels", None)
        if self.thinking:
            changed["thinking"] = self.thinking_levels[self.thinking]
        if self.shows_schema:
            changed["schema_prompt"] = load("memflow.chat", "schema").digest
        return digest(changed) if changed else ""


def preset_fields(preset: str) -> Mapping[str, Any]:
    """Return the fields in which a preset differs from the default profile; empty for an unknown preset."""
    return _PRESETS.get(preset, {})


def profile_of(preset: Preset, **fields: Any) -> Profile:
    """Return the profile of a preset with changed fields. A given table replaces the whole table of the preset."""
    return Profile.model_validate({**preset_fields(preset), **fields})


def changed_fields(profile: Profile, preset: Preset) -> dict[str, Any]:
    """Return the fields in which a profile differs from its preset, as values of JSON types."""
    values, shared = profile.model_dump(mode="json"), profile_of(preset).model_dump(mode="json")
    return {name: value for name, value in values.items() if value != shared[name]}


def toml_value(value: Any) -> str:
    """Return a value of JSON types as TOML. Strings, numbers, booleans and lists are equal in JSON and TOML."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {toml_value(inner)}" for key, inner in value.items()) + " }"
    return json.dumps(value, ensure_ascii=False)
