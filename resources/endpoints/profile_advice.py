"""Advice for requests that a server rejects because of the model's settings: the line for memflow.toml.

A request is never changed and repeated in silence, since its form affects the answers.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from memflow.errors import ModelMisconfigured, PromptTooLong, RequestRefused
from memflow.resources.endpoints.profiles import Preset, Profile, profile_of, toml_value

_REJECTS = re.compile(
    r"unsupported|not support|not permitted|not allowed|unavailable|not available|extra_forbidden|extra inputs|unknown"
    r"|unrecogni[sz]ed|invalid|must be|must alternate|only|failed|denied|not found|may not be",
    re.IGNORECASE,
)
_KEYWORD = re.compile(
    r"[\"'`](minLength|maxLength|minItems|maxItems|minimum|maximum|exclusiveMinimum|exclusiveMaximum|pattern|format"
    r"|default|uniqueItems|multipleOf|title|examples)[\"'`]"
)
_ECHO = 16
"""Characters of a prompt in a row that an error response repeats rather than says."""
_TOO_MANY = re.compile(r"too large|too high|at most|maximum|less than|valid range", re.IGNORECASE)
HEADROOM = 8192
"""Tokens for thoughts that the presets of models that think have."""
_UNKNOWN = re.compile(r"extra_forbidden|extra inputs|unknown|unrecogni[sz]ed", re.IGNORECASE)


@dataclass(frozen=True)
class Advice:
    """A profile field to set, its value, and a preset with this value."""

    field: str
    value: Any
    preset: Preset | None = None


def misconfiguration(
    error: RequestRefused, section: str, profile: Profile, prompt: str = ""
) -> ModelMisconfigured | None:
    """Return the error for a rejection that all requests of the model would get; None for other rejections.

    `section` is the model's table in memflow.toml, such as models.gpt; "" for the model of the command line. What the
    error response repeats of `prompt` says nothing about the settings.
    """
    if isinstance(error, PromptTooLong):
        return None
    said = str(error).rstrip(".")
    details = _without_echo(error.details, prompt)
    advice = next(_advice(details, profile), None) if _REJECTS.search(details) else None
    if advice is not None:
        return ModelMisconfigured(f"{said}. {_fix(advice, section, profile)}")
    if error.status == 404:
        where = f"`model` or `url` below [{section}] in memflow.toml" if section else "--model or --url"
        return ModelMisconfigured(f"{said}. Fix {where}, then rerun.")
    return ModelMisconfigured(str(error)) if error.status == 401 else None


def ignored_structure(model: str, section: str, profile: Profile) -> ModelMisconfigured:
    """Return the error for a server that answers in prose although the request asks for JSON."""
    advice = Advice("structured", "prompt", "anthropic")
    return ModelMisconfigured(
        f"{model} answers in prose: its server ignores `structured = {toml_value(profile.structured)}`. "
        f"{_fix(advice, section, profile)}"
    )


def no_room_for_thoughts(model: str, section: str, profile: Profile) -> ModelMisconfigured:
    """Return the error for a model whose thoughts use up the token limits of its answers."""
    return ModelMisconfigured(
        f"{model} thinks until the token limit, so that there is no room for answers. "
        f"{_fix(Advice('headroom', HEADROOM), section, profile)}"
    )


def _fix(advice: Advice, section: str, profile: Profile) -> str:
    """Return the sentence that names the setting and its section in memflow.toml."""
    line = f"`{advice.field} = {toml_value(advice.value)}`"
    preset = None if advice.preset is None or profile_of(advice.preset) == profile else advice.preset
    if not section:
        option = f"Add --preset {preset} to the command, or define" if preset else "Define"
        return f"{option} the model in memflow.toml with {line} below [models.NAME.profile], then rerun."
    line = f"{line} below [{section}.profile]"
    if preset is not None:
        line = f'`preset = "{preset}"` below [{section}], or {line}'
    return f"Write {line} in memflow.toml, then rerun."


def _advice(details: str, profile: Profile) -> Iterator[Advice]:
    """Yield the advice that fits the text of an error response, the most specific first."""
    if "schema" in details or profile.structured == "tool":
        yield from _about_keywords(details, profile)
    yield from _about_sampling(details, profile)
    yield from _about_formats(details, profile)
    yield from _about_roles(details, profile)
    yield from _about_access(details, profile)
    for key in (*profile.thinking_levels.get(profile.thinking, {}), *profile.body):
        if _names(details, key):
            kept = {name: value for name, value in profile.body.items() if name != key}
            yield Advice("body", kept) if key in profile.body else Advice("thinking", "")


def _about_keywords(details: str, profile: Profile) -> Iterator[Advice]:
    keyword = _KEYWORD.search(details)
    if keyword:
        yield Advice("schema_drop", [*profile.schema_drop, keyword[1]], "openai")
    if _names(details, "oneOf") or _names(details, "discriminator"):
        yield Advice("schema_unions", "any_of", "openai")
    if "$ref" in details:
        yield Advice("schema_inline", True, "llama_cpp")


def _about_sampling(details: str, profile: Profile) -> Iterator[Advice]:
    if not _TOO_MANY.search(details):
        if profile.bound == "max_tokens" and _names(details, "max_tokens"):
            yield Advice("bound", "max_completion_tokens", "openai_reasoning")
        if profile.bound == "max_completion_tokens" and _names(details, "max_completion_tokens"):
            yield Advice("bound", "max_tokens")
    if profile.temperature == "send" and _names(details, "temperature"):
        yield Advice("temperature", "omit", "openai_reasoning")
    if profile.top_p == "send" and _names(details, "top_p"):
        yield Advice("top_p", "omit", "openai_reasoning")
    if profile.seed == "send" and _names(details, "seed"):
        yield Advice("seed", "random_seed", "mistral")
    elif profile.seed != "omit" and _names(details, profile.seed):
        yield Advice("seed", "omit")


def _about_formats(details: str, profile: Profile) -> Iterator[Advice]:
    if profile.structured == "tool" and re.search("tool", details):
        yield Advice("structured", "object", "deepseek")
    if not re.search("response_format|json_schema|json_object", details):
        return
    if _UNKNOWN.search(details):
        yield Advice("structured", "prompt", "plain")
    elif profile.structured == "schema":
        yield Advice("structured", "object", "deepseek")
    elif profile.structured == "object":
        yield Advice("structured", "schema", "lm_studio")


def _about_roles(details: str, profile: Profile) -> Iterator[Advice]:
    if not profile.alternate and re.search("must alternate|only one system", details):
        yield Advice("alternate", True, "plain")
    if profile.system != "user" and re.search("system role|system message|developer", details, re.IGNORECASE):
        yield Advice("system", "user", "plain")


def _about_access(details: str, profile: Profile) -> Iterator[Advice]:
    if profile.auth != "api-key" and "subscription key" in details:
        yield Advice("auth", "api-key", "azure")
    if "api-version" not in profile.query and re.search("api-version|Resource not found", details):
        yield Advice("query", {"api-version": "2024-10-21"}, "azure")


def _names(details: str, parameter: str) -> bool:
    """Return whether an error response names a parameter in quotes, as an echoed prompt rarely does."""
    return re.search(rf"[\"'`]{re.escape(parameter)}\\?[\"'`]", details) is not None


def _without_echo(details: str, prompt: str) -> str:
    """Return the text of an error response without the parts of the prompt that it repeats."""
    sent = f"{prompt}\n{json.dumps(prompt, ensure_ascii=False)}"
    kept: list[str] = []
    start = 0
    while start < len(details):
        end = start + _ECHO
        if len(details) >= end and details[start:end] in sent:
            while end < len(details) and details[end - _ECHO + 1 : end + 1] in sent:
                end += 1
            start = end
        else:
            kept.append(details[start])
            start += 1
    return "".join(kept)
