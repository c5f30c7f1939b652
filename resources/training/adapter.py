"""A trained adapter on disk: a folder with LoRA weights (safetensors), PEFT's configuration and a manifest.

trainer.py writes the folder, vLLM serves the adapter. The adapter's revision is the content hash of its weights.
"""

import hashlib
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from memflow.errors import BadInput, BadSettings
from memflow.fingerprint import digest

MANIFEST = "manifest.json"
WEIGHTS = "adapter_model.safetensors"
CONFIGURATION = "adapter_config.json"


class _StrictModel(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class SkippedCase(_StrictModel):
    """A training case that was skipped because its request alone exceeds the maximum number of tokens."""

    case_id: str
    reason: str


class TrainingResult(_StrictModel):
    """The result of the training program: counts, losses (means per answer token, in nats), seconds and versions."""

    examples: int
    too_long: list[SkippedCase]
    cut_short: list[str]
    """Cases whose answer was truncated to the maximum length."""
    longest: int
    """Tokens of the longest request and answer together."""
    steps: int
    first_loss: float
    last_loss: float
    trained_parameters: int
    adapted_modules: list[str]
    schedule: dict[str, str | float]
    seconds: float
    device: str
    precision: str
    base_files: dict[str, str]
    """SHA-256 of the base model's files."""
    versions: dict[str, str]


class Manifest(_StrictModel):
    """The data, base model and parameters that an adapter was trained with, and the training result."""

    format: Literal[1] = 1
    domain: str
    action: str
    backbone: str
    """The model that wrote the answers, by its name in the settings at that time."""
    scripted: bool
    """Whether the answers come from the scripted chat, which is not a language model."""
    cases: list[str]
    data: str
    """Digest of the requests and answers."""
    base: str
    base_revision: str
    parameters: dict[str, int | float | str]
    trained: TrainingResult
    revision: str = ""
    """Digest of weights, scale and base files; empty until the weights are written."""

    @property
    def input_fingerprint(self) -> str:
        """The fingerprint of the training inputs: data, base model and parameters."""
        return input_fingerprint(self.data, self.base, self.base_revision, self.parameters)


def input_fingerprint(
    data: str, base: str, base_revision: str, parameters: dict[str, int | float | str]
) -> str:
    """Return the fingerprint of the training inputs: data, base model and parameters."""
    return digest(data, base, base_revision, parameters)


def compute_revision(folder: Path, manifest: Manifest) -> str:
    """Return the content hash of the adapter in a folder. Raises BadInput if a file is missing."""
    for name in (WEIGHTS, CONFIGURATION):
        if not (folder / name).is_file():
            raise BadInput(
                f"{folder} is not an adapter: {name} is missing. Train an adapter with `memflow finetune`."
            )
    weights = hashlib.sha256((folder / WEIGHTS).read_bytes()).hexdigest()
    scale = {name: manifest.parameters[name] for name in ("rank", "alpha")}
    return digest(weights, scale, manifest.trained.base_files)


def read_manifest(folder: Path) -> Manifest:
    """Return the manifest in a folder. Raises BadInput if it is missing or invalid, or if the weights have changed."""
    try:
        manifest = Manifest.model_validate_json((folder / MANIFEST).read_bytes())
    except OSError as wrong:
        raise BadInput(
            f"{folder} is not an adapter of `memflow finetune`: cannot read {MANIFEST} "
            f"({wrong.strerror}). Fix the path, or train an adapter."
        ) from wrong
    except ValidationError as wrong:
        first = wrong.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"]) or "the whole file"
        raise BadInput(
            f"{folder / MANIFEST}: invalid {place}: {first['msg']}. Train the adapter again."
        ) from wrong
    if compute_revision(folder, manifest) != manifest.revision:
        raise BadInput(
            f"the weights in {folder} have changed since the training: their content hash differs from that in "
            f"{MANIFEST}. Train the adapter again."
        )
    return manifest


def load_adapter(folder: Path, revision: str) -> Manifest:
    """Return the manifest of an adapter. Raises BadSettings if its revision differs from `revision`."""
    manifest = read_manifest(folder)
    if manifest.revision != revision:
        raise BadSettings(
            f"the adapter in {folder} has the revision {manifest.revision}, but memflow.toml has "
            f"revision = {revision!r}. Fix `revision` in memflow.toml, because answers are cached by "
            "revision."
        )
    return manifest
