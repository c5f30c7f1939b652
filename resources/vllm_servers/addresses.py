"""The checks of a model server at an address: health, version, served models and their maximum length."""

import json
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from memflow.errors import EndpointDown
from resources.endpoints.addresses import display_address

TIMEOUT_S = 10.0
MOST_BYTES = 16 * 2**20
"""Bytes of a response that are read at most."""


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """A handler that follows no redirect, since the key could reach another server."""

    def redirect_request(self, *_: Any) -> None:
        return None


class UnhealthyServer(EndpointDown):
    """The exception for a server that does not respond, or is not healthy; it may be later."""


_opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), _NoRedirects())
"""No proxies: the addresses are those of the settings, mostly on this machine."""


@dataclass(frozen=True)
class ServedModel:
    """What a server says of itself: vLLM's version, and the maximum length of prompt and answer in tokens."""

    url: str
    version: str = ""
    max_model_len: int | None = None


def check_server(
    url: str, model: str, at_least: int | None = None, headers: Mapping[str, str] | None = None
) -> ServedModel:
    """Return what the server at an address says of a model. `headers` contain the key, if there is one.

    Raises UnhealthyServer if the server is not healthy, and EndpointDown if it does not serve the model, or
    accepts fewer tokens than `at_least`.
    """
    shown = display_address(url)
    health = status_of(root_of(url) + "/health")
    if health not in (200, 404):  # 404: an OpenAI-compatible server other than vLLM
        problem = "cannot connect" if health is None else f"/health returned {health}"
        raise UnhealthyServer(
            f"no healthy server at {shown}: {problem}. Start the server, or fix `url` in memflow.toml."
        )
    try:
        served = {str(one["id"]): one for one in _json(url.rstrip("/") + "/models", headers)["data"]}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise EndpointDown(
            f"cannot read the model list at {shown}/models ({error}). Check that it is an "
            "OpenAI-compatible server, and that the variable of `key_variable` has its key if it needs one."
        ) from error
    if model not in served:
        raise EndpointDown(
            f"{shown} serves {', '.join(served)}, but not {model!r}. Fix `model` in memflow.toml."
        )
    length = served[model].get("max_model_len")
    length = length if isinstance(length, int) else None
    if at_least and length and length < at_least:
        raise EndpointDown(
            f"{shown} accepts {length} tokens of prompt and answer for {model!r}, and `max_model_len` is {at_least}. "
            "Start that server with --max-model-len, or lower `max_model_len` of the model in memflow.toml."
        )
    return ServedModel(shown, _version(url), length)


def status_of(url: str) -> int | None:
    """Return the status of a GET request; None without a response."""
    try:
        with _opener.open(url, timeout=TIMEOUT_S) as response:
            return int(response.status)
    except urllib.error.HTTPError as error:
        return error.code
    except OSError:
        return None


def read_text(url: str) -> str:
    """Return the text of a GET request; "" without a successful response."""
    try:
        with _opener.open(url, timeout=TIMEOUT_S) as response:
            return str(response.read(MOST_BYTES).decode("utf-8", "replace"))
    except OSError:
        return ""


def root_of(url: str) -> str:
    """Return an address without /v1, where vLLM has its health and version."""
    return url.rstrip("/").removesuffix("/v1")


def _version(url: str) -> str:
    try:
        found = _json(root_of(url) + "/version")
    except (OSError, ValueError):
        return ""  # a server other than vLLM
    return str(found.get("version", ""))[:100] if isinstance(found, dict) else ""


def _json(url: str, headers: Mapping[str, str] | None = None) -> Any:
    with _opener.open(
        urllib.request.Request(url, headers=dict(headers or {})), timeout=TIMEOUT_S
    ) as response:
        return json.loads(response.read(MOST_BYTES))
