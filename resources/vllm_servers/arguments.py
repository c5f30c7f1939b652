"""The command of `vllm serve` for a model of the settings."""

import shlex
from pathlib import Path

from memflow.resources.settings.chat_models import Model
from memflow.resources.settings.vllm_options import FLAGS, option_names
from memflow.resources.training.adapter import Manifest, load_adapter

DEFAULTS = (
    # The default xgrammar allows control characters in bounded strings, and a model may repeat whitespace between JSON
    # tokens forever.
    "--structured-outputs-config",
    '{"backend":"guidance","disable_any_whitespace":true}',
    "--enable-prompt-tokens-details",
)
RANKS = (8, 16, 32, 64, 128, 256, 320, 512)
"""The values that vLLM accepts as the maximum rank of adapters."""


def adapter_arguments(folder: Path, manifest: Manifest) -> list[str]:
    """Return the arguments of `vllm serve` for an adapter. Requests select it by the name of its folder."""
    rank = int(manifest.parameters["rank"])
    most = next((supported for supported in RANKS if supported >= rank), rank)
    module = f"{folder.name}={folder.absolute()}"
    return ["--enable-lora", "--max-lora-rank", str(most), "--lora-modules", module]


def serve_command(model: Model) -> list[str | None]:
    """Return the words of `vllm serve` for a model; None stands for the port.

    Raises BadSettings if the adapter cannot be read.
    """
    words: list[str | None] = [*shlex.split(model.executable), "serve", model.model]
    words += ["--host", "127.0.0.1", "--port", None, *DEFAULTS]
    if model.adapter:
        folder = Path(model.adapter).expanduser()
        words += adapter_arguments(folder, load_adapter(folder, model.revision))
    elif model.revision and not (
        "--revision" in option_names(model.arguments) or Path(model.model).expanduser().exists()
    ):
        words += ["--revision", model.revision]
    for name in ("tensor_parallel", "data_parallel", "gpu_memory", "max_model_len", "dtype", "quantization"):
        if name in model.model_fields_set and (value := getattr(model, name)):
            words += [FLAGS[name][0], str(value)]
    if model.prefix_caching is not None:
        words.append(FLAGS["prefix_caching"][0 if model.prefix_caching else 1])
    return [*words, *model.arguments]
