"""The command of `vllm serve` for a model of the settings."""

import shlex
from pathlib import Path

from memflow.resources.settings.chat_models import Model
from memflow.resources.settings.vllm_options import FLAGS, option_names

DEFAULTS = (
    # The default xgrammar allows control characters in bounded strings, and a model may repeat whitespace between JSON
    # tokens forever.
    "--structured-outputs-config",
    '{"backend":"guidance","disable_any_whitespace":true}',
    "--enable-prompt-tokens-details",
)


def serve_command(model: Model) -> list[str | None]:
    """Return the words of `vllm serve` for a model; None stands for the port."""
    words: list[str | None] = [*shlex.split(model.executable), "serve", model.model]
    words += ["--host", "127.0.0.1", "--port", None, *DEFAULTS]
    if model.revision and not (
        "--revision" in option_names(model.arguments) or Path(model.model).expanduser().exists()
    ):
        words += ["--revision", model.revision]
    for name in ("tensor_parallel", "data_parallel", "gpu_memory", "max_model_len", "dtype", "quantization"):
        if name in model.model_fields_set and (value := getattr(model, name)):
            words += [FLAGS[name][0], str(value)]
    if model.prefix_caching is not None:
        words.append(FLAGS["prefix_caching"][0 if model.prefix_caching else 1])
    return [*words, *model.arguments]
