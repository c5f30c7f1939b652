"""The command of `vllm serve` for a model of the settings."""

import shlex
from pathlib import Path

from memflow.resources.settings.chat_models import Model

DEFAULTS = (
    # The default xgrammar allows control characters in bounded strings, and a model may repeat whitespace between JSON
    # tokens forever.
    "--structured-outputs-config",
    '{"backend":"guidance","disable_any_whitespace":true}',
    "--enable-prompt-tokens-details",
)


def serve_command(model: Model) -> list[str | None]:
    """Return the words of `vllm serve` for a model; None stands for the port.

    Of an argument that occurs twice, vLLM takes the last.
    """
    words: list[str | None] = [*shlex.split(model.executable), "serve", model.model, *DEFAULTS]
    if model.revision and not Path(model.model).expanduser().exists():
        words += ["--revision", model.revision]
    for name in ("max_model_len", "dtype", "quantization"):
        if value := getattr(model, name):
            words += [f"--{name.replace('_', '-')}", str(value)]
    return [*words, *model.arguments, "--host", "127.0.0.1", "--port", None]
