"""A trained adapter on disk: a folder with LoRA weights as safetensors, PEFT's configuration, and our manifest.

The manifest says what it was trained on, and its digest is the adapter's revision. Training is trainer.py, serving
vllm.py.
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
    """A case whose request alone fills the length."""

    case_id: str
    reason: str


class TrainingResult(_StrictModel):
    """What came of a training, as the program says it. Losses are per token of the answers, in nats."""

    examples: int
    too_long: list[SkippedCase]
    cut_short: list[str]
    """Cases whose answer was cut off at the length."""
    longest: int
    """Tokens of the longest request with its answer."""
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
    """What an adapter was made of."""

    format: Literal[1] = 1
    domain: str
    action: str
    backbone: str
    """The model that gave the answers, by its name in the settings of the day."""
    scripted: bool
    """The answers are of the scripted chat, which is not a language model."""
    cases: list[str]
    data: str
    """Digest of requests and answers."""
    base: str
    base_revision: str
    parameters: dict[str, int | float | str]
    trained: TrainingResult
    revision: str = ""
    """Digest of the weights, their scale and the base's files; empty until they lie there."""

    @property
    def recipe(self) -> str:
        """Digest of what was asked for: the same data, base and parameters."""
        return recipe(self.data, self.base, self.base_revision, self.parameters)


def recipe(data: str, base: str, base_revision: str, parameters: dict[str, int | float | str]) -> str:
    """Digest of all that a training is asked for."""
    return digest(data, base, base_revision, parameters)


def compute_revision(folder: Path, manifest: Manifest) -> str:
    """The digest of an adapter as it lies. Raises BadInput where a file is missing."""
    for name in (WEIGHTS, CONFIGURATION):
        if not (folder / name).is_file():
            raise BadInput(f"{folder} is no adapter: it has no {name}")
    weights = hashlib.sha256((folder / WEIGHTS).read_bytes()).hexdigest()
    scale = {name: manifest.parameters[name] for name in ("rank", "alpha")}
    return digest(weights, scale, manifest.trained.base_files)


def read_manifest(folder: Path) -> Manifest:
    """The manifest of a folder. Raises BadInput where it is none of ours, or the weights are not those it is of."""
    try:
        manifest = Manifest.model_validate_json((folder / MANIFEST).read_bytes())
    except OSError as wrong:
        raise BadInput(
            f"{folder} is no adapter of `memflow finetune`: {MANIFEST}: {wrong.strerror}"
        ) from wrong
    except ValidationError as wrong:
        first = wrong.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"]) or "the whole"
        raise BadInput(f"{folder / MANIFEST}: at {place}: {first['msg']}") from wrong
    if compute_revision(folder, manifest) != manifest.revision:
        raise BadInput(f"the weights in {folder} are not those of its {MANIFEST}; train it again")
    return manifest


def load_adapter(folder: Path, revision: str) -> Manifest:
    """The manifest of the adapter that the settings name. Raises BadSettings where `revision` is of another."""
    manifest = read_manifest(folder)
    if manifest.revision != revision:
        raise BadSettings(
            f"the adapter in {folder} is {manifest.revision}, and memflow.toml says revision = {revision!r}; mend "
            "it: answers are kept under the revision"
        )
    return manifest
