"""The command of `vllm serve` for a model of the settings, and contradictions between settings and arguments."""

import shlex
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from memflow.errors import BadSettings
from resources.training.adapter import Manifest, load_adapter
from resources.vllm_servers.devices import device_list

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
    "prefix_caching": ("--enable-prefix-caching", "--no-enable-prefix-caching"),
    "dtype": ("--dtype",),
    "quantization": ("--quantization", "-q"),
    "adapter": ("--lora-modules", "--max-lora-rank"),
}
"""The settings of a model, and the arguments that do the same."""
OWN = ("--host", "--port", "--uds", "--served-model-name", "--model")
"""Arguments that memflow sets, or that change the name of the model in requests."""
SECRETS = ("--api-key", "--hf-token")
"""Arguments with a secret, and the environment variables that vLLM reads instead: VLLM_API_KEY and HF_TOKEN."""
REPEATABLE = ("--middleware", "--lora-modules")
STARTED = (
    *(
        "arguments",
        "adapter",
        "replicas",
        "gpus",
        "tensor_parallel",
        "data_parallel",
        "gpu_memory",
        "prefix_caching",
    ),
    *("startup", "idle"),
)
"""The settings that only a server has that memflow starts. `memflow bench` uses `executable` in any case."""
NEW = ("replicas", "gpus", *(name for name in FLAGS if name != "adapter"), "startup", "idle")
"""The settings that belong to kind vllm, and are rejected for others."""


@dataclass(frozen=True)
class Adapter:
    """An adapter that a server loads together with its base model. Requests select the adapter by `name`."""

    folder: Path
    rank: int

    @classmethod
    def of(cls, folder: Path, manifest: Manifest) -> "Adapter":
        """Return the adapter in a folder, described by its manifest."""
        return cls(folder.absolute(), int(manifest.parameters["rank"]))

    @property
    def name(self) -> str:
        """The model name in requests: the name of the adapter's folder."""
        return self.folder.name

    def arguments(self) -> list[str]:
        """Return the adapter's arguments for `vllm serve`. Raises BadSettings if vLLM does not support the rank."""
        most = next((rank for rank in RANKS if rank >= self.rank), None)
        if most is None:
            raise BadSettings(
                f"the adapter {self.folder} has rank {self.rank}, but vLLM supports at most {RANKS[-1]}. "
                "Train an adapter with a lower rank."
            )
        return ["--enable-lora", "--max-lora-rank", str(most), "--lora-modules", f"{self.name}={self.folder}"]


def serve_command(model: "Model") -> list[str | None]:
    """Return the words of `vllm serve` for a model; None stands for the port.

    Raises BadSettings if the adapter cannot be served.
    """
    given = _flags(model.arguments)
    words: list[str | None] = [*shlex.split(model.executable), "serve", model.model]
    words += ["--host", "127.0.0.1", "--port", None, *DEFAULTS]
    if model.adapter:
        folder = Path(model.adapter).expanduser()
        words += Adapter.of(folder, load_adapter(folder, model.revision)).arguments()
    elif model.revision and "--revision" not in given and not Path(model.model).expanduser().exists():
        words += ["--revision", model.revision]
    for name, default in (("tensor_parallel", 1), ("data_parallel", 1)):
        if getattr(model, name) != default:
            words += [FLAGS[name][0], str(getattr(model, name))]
    for name in ("gpu_memory", "max_model_len", "dtype", "quantization"):
        if getattr(model, name):
            words += [FLAGS[name][0], str(getattr(model, name))]
    if model.prefix_caching is not None:
        words.append(FLAGS["prefix_caching"][0 if model.prefix_caching else 1])
    return [*words, *model.arguments]


def contradiction(model: "Model") -> str | None:
    """Return what is contradictory in the settings of a model about its server, or None."""
    given = sorted(model.model_fields_set & set(NEW))
    if model.kind != "vllm":
        return f'has `{given[0]}` but not kind = "vllm". Set kind = "vllm", or remove it.' if given else None
    if model.url:
        started = sorted(model.model_fields_set & set(STARTED))
        return (
            f"has `url` and `{started[0]}`: the server at an address runs already, and memflow starts none. "
            "Remove one of them."
            if started
            else None
        )
    return _contradictory_arguments(model) or _contradictory_devices(model)


def _contradictory_arguments(model: "Model") -> str | None:
    flags = _flags(model.arguments)
    if own := next((flag for flag in flags if flag in OWN), None):
        return f"has {own} in `arguments`, which memflow sets itself. Remove it."
    if secret := next((flag for flag in flags if flag in SECRETS), None):
        variable = "VLLM_API_KEY" if secret == "--api-key" else "HF_TOKEN"
        return (
            f"has {secret} in `arguments`, and settings contain no secrets. Remove it, and set the environment "
            f'variable {variable}; for requests, also key_variable = "VLLM_API_KEY".'
        )
    if repeated := next(
        (flag for flag, times in flags.items() if times > 1 and flag not in REPEATABLE), None
    ):
        return f"has {repeated} twice in `arguments`. Remove one of them."
    for name, alternatives in FLAGS.items():
        found = next((flag for flag in flags if flag in alternatives), None)
        if found and (name in model.model_fields_set and getattr(model, name) not in (None, "")):
            return f"has the setting `{name}` and {found} in `arguments`. Remove the argument."
        if found and name in ("tensor_parallel", "data_parallel") and (model.replicas > 1 or model.gpus):
            return f"has {found} in `arguments`, and `replicas` or `gpus` depend on it. Set `{name}` instead."
    return None


def _contradictory_devices(model: "Model") -> str | None:
    if not model.gpus:
        return None
    if len(model.gpus) != model.replicas:
        return (
            f"has {model.replicas} replicas and {len(model.gpus)} lists of `gpus`. Give each replica a list, such as "
            'gpus = ["0,1", "2,3"].'
        )
    devices = model.tensor_parallel * model.data_parallel
    groups = [device_list(each) for each in model.gpus]
    if wrong := next((group for group in groups if len(group) != devices or len(set(group)) < devices), None):
        return (
            f"gives a replica the devices {','.join(wrong) or '(none)'}, and it needs {devices} different ones "
            "(tensor_parallel x data_parallel). Fix `gpus`."
        )
    shared = Counter(each for group in groups for each in group)
    crowded = next(
        (each for each, times in shared.items() if times > 1 and times * (model.gpu_memory or 1) > 1), None
    )
    if crowded is not None:
        return (
            f"gives the device {crowded} to {shared[crowded]} replicas. Give each its own, or set `gpu_memory` to at "
            f"most {1 / shared[crowded]:.2f}."
        )
    return None


def _flags(arguments: Sequence[str]) -> Counter[str]:
    """Return the names of the options in a list of arguments, in vLLM's spelling, and how often they occur."""
    names = (each.partition("=")[0] for each in arguments if each.startswith("-") and not _is_number(each))
    return Counter(name.replace("_", "-") for name in names)


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True
