"""The settings of models, roles and embedder that the options --model, --url and --embedder stand for."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memflow.errors import BadSettings

if TYPE_CHECKING:
    from resources.settings.sections import Embedder

ROLES = ("simulator", "judge", "backbone", "assistant", "annotator", "verifier")


def model_settings(
    model: str | None, urls: Sequence[str] | None, preset: str | None, named: Mapping[str, str]
) -> dict[str, Any]:
    """Return the `models` and `roles` settings of the options --model, --url, --preset and the role options."""
    from resources.endpoints.addresses import check_address
    from resources.settings.chat_models import command_line_name
    from resources.settings.values import ONE_ADDRESS

    over: dict[str, Any] = {}
    if urls and not model:
        raise BadSettings(
            "--url is given without a model. Add --model with the name of a model at that server."
        )
    if preset and not urls:
        raise BadSettings(
            "--preset is given without --url. Set `preset` of the model in memflow.toml instead, or add --url."
        )
    roles: dict[str, str] = {}
    if urls:
        if len(urls) > 1:
            raise BadSettings(f"--url is given {len(urls)} times: {ONE_ADDRESS}")
        check_address("--url", urls[0])
        served = {
            "kind": "endpoint",
            "url": urls[0],
            "model": model,
            **({"preset": preset} if preset else {}),
        }
        name = command_line_name(model or "")
        over["models"] = {name: served}
        model = name
    if model:
        roles = dict.fromkeys(ROLES, model)
    roles |= named
    if roles:
        over["roles"] = roles
    return over


def embedder_settings(
    configured: "Embedder", name: str | None, address: str | None, url: str | None
) -> dict[str, Any]:
    """Return the `embedder` setting that --embedder and --embedder-url set; `url` is the chat model's address."""
    from resources.endpoints.addresses import check_address

    if not name:
        raise BadSettings("--embedder-url is given without a model. Add --embedder with the model's name.")
    if not address and name == "hashing":
        return {"kind": "hashing", "dimensions": configured.dimensions}
    if not address and Path(name).expanduser().is_dir():
        return {"kind": "folder", "model": name}
    if address:
        check_address("--embedder-url", address)
    served = address or configured.url or url
    if not served:
        raise BadSettings(
            f"the embedder {name} is neither an existing folder nor `hashing`, and has no address. Add --embedder-url "
            "with the address that serves it, or fix the folder."
        )
    return {"kind": "endpoint", "url": served, "model": name, "key_variable": configured.key_variable}
