"""The checks of a model server at an address: its version, served models and their maximum length."""

import json
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from http.client import HTTPException
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


_opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), _NoRedirects())
"""No proxies: the addresses are those of the settings, mostly on this machine."""


@dataclass(frozen=True)
class ServedModel:
    """What a server says of itself: vLLM's version, and the maximum length of prompt and answer in tokens."""

    version: str = ""
    max_model_len: int | None = None


def check_server(
    url: str, model: str, at_least: int | None = None, headers: Mapping[str, str] | None = None
) -> ServedModel:
    """Return what the server at an address says of a model. `headers` contain the key, if there is one.

    Raises EndpointDown if the server cannot be reached, does not serve the model, or accepts fewer tokens than
    `at_least`.
    """
    shown = display_address(url)
    try:
        listed = json.loads(read_text(f"{url.rstrip('/')}/models", headers))
        served = {str(entry["id"]): entry for entry in listed["data"]}
    except (urllib.error.HTTPError, HTTPException, ValueError, KeyError, TypeError) as error:
        raise EndpointDown(
            f"cannot read the model list at {shown}/models ({error}). Check that it is an OpenAI-compatible server, "
            "and that the variable of `key_variable` has its key if it needs one."
        ) from error
    except OSError as error:
        raise EndpointDown(
            f"cannot connect to {shown} ({error}). Start the server, or fix `url` in memflow.toml."
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
    return ServedModel(_version(url), length)


def read_text(url: str, headers: Mapping[str, str] | None = None) -> str:
    """Return the body of a GET request. Raises OSError or HTTPException without a successful response."""
    request = urllib.request.Request(url, headers=dict(headers or {}))
    with _opener.open(request, timeout=TIMEOUT_S) as response:
        return str(response.read(MOST_BYTES).decode("utf-8", "replace"))


def root_of(url: str) -> str:
    """Return an address without /v1, where vLLM has its health, version and metrics."""
    return url.rstrip("/").removesuffix("/v1")


def _version(url: str) -> str:
    try:
        return str(json.loads(read_text(f"{root_of(url)}/version"))["version"])[:100]
    except (OSError, HTTPException, ValueError, KeyError, TypeError):
        return ""  # a server other than vLLM
