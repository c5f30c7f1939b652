"""Errors for requests that a server rejects because of the model's profile; `memflow models check` finds what fits.

A request is never changed and repeated in silence, since its form affects the answers.
"""

import json
import re

from memflow.errors import ModelMisconfigured, PromptTooLong, RequestRefused
from memflow.resources.endpoints.profiles import Profile, toml_value

_REJECTS = re.compile(
    r"unsupported|not support|not permitted|not allowed|unavailable|not available|extra_forbidden|extra inputs|unknown"
    r"|unrecogni[sz]ed|invalid|must be|must alternate|only|failed|denied|not found|may not be",
    re.IGNORECASE,
)
_PARAMETERS = (
    *("max_tokens", "max_completion_tokens", "temperature", "top_p", "seed", "random_seed"),
    *("minLength", "maxLength", "minItems", "maxItems", "minimum", "maximum", "exclusiveMinimum"),
    *("exclusiveMaximum", "pattern", "format", "default", "uniqueItems", "multipleOf", "title", "examples"),
    *("oneOf", "discriminator"),
)
"""Parameters and keywords that a profile renames or omits. Rejections name them in quotes, echoed prompts rarely."""
_FORMS = re.compile(
    r"response_format|json_schema|json_object|tool_choice|\$ref|must alternate|only one system|system role"
    r"|system message|developer|subscription key|api-version|resource not found",
    re.IGNORECASE,
)
"""Words about the structure of answers, roles and access, which a profile sets."""
_TOO_MANY = re.compile(r"too large|too high|at most|exceeds|less than|valid range", re.IGNORECASE)
"""Words about a value that is too large for one request, of a parameter that the server knows."""
_ECHO = 16
"""Characters of a prompt in a row that an error response repeats rather than says."""


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
    if _concerns_form(_without_echo(error.details, prompt), profile):
        return ModelMisconfigured(f"{said}. {_fix(section)}")
    if error.status == 404:
        where = f"`model` or `url` below [{section}] in memflow.toml" if section else "--model or --url"
        return ModelMisconfigured(f"{said}. Fix {where}, then rerun.")
    return ModelMisconfigured(str(error)) if error.status == 401 else None


def ignored_structure(model: str, section: str, profile: Profile) -> ModelMisconfigured:
    """Return the error for a server that answers in prose although the request asks for JSON."""
    return ModelMisconfigured(
        f"{model} answers in prose: its server ignores `structured = {toml_value(profile.structured)}`. {_fix(section)}"
    )


def no_room_for_thoughts(model: str, section: str) -> ModelMisconfigured:
    """Return the error for a model whose thoughts use up the token limits of its answers."""
    return ModelMisconfigured(
        f"{model} thinks until the token limit, so that there is no room for answers: its profile needs `headroom`. "
        f"{_fix(section)}"
    )


def _fix(section: str) -> str:
    """Return the sentence that names the command which finds the settings."""
    if section:
        return f"Run `memflow models check {section.partition('.')[2]}`, write what it prints, then rerun."
    return (
        "Add --preset with the server's provider to the command, or define the model in memflow.toml and run `memflow "
        "models check NAME`, then rerun."
    )


def _concerns_form(details: str, profile: Profile) -> bool:
    """Return whether the text of an error response rejects the form of requests, which the profile sets."""
    if not _REJECTS.search(details) or _TOO_MANY.search(details):
        return False
    own = (*profile.thinking_levels.get(profile.thinking, {}), *profile.body)
    return _FORMS.search(details) is not None or any(_names(details, name) for name in (*_PARAMETERS, *own))


def _names(details: str, parameter: str) -> bool:
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
