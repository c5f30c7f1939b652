"""The contracts of providers: which behaviors of the stub server each provider has.

The behaviors are those that the providers document, or that their users report. rejections.py and responses.py define
them; the presets in resources/endpoints/presets.toml are the requests that fit.
"""

from collections.abc import Iterator, Mapping

from stub.behavior import StubBehavior
from stub.limits import LIMIT_CHECKS
from stub.rejections import FORM_CHECKS, Check
from stub.responses import CHANGES, THOUGHTS

IGNORES_SCHEMA = "ignores_schema"
"""The server ignores response_format: it answers in prose unless the prompt has a schema."""
ROUTES = "routes"
"""The server ignores response_format unless `provider.require_parameters` is set."""

PROVIDERS: Mapping[str, tuple[str, ...]] = {
    "openai": ("strict_schema", "completion_bound", "overflow_openai"),
    "openai_reasoning": (
        "strict_schema",
        "completion_bound",
        "fixed_sampling",
        "overflow_openai",
        "thinks_hidden",
    ),
    "azure": ("narrow_schema", "api_key_header", "api_version", "overflow_openai"),
    "deepseek": ("object_only", "no_forced_tool", "overflow_vllm", "thinks_in_field"),
    "anthropic": (IGNORES_SCHEMA, "no_forced_tool", "overflow_anthropic", "thinks_hidden", "fenced"),
    "gemini": ("no_unions", "overflow_gemini", "thinks_hidden"),
    "mistral": ("rejects_seed", "rejects_unknown", "overflow_mistral", "thinks_in_parts"),
    "together": ("overflow_together", "thinks_in_tags"),
    "fireworks": ("no_defaults", "overflow_vllm", "thinks_in_field"),
    "openrouter": (ROUTES, "one_system", "overflow_openai", "thinks_in_details"),
    "vllm": ("overflow_vllm",),
    "sglang": ("overflow_sglang",),
    "ollama": ("truncates_silently",),
    "llama_cpp": ("no_nested_references", "alternates_500", "overflow_llama_cpp"),
    "lm_studio": ("schema_only", "overflow_sglang"),
    "plain": ("text_only", "rejects_unknown", "no_system", "alternates", "no_usage", "fenced"),
}
"""The behaviors of each provider. Models that users serve themselves do not think unless a further behavior says so."""

CHECKS: Mapping[str, Check] = {**FORM_CHECKS, **LIMIT_CHECKS}
"""The behaviors that reject requests, by name."""
BEHAVIORS = frozenset({IGNORES_SCHEMA, ROUTES, *CHECKS, *CHANGES, *THOUGHTS})
"""The names of all behaviors."""


def behaviors_of(settings: StubBehavior) -> tuple[str, ...]:
    """Return the behaviors of the provider, and the additional behaviors. Raises ValueError for unknown names."""
    named = tuple(_names(settings))
    unknown = sorted(set(named) - BEHAVIORS)
    if unknown:
        raise ValueError(f"there is no behavior {unknown[0]}. Use some of: {', '.join(sorted(BEHAVIORS))}")
    return named


def _names(settings: StubBehavior) -> Iterator[str]:
    if settings.provider:
        if settings.provider not in PROVIDERS:
            known = ", ".join(PROVIDERS)
            raise ValueError(f"there is no provider {settings.provider}. Use one of: {known}")
        yield from PROVIDERS[settings.provider]
    elif settings.max_model_len:
        yield "overflow_vllm"
    yield from (name for name in settings.behaviors.split(",") if name)
