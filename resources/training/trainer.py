"""Training of adapters: runs lora.py as a subprocess in a Python environment that has torch, TRL and PEFT.

A benchmark selects the training examples; adapter.py reads the resulting folder.
"""

import json
import os
import shlex
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from memflow.errors import BadInput, BadSettings, TrainingFailed
from memflow.resources.process import default_signals, log_tail, terminate
from memflow.resources.training.adapter import (
    MANIFEST,
    Manifest,
    TrainingResult,
    compute_revision,
    read_manifest,
)

Watch = Callable[[int, int, float], None]
"""Called with the step, the number of steps and the loss."""
PROGRAM = Path(__file__).with_name("lora.py")


@dataclass(frozen=True)
class Job:
    """A training job. `made_of` contains the manifest's fields about the source of the examples."""

    examples: Iterable[Mapping[str, Any]]
    base: str
    base_revision: str
    parameters: Mapping[str, int | float | str]
    made_of: Mapping[str, Any]


@dataclass(frozen=True)
class Trainer:
    """An executor of training jobs. A failed or interrupted training leaves only a log next to the output folder."""

    python: str
    """The command of the training environment's Python, with arguments if needed."""
    program: Path = PROGRAM

    def train(
        self, job: Job, out: Path, watch: Watch = lambda step, of, loss: None, *, over: bool = False
    ) -> Manifest:
        """Train an adapter, write it to the folder `out`, and return its manifest. `over` replaces an existing adapter.

        Raises BadSettings if the Python cannot be run, BadInput if `out` exists, TrainingFailed if the training fails.
        """
        if out.exists() and not (over and (out / MANIFEST).is_file()):
            raise BadInput(
                f"the folder {out} already exists. Choose another folder with --out, or replace it with --force."
            )
        log = out.with_name(f"{out.name}.log")
        try:
            out.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(prefix=f".{out.name}-", dir=out.parent) as name:
                adapter, before = Path(name) / "adapter", Path(name) / "before"
                _write_job(job, Path(name))
                trained = self._run(Path(name), log, watch)
                _write_manifest(job, adapter, trained)
                if out.exists():
                    out.replace(before)
                adapter.replace(out)
            log.replace(out / "training.log")
        except OSError as wrong:
            raise BadInput(
                f"cannot write the adapter to {out}: {wrong.strerror or wrong}. Choose another folder, or make it "
                "writable."
            ) from wrong
        return read_manifest(out)

    def _run(self, folder: Path, log: Path, watch: Watch) -> TrainingResult:
        command = [*shlex.split(self.python), "-I", str(self.program), str(folder)]
        with log.open("wb") as said:
            try:
                process = subprocess.Popen(
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=said,
                    env={**os.environ, "PYTHONUNBUFFERED": "1"},
                    start_new_session=True,  # its own process group: its workers end with it
                    preexec_fn=default_signals(),  # noqa: PLW1509  (None unless signals are ignored)
                )
            except OSError as wrong:
                raise BadSettings(
                    f"cannot run {self.python!r} ({wrong}). Set `python` under [training] in memflow.toml to "
                    "the Python of an environment that has memflow's extra `sft`."
                ) from wrong
            try:
                return _read_events(process, log, watch)
            finally:
                terminate(process)


def _write_job(job: Job, folder: Path) -> None:
    asked = {"base": job.base, "base_revision": job.base_revision, "parameters": dict(job.parameters)}
    (folder / "job.json").write_text(json.dumps(asked), encoding="utf-8")
    lines = "".join(f"{json.dumps(dict(each))}\n" for each in job.examples)
    (folder / "examples.jsonl").write_text(lines, encoding="utf-8")


def _write_manifest(job: Job, adapter: Path, trained: TrainingResult) -> None:
    manifest = Manifest(
        **job.made_of,
        base=job.base,
        base_revision=job.base_revision,
        parameters=dict(job.parameters),
        trained=trained,
    )
    manifest = manifest.model_copy(update={"revision": compute_revision(adapter, manifest)})
    (adapter / MANIFEST).write_text(manifest.model_dump_json(indent=2) + "\n", encoding="utf-8")


def _read_events(process: subprocess.Popen[bytes], log: Path, watch: Watch) -> TrainingResult:
    """Read the training program's events until the program ends. Return the training result."""
    assert process.stdout is not None
    trained = None
    for line in process.stdout:
        try:
            facts = json.loads(line)
            event = facts.pop("event")
            if event == "step":
                watch(facts["step"], facts["of"], facts["loss"])
            elif event == "done":
                trained = TrainingResult.model_validate(facts)
            elif event == "failed":
                raise TrainingFailed(f"the training failed: {facts['reason']}")
        except (ValueError, KeyError, TypeError, AttributeError, ValidationError) as wrong:
            raise TrainingFailed(
                f"the training program printed {line[:200]!r}, which is not an event ({wrong}). Check "
                "`python` under [training] in memflow.toml."
            ) from wrong
    code = process.wait()
    if trained is None or code != 0:
        raise TrainingFailed(
            f"the training program exited with status {code} without an adapter. Fix the error in its "
            f"log, then rerun: {log_tail(log)}"
        )
    return trained
