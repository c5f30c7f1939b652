"""Training in a subprocess and the resulting adapter, with a fake training program."""

import json
import os
import sys
import time
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from training_program import DONE, LEARNS

from memflow.errors import BadInput, BadSettings, TrainingFailed
from memflow.resources.training.adapter import (
    MANIFEST,
    WEIGHTS,
    input_fingerprint,
    load_adapter,
    read_manifest,
)
from memflow.resources.training.trainer import Job, Trainer

JOB = Job(
    examples=[{"case_id": case, "prompt": [], "completion": [{"content": "a\u2028b\nc"}]} for case in "ab"],
    base="tiny",
    base_revision="",
    parameters={"rank": 8, "alpha": 32, "seed": 42},
    made_of={
        "domain": "d",
        "action": "like",
        "backbone": "scripted",
        "scripted": True,
        "cases": ["a", "b"],
        "data": "digest",
    },
)


@pytest.fixture
def trainer(tmp_path: Path):
    """Return a function that makes a trainer from the text of its program."""

    def of(program: str) -> Trainer:
        (tmp_path / "program.py").write_text(program, encoding="utf-8")
        return Trainer(sys.executable, tmp_path / "program.py")

    return of


def left(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()} - {"program.py"}


def test_trainer_writes_adapter_manifest_and_log(tmp_path: Path, trainer: Any) -> None:
    seen: list[tuple[int, int, float]] = []
    out = tmp_path / "deep" / "liked"
    manifest = trainer(LEARNS).train(JOB, out, lambda *step: seen.append(step))
    assert seen == [(1, 2, 2.0), (2, 2, 1.5)]
    assert left(out) == {WEIGHTS, "adapter_config.json", MANIFEST, "training.log"}
    assert left(out.parent) == {"liked"}
    assert (out / "training.log").read_text() == "learning\n"
    assert manifest == read_manifest(out)
    assert manifest.cases == ["a", "b"] and manifest.trained.cut_short == ["b"] and manifest.scripted
    assert manifest.input_fingerprint == input_fingerprint("digest", "tiny", "", JOB.parameters)
    assert len(manifest.revision) == 32


def test_adapter_revision_covers_weights_and_scale(tmp_path: Path, trainer: Any) -> None:
    teach = trainer(LEARNS)

    def revision(name: str, **over: Any) -> str:
        return teach.train(replace(JOB, parameters={**JOB.parameters, **over}), tmp_path / name).revision

    first = revision("one")
    assert revision("same") == first
    assert revision("weights", seed=43) != first
    assert revision("scale", alpha=16) != first


def test_load_adapter_rejects_a_wrong_revision_or_changed_weights(tmp_path: Path, trainer: Any) -> None:
    out = tmp_path / "liked"
    manifest = trainer(LEARNS).train(JOB, out)
    assert load_adapter(out, manifest.revision) == manifest
    with pytest.raises(BadSettings, match=f"has the revision {manifest.revision}, but .* revision = 'other'"):
        load_adapter(out, "other")
    (out / WEIGHTS).write_text("others")
    with pytest.raises(BadInput, match=r"the weights in .* have changed since the training"):
        read_manifest(out)
    (out / WEIGHTS).unlink()
    with pytest.raises(BadInput, match=r"adapter_model\.safetensors is missing"):
        read_manifest(out)
    with pytest.raises(BadInput, match="is not an adapter of `memflow finetune`"):
        read_manifest(tmp_path)


@pytest.mark.parametrize(
    ("text", "match"), [('{"revision": 3}', "invalid domain: "), ("{", "the whole file: Invalid JSON")]
)
def test_invalid_manifest_is_named_with_its_field(tmp_path: Path, text: str, match: str) -> None:
    (tmp_path / MANIFEST).write_text(text)
    with pytest.raises(BadInput, match=match):
        read_manifest(tmp_path)


def test_trainer_names_the_setting_or_folder_to_fix(tmp_path: Path, trainer: Any) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(BadInput, match=r"cannot write .*file/liked"):
        trainer(LEARNS).train(JOB, tmp_path / "file" / "liked")
    with pytest.raises(BadSettings, match=r"cannot run .*\[training\] in memflow\.toml"):
        Trainer("no-such-python").train(JOB, tmp_path / "liked")
    with pytest.raises(BadInput, match=r"adapter_model\.safetensors is missing"):
        trainer(f"print({json.dumps(DONE)!r})").train(JOB, tmp_path / "liked")


@pytest.mark.parametrize(
    ("program", "match"),
    [
        ('print(\'{"event": "failed", "reason": "no weights"}\')', "the training failed: no weights"),
        ("import sys; print('no memory', file=sys.stderr); sys.exit(3)", r"(?s)status 3 .*no memory"),
        ("pass", "exited with status 0 without an adapter"),
        ("print('half way')", "printed .*half way.* which is not an event"),
        (f"print({json.dumps(DONE).replace('1.5', 'NaN')!r})", "which is not an event"),
        (f"print({json.dumps(DONE)!r}); raise SystemExit(1)", "exited with status 1 without an adapter"),
    ],
)
def test_failed_training_writes_only_its_log(tmp_path: Path, trainer: Any, program: str, match: str) -> None:
    with pytest.raises(TrainingFailed, match=match):
        trainer(program).train(JOB, tmp_path / "liked")
    assert left(tmp_path) == {"liked.log"}


def test_interrupted_training_ends_the_training_process(tmp_path: Path, trainer: Any) -> None:
    waits = f"""
import json, os, time
open({str(tmp_path / "pid")!r}, "w").write(str(os.getpid()))
print(json.dumps({{"event": "step", "step": 1, "of": 2, "loss": 2.0}}), flush=True)
time.sleep(60)
"""

    def stop(*step: Any) -> None:
        raise KeyboardInterrupt

    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        trainer(waits).train(JOB, tmp_path / "liked", stop)
    assert time.monotonic() - started < 15
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)
    assert left(tmp_path) == {"liked.log", "pid"}


def test_trainer_overwrites_an_existing_adapter_only_if_requested(tmp_path: Path, trainer: Any) -> None:
    out = tmp_path / "liked"
    out.mkdir()
    (out / "mine.txt").write_text("mine")
    for over in (False, True):
        with pytest.raises(BadInput, match="already exists"):
            trainer(LEARNS).train(JOB, out, over=over)
    other = tmp_path / "other"
    first = trainer(LEARNS).train(JOB, other)
    with pytest.raises(BadInput, match="already exists"):
        trainer(LEARNS).train(JOB, other)
    again = replace(JOB, parameters={**JOB.parameters, "seed": 7})
    assert trainer(LEARNS).train(again, other, over=True).revision != first.revision
    with pytest.raises(TrainingFailed):
        trainer("pass").train(JOB, other, over=True)
    assert read_manifest(other).parameters["seed"] == 7
    assert left(tmp_path) == {"liked", "other", "other.log"}


def test_trainer_reports_missing_training_packages(tmp_path: Path) -> None:
    """Run the training program in this environment, which has no TRL."""
    if find_spec("trl") is not None:
        pytest.skip("this environment has TRL")
    with pytest.raises(TrainingFailed, match=r"lacks a package .*extra `sft`"):
        Trainer(sys.executable).train(JOB, tmp_path / "liked")
