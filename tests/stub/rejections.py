"""The stub server's behaviors that reject the form of a request: parameters, schemas, roles and keys.

Each is a function from a Call to a Rejection, or None. Statuses and messages are those of the named providers, as their
users report them.
"""

from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from typing import Any

from stub.calls import Call, Rejection

Check = Callable[[Call], Rejection | None]

_LENGTHS = frozenset({"minLength", "maxLength", "default", "oneOf"})
_ALL_BOUNDS = _LENGTHS | {"minItems", "maxItems", "minimum", "maximum", "pattern", "format"}
_KNOWN = frozenset(
    {"model", "messages", "temperature", "top_p", "max_tokens", "random_seed", "response_format", "stop"}
    | {"tools", "tool_choice", "n", "presence_penalty", "frequency_penalty", "stream"}
)
"""The parameters of a server that rejects others."""


def _schemas(part: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Mapping[str, Any]]]:
    """Yield every schema inside a schema, with its path."""
    if not isinstance(part, dict):
        return
    yield path, part
    for group in ("properties", "$defs"):
        for name, member in part.get(group, {}).items():
            yield from _schemas(member, (*path, group, name))
    for group in ("anyOf", "oneOf", "allOf", "prefixItems"):
        for number, member in enumerate(part.get(group, ())):
            yield from _schemas(member, (*path, group, str(number)))
    yield from _schemas(part.get("items"), (*path, "items"))


def _without_keywords(rejected: frozenset[str]) -> Check:
    def check(call: Call) -> Rejection | None:
        name, schema = call.json_schema.get("name"), call.json_schema.get("schema")
        for path, part in _schemas(schema):
            for keyword in sorted(rejected & set(part)):
                return _invalid_schema(name, path, f"'{keyword}' is not permitted.")
            if "properties" in part and (
                part.get("additionalProperties") is not False
                or set(part.get("required", ())) != set(part["properties"])
            ):
                return _invalid_schema(name, path, "'additionalProperties' is required to be false.")
        return None

    return check


def _invalid_schema(name: object, path: tuple[str, ...], fault: str) -> Rejection:
    message = f"Invalid schema for response_format '{name}': In context={path}, {fault}"
    return Rejection(400, message, "invalid_json_schema", "response_format")


def _completion_bound(call: Call) -> Rejection | None:
    if "max_tokens" not in call.body:
        return None
    message = (
        "Unsupported parameter: 'max_tokens' is not supported with this model. "
        "Use 'max_completion_tokens' instead."
    )
    return Rejection(400, message, "unsupported_parameter", "max_tokens")


def _fixed_sampling(call: Call) -> Rejection | None:
    if call.body.get("temperature", 1) != 1:
        message = (
            f"Unsupported value: 'temperature' does not support {call.body['temperature']} with this model. Only the "
            "default (1) value is supported."
        )
        return Rejection(400, message, "unsupported_value", "temperature")
    if "top_p" in call.body:
        message = "Unsupported parameter: 'top_p' is not supported with this model."
        return Rejection(400, message, "unsupported_parameter", "top_p")
    return None


def _object_only(call: Call) -> Rejection | None:
    if call.format == "json_schema":
        return Rejection(400, "This response_format type is unavailable now")
    if call.format == "json_object" and "json" not in call.text.lower():
        message = (
            "Prompt must contain the word 'json' in some form to use 'response_format' of type 'json_object'."
        )
        return Rejection(400, message)
    return None


def _schema_only(call: Call) -> Rejection | None:
    if call.format != "json_object":
        return None
    return Rejection(400, "'response_format.type' must be 'json_schema' or 'text'")


def _text_only(call: Call) -> Rejection | None:
    if "response_format" in call.body:
        return _extra(("response_format",))
    return _extra(("tools",)) if "tools" in call.body else None


def _no_forced_tool(call: Call) -> Rejection | None:
    if call.thinks and call.body.get("tool_choice") not in (None, "auto", "none"):
        return Rejection(400, "Thinking may not be enabled when tool_choice forces tool use.")
    return None


def _rejects_unknown(call: Call) -> Rejection | None:
    return _extra(tuple(name for name in call.body if name not in _KNOWN))


def _rejects_seed(call: Call) -> Rejection | None:
    return _extra(("seed",) if "seed" in call.body else ())


def _extra(names: tuple[str, ...]) -> Rejection | None:
    """Return the rejection of unknown parameters in the form of pydantic, as Mistral sends it."""
    if not names:
        return None
    errors = [
        {"type": "extra_forbidden", "loc": ["body", name], "msg": "Extra inputs are not permitted"}
        for name in names
    ]
    return Rejection(422, "", body={"object": "error", "message": {"detail": errors}})


def _no_nested_references(call: Call) -> Rejection | None:
    for path, part in _schemas(call.json_schema.get("schema")):
        if "$ref" in part and path[:1] == ("$defs",):
            return Rejection(400, f"failed to parse grammar: $ref at {'.'.join(path)}")
    return None


def _api_key_header(call: Call) -> Rejection | None:
    if "api-key" in {name.lower() for name in call.headers}:
        return None
    message = "Access denied due to invalid subscription key or wrong API endpoint."
    return Rejection(401, message, "401")


def _api_version(call: Call) -> Rejection | None:
    return None if "api-version" in call.query else Rejection(404, "Resource not found", "404")


def _alternates(status: int) -> Check:
    def check(call: Call) -> Rejection | None:
        turns = [role for role in call.roles if role not in ("system", "developer")]
        if turns and turns[0] == "user" and all(one != other for one, other in pairwise(turns)):
            return None
        message = "Conversation roles must alternate user/assistant/user/assistant/..."
        return Rejection(status, message, type="server_error" if status >= 500 else "BadRequestError")

    return check


def _no_system(call: Call) -> Rejection | None:
    if not {"system", "developer"} & set(call.roles):
        return None
    return Rejection(400, "System role not supported", type="BadRequestError")


def _one_system(call: Call) -> Rejection | None:
    if call.roles.count("system") + call.roles.count("developer") < 2:
        return None
    return Rejection(400, "only one system message is supported")


FORM_CHECKS: Mapping[str, Check] = {
    "strict_schema": _without_keywords(_LENGTHS),
    "narrow_schema": _without_keywords(_ALL_BOUNDS),
    "no_unions": _without_keywords(frozenset({"oneOf"})),
    "no_defaults": _without_keywords(frozenset({"default"})),
    "no_nested_references": _no_nested_references,
    "completion_bound": _completion_bound,
    "fixed_sampling": _fixed_sampling,
    "object_only": _object_only,
    "schema_only": _schema_only,
    "text_only": _text_only,
    "no_forced_tool": _no_forced_tool,
    "rejects_unknown": _rejects_unknown,
    "rejects_seed": _rejects_seed,
    "api_key_header": _api_key_header,
    "api_version": _api_version,
    "alternates": _alternates(400),
    "alternates_500": _alternates(500),
    "no_system": _no_system,
    "one_system": _one_system,
}
"""The behaviors by name."""
