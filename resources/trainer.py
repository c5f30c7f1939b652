"""Training an adapter: the program lora.py, run by the Python of an environment of its own, and waited for.

That environment holds torch, TRL and PEFT, which are no part of ours. What is trained on comes from
memflow.benchmarks.training; what an adapter's folder holds is adapter.py.
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
from resources.adapter import MANIFEST, Manifest, Trained, manifest_of, revision_of
from resources.process import default_signals, end, tail

Watch = Callable[[int, int, float], None]
"""Told the step, how many there are, and the loss."""
PROGRAM = Path(__file__).with_name("lora.py")


@dataclass(frozen=True)
class Job:
    """What is to be trained. `made_of` are the manifest's fields on where the examples come from."""

    examples: Iterable[Mapping[str, Any]]
    base: str
    base_revision: str
    parameters: Mapping[str, int | float | str]
    made_of: Mapping[str, Any]


@dataclass(frozen=True)
class Trainer:
    """Runs trainings.

    Nothing is left where one fails or is stopped, but its log beside the folder; it then begins anew.
    """

    python: str
    """The Python of the training environment, with arguments of its own where it needs them."""
    program: Path = PROGRAM

    def train(
        self, job: Job, out: Path, watch: Watch = lambda step, of, loss: None, *, over: bool = False
    ) -> Manifest:
        """Train, and leave the adapter in the folder `out`.

        Raises BadSettings where there is no such Python, BadInput where something is at `out` already (unless it is an
        adapter and `over`), TrainingFailed where no adapter came of it.
        """
        if out.exists() and not (over and (out / MANIFEST).is_file()):
            raise BadInput(f"{out} is there already; choose another folder")
        log = out.with_name(f"{out.name}.log")
        try:
            out.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(prefix=f".{out.name}-", dir=out.parent) as name:
                adapter, before = Path(name) / "adapter", Path(name) / "before"
                _write(job, Path(name))
                trained = self._run(Path(name), log, watch)
                _describe(job, adapter, trained)
                if out.exists():
                    out.replace(before)
                adapter.replace(out)
            log.replace(out / "training.log")
        except OSError as wrong:
            raise BadInput(f"{out} cannot be written: {wrong.strerror or wrong}") from wrong
        return manifest_of(out)

    def _run(self, folder: Path, log: Path, watch: Watch) -> Trained:
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
                    f"{self.python!r} cannot be run ({wrong}); as `python` under [training] in memflow.toml, name the "
                    "Python of an environment that has memflow's extra `sft`"
                ) from wrong
            try:
                return _heard(process, log, watch)
            finally:
                end(process)


def _write(job: Job, folder: Path) -> None:
    asked = {"base": job.base, "base_revision": job.base_revision, "parameters": dict(job.parameters)}
    (folder / "job.json").write_text(json.dumps(asked), encoding="utf-8")
    lines = "".join(f"{json.dumps(dict(each))}\n" for each in job.examples)
    (folder / "examples.jsonl").write_text(lines, encoding="utf-8")


def _describe(job: Job, adapter: Path, trained: Trained) -> None:
    manifest = Manifest(
        **job.made_of,
        base=job.base,
        base_revision=job.base_revision,
        parameters=dict(job.parameters),
        trained=trained,
    )
    manifest = manifest.model_copy(update={"revision": revision_of(adapter, manifest)})
    (adapter / MANIFEST).write_text(manifest.model_dump_json(indent=2) + "\n", encoding="utf-8")


def _heard(process: subprocess.Popen[bytes], log: Path, watch: Watch) -> Trained:
    """What the program says, until it ends."""
    assert process.stdout is not None
    trained = None
    for line in process.stdout:
        try:
            facts = json.loads(line)
            event = facts.pop("event")
            if event == "step":
                watch(facts["step"], facts["of"], facts["loss"])
            elif event == "done":
                trained = Trained.model_validate(facts)
            elif event == "failed":
                raise TrainingFailed(f"nothing was trained: {facts['reason']}")
        except (ValueError, KeyError, TypeError, AttributeError, ValidationError) as wrong:
            raise TrainingFailed(
                f"the training program said {line[:200]!r}, which is no event ({wrong})"
            ) from wrong
    code = process.wait()
    if trained is None or code != 0:
        raise TrainingFailed(f"the training program ended with {code} and no adapter: {tail(log)}")
    return trained
