"""The checks of `memflow doctor` on chat models and the embedder."""

import asyncio
import shlex
import shutil
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

from memflow.cli.finding import Finding
from memflow.errors import BadInput, BadSettings

if TYPE_CHECKING:
    from resources.endpoints.profiles import Profile
    from resources.settings.chat_models import Model
    from resources.settings.sections import Embedder
    from resources.settings.settings import Settings

PATIENCE = 10.0
"""Seconds to wait for an endpoint's list of models."""


def model_findings(name: str, model: "Model") -> list[Finding]:
    """Return the findings about a model."""
    what = f"model {name}"
    if model.kind == "scripted":
        return [Finding(what, "ok", "scripted, not a language model")]
    if model.kind == "vllm" and not model.url:
        return [_vllm(what, model)]
    return [_served(what, model.url, model.model, model.key_variable, model.profile)]


def _vllm(what: str, model: "Model") -> Finding:
    program = shlex.split(model.executable)[0]
    if shutil.which(program):
        return Finding(what, "ok", f"vLLM at {shutil.which(program)} for {model.model}")
    fix = "Set `executable` of the model in memflow.toml to the vllm program of an environment that has vLLM."
    return Finding(what, "missing", f"the program {program} was not found", fix)


def embedder_findings(settings: "Settings") -> list[Finding]:
    from resources.endpoints.profiles import Profile

    chosen = settings.embedder
    if chosen.kind in (None, "hashing"):
        what = f"hashing, {chosen.dimensions} dimensions: compares words, not meanings"
        try:
            settings.check_embedder(settings.assistants)
        except BadSettings as wrong:
            return [Finding("embedder", "missing", what, str(wrong))]
        return [Finding("embedder", "ok", what)]
    if chosen.kind == "endpoint":
        return [_served("embedder", chosen.url, chosen.model, chosen.key_variable, Profile())]
    return [_folder_embedder(chosen)]


def _folder_embedder(chosen: "Embedder") -> Finding:
    if not Path(chosen.model).expanduser().is_dir():
        return Finding(
            "embedder",
            "missing",
            f"the folder {chosen.model!r} does not exist",
            "Set `model` under [embedder] to an existing folder.",
        )
    try:
        metadata.version("sentence-transformers")
    except metadata.PackageNotFoundError:
        fix = "Install memflow[local-embedder]."
        return Finding("embedder", "missing", "sentence-transformers is not installed", fix)
    return Finding("embedder", "ok", chosen.model)


def _served(what: str, url: str, model: str, key_variable: str, profile: "Profile") -> Finding:
    """Request the model list of an endpoint. Return a finding that states whether the endpoint serves the model."""
    from memflow.errors import ChatError, EndpointDown, NoAnswer, RequestRefused
    from resources.endpoints.endpoint import Endpoint
    from resources.endpoints.model_list import read_model_names

    endpoint = Endpoint(url, key_variable, profile, timeout=PATIENCE, tries=1)

    async def names() -> list[str]:
        async with endpoint:
            return await endpoint.get("/models", read_model_names)

    try:
        known = asyncio.run(names())
    except EndpointDown as error:
        return Finding(what, "missing", str(error), "Start the server, or fix `url` in memflow.toml.")
    except NoAnswer as error:
        fix = "Use an OpenAI-compatible server, or fix `url` in memflow.toml."
        return Finding(what, "missing", str(error), fix)
    except RequestRefused as error:
        fix = (
            f"Set the environment variable {key_variable} to a key."
            if error.status in (401, 403)
            else "Fix `url`."
        )
        return Finding(what, "missing", str(error), fix)
    except (ChatError, BadInput) as error:
        return Finding(what, "missing", str(error), "Rerun when the server works.")
    if model not in known:
        shown = ", ".join(known[:5]) + (", ..." if len(known) > 5 else "")
        return Finding(
            what,
            "missing",
            f"{endpoint.address} serves {shown or 'no model'}, but not {model!r}",
            "Fix `model` in memflow.toml, or start a server with this model.",
        )
    return Finding(what, "ok", f"{model} at {endpoint.address}")
