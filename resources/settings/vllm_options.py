"""The options of `vllm serve` that settings of a model stand for, and contradictions between both."""

from collections.abc import Collection, Sequence

FLAGS = {
    "tensor_parallel": ("--tensor-parallel-size", "-tp"),
    "data_parallel": ("--data-parallel-size", "-dp"),
    "gpu_memory": ("--gpu-memory-utilization",),
    "max_model_len": ("--max-model-len",),
    "dtype": ("--dtype",),
    "quantization": ("--quantization", "-q"),
    "prefix_caching": ("--enable-prefix-caching", "--no-enable-prefix-caching"),
}
"""The settings of a model, and the arguments that do the same."""
OWN = ("--host", "--port", "--uds", "--served-model-name", "--model")
"""Arguments that memflow sets, or that change the name of the model in requests."""
SECRETS = {"--api-key": "VLLM_API_KEY", "--hf-token": "HF_TOKEN"}
"""Arguments with a secret, and the environment variables that vLLM reads instead."""
NEW = ("gpus", *FLAGS, "startup")
"""The settings that belong to kind vllm, and are rejected for others."""
OF_ANY_SERVER = ("dtype", "quantization")
"""Those of NEW that a server which memflow does not start may have too."""


def contradictory_arguments(arguments: Sequence[str], settings: Collection[str]) -> str | None:
    """Return what is contradictory in the arguments of `vllm serve` beside these settings of a model, or None."""
    flags = option_names(arguments)
    if own := flags.intersection(OWN):
        return f"has {min(own)} in `arguments`, which memflow sets itself. Remove it."
    if secrets := flags.intersection(SECRETS):
        return (
            f"has {min(secrets)} in `arguments`, and settings contain no secrets. Remove it, and set the environment "
            f'variable {SECRETS[min(secrets)]}; for requests, also key_variable = "VLLM_API_KEY".'
        )
    for name, alternatives in FLAGS.items():
        if name in settings and (repeated := flags.intersection(alternatives)):
            return f"has the setting `{name}` and {min(repeated)} in `arguments`. Remove the argument."
    return None


def option_names(arguments: Sequence[str]) -> set[str]:
    """Return the names of the options in a list of arguments, in vLLM's spelling."""
    return {word.partition("=")[0].replace("_", "-") for word in arguments if word.startswith("-")}
