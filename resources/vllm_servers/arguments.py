"""The command of `vllm serve` for a model of the settings, and contradictions between settings and arguments."""

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from resources.training.adapter import Manifest, load_adapter

if TYPE_CHECKING:
    from resources.settings.chat_models import Model

DEFAULTS = (
    # The default xgrammar allows control characters in bounded strings, and a model may repeat whitespace between JSON
    # tokens forever.
    "--structured-outputs-config",
    '{"backend":"guidance","disable_any_whitespace":true}',
    "--enable-prompt-tokens-details",
)
RANKS = (8, 16, 32, 64, 128, 256, 320, 512)
"""The values that vLLM accepts as the maximum rank of adapters."""
FLAGS = {
    "tensor_parallel": ("--tensor-parallel-size", "-tp"),
    "data_parallel": ("--data-parallel-size", "-dp"),
    "gpu_memory": ("--gpu-memory-utilization",),
    "max_model_len": ("--max-model-len",),
    "dtype": ("--dtype",),
    "quantization": ("--quantization", "-q"),
    "prefix_caching": ("--enable-prefix-caching", "--no-enable-prefix-caching"),
    "adapter": ("--lora-modules", "--max-lora-rank"),
}
"""The settings of a model, and the arguments that do the same."""
OWN = ("--host", "--port", "--uds", "--served-model-name", "--model")
"""Arguments that memflow sets, or that change the name of the model in requests."""
SECRETS = {"--api-key": "VLLM_API_KEY", "--hf-token": "HF_TOKEN"}
"""Arguments with a secret, and the environment variables that vLLM reads instead."""
NEW = ("gpus", *(name for name in FLAGS if name != "adapter"), "startup")
"""The settings that belong to kind vllm, and are rejected for others."""
OF_ANY_SERVER = ("dtype", "quantization")
"""Those of NEW that a server which memflow does not start may have too."""


def adapter_arguments(folder: Path, manifest: Manifest) -> list[str]:
    """Return the arguments of `vllm serve` for an adapter. Requests select it by the name of its folder."""
    rank = int(manifest.parameters["rank"])
    most = next((supported for supported in RANKS if supported >= rank), rank)
    module = f"{folder.name}={folder.absolute()}"
    return ["--enable-lora", "--max-lora-rank", str(most), "--lora-modules", module]


def serve_command(model: "Model") -> list[str | None]:
    """Return the words of `vllm serve` for a model; None stands for the port.

    Raises BadSettings if the adapter cannot be read.
    """
    words: list[str | None] = [*shlex.split(model.executable), "serve", model.model]
    words += ["--host", "127.0.0.1", "--port", None, *DEFAULTS]
    if model.adapter:
        folder = Path(model.adapter).expanduser()
        words += adapter_arguments(folder, load_adapter(folder, model.revision))
    elif model.revision and not (
        "--revision" in _flags(model.arguments) or Path(model.model).expanduser().exists()
    ):
        words += ["--revision", model.revision]
    for name in ("tensor_parallel", "data_parallel", "gpu_memory", "max_model_len", "dtype", "quantization"):
        if name in model.model_fields_set and (value := getattr(model, name)):
            words += [FLAGS[name][0], str(value)]
    if model.prefix_caching is not None:
        words.append(FLAGS["prefix_caching"][0 if model.prefix_caching else 1])
    return [*words, *model.arguments]


def contradiction(model: "Model") -> str | None:
    """Return what is contradictory in the settings of a model about its server, or None."""
    given = [name for name in NEW if name in model.model_fields_set]
    if model.kind != "vllm":
        return f'has `{given[0]}` but not kind = "vllm". Set kind = "vllm", or remove it.' if given else None
    if model.url:
        given += [name for name in ("arguments", "adapter") if name in model.model_fields_set]
        started = [name for name in given if name not in OF_ANY_SERVER]
        return (
            f"has an address and `{started[0]}`: the server at an address runs already, and memflow starts none. "
            "Remove one of them."
            if started
            else None
        )
    devices = model.tensor_parallel * model.data_parallel
    if model.gpus and len({device.strip() for device in model.gpus.split(",")}) != devices:
        return (
            f"has gpus = {model.gpus!r}, and it needs {devices} different ones (tensor_parallel x data_parallel). "
            "Fix `gpus`."
        )
    return _contradictory_arguments(model)


def _contradictory_arguments(model: "Model") -> str | None:
    flags = _flags(model.arguments)
    if own := flags.intersection(OWN):
        return f"has {min(own)} in `arguments`, which memflow sets itself. Remove it."
    if secrets := flags.intersection(SECRETS):
        return (
            f"has {min(secrets)} in `arguments`, and settings contain no secrets. Remove it, and set the environment "
            f'variable {SECRETS[min(secrets)]}; for requests, also key_variable = "VLLM_API_KEY".'
        )
    for name, alternatives in FLAGS.items():
        if name in model.model_fields_set and (repeated := flags.intersection(alternatives)):
            return f"has the setting `{name}` and {min(repeated)} in `arguments`. Remove the argument."
    return None


def _flags(arguments: Sequence[str]) -> set[str]:
    """Return the names of the options in a list of arguments, in vLLM's spelling."""
    return {word.partition("=")[0].replace("_", "-") for word in arguments if word.startswith("-")}
