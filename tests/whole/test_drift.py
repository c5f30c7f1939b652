"""Drift end to end, with scripted models: planted shifts are found, and the stage that caused them is named."""

import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import dagster as dg
import pytest
from drift_settings import SHIFT, write_settings
from shifted_chat import shifted_models

from memflow.assets.definitions import build_defs
from memflow.operations.pipeline import Silent, run_pipeline
from memflow.operations.planned_runs import Outcome, RunRequest
from memflow.records import Drift
from memflow.resources.lake.lake import Lake
from memflow.resources.settings.settings import load
from memflow.scoring.drift_summary import last_drifts

Run = Callable[..., Outcome]
CHECK = "scores_within_noise_after_model_change"


@pytest.fixture(scope="module", autouse=True)
def _shifted_models() -> Iterator[None]:
    with shifted_models():
        yield


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a home that was run once, before any change."""
    folder = tmp_path_factory.mktemp("drift")
    run(folder)
    return folder


@pytest.fixture(scope="module")
def shifted(first: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a home that was run again after the simulator had changed."""
    folder = tmp_path_factory.mktemp("shifted")
    shutil.copytree(first, folder, dirs_exist_ok=True)
    run(folder, simulator=SHIFT)
    return folder


@pytest.fixture
def folder(first: Path, tmp_path: Path) -> Path:
    """Return a copy of the home, to change."""
    shutil.copytree(first, tmp_path, dirs_exist_ok=True)
    return tmp_path


@pytest.fixture
def changed(shifted: Path, tmp_path: Path) -> Path:
    """Return a copy of the home after the change, to change further."""
    shutil.copytree(shifted, tmp_path, dirs_exist_ok=True)
    write_settings(tmp_path, simulator=SHIFT)
    return tmp_path


def run(folder: Path, *, force: bool = False, **models: str) -> Outcome:
    settings = load(write_settings(folder, **models))
    request = RunRequest(list(settings.domains), ["full"], force=force)
    outcome = run_pipeline(settings, request, Silent())
    assert not outcome.failed, [reason for _, reason in outcome.failed]
    return outcome


def drifts(folder: Path) -> list[Drift]:
    return Lake(folder / "home" / "lake").read("score.drift", "all")


def score(folder: Path, domain: str, metric: str) -> Drift:
    """Return the last drift of a metric over all probes."""
    last = [row for each in last_drifts(drifts(folder)) for row in each.rows]
    (found,) = [row for row in last if (row.domain, row.metric, row.slice) == (domain, metric, "all")]
    return found


def check(folder: Path) -> dg.AssetCheckEvaluation:
    """Return the evaluation of the warning check of score/drift."""
    definitions = build_defs(load(folder / "memflow.toml"))
    job = definitions.resolve_job_def("publish_leaderboard")
    result = job.execute_in_process(instance=dg.DagsterInstance.ephemeral())
    return next(
        each
        for each in result.get_asset_check_evaluations()
        if (each.asset_key.to_user_string(), each.check_name) == ("score/drift", "warning_rules")
    )


def test_first_publication_and_rerun_without_change_have_no_drift(folder: Path) -> None:
    assert drifts(folder) == []
    run(folder, force=True)
    assert drifts(folder) == []


def test_other_simulator_that_answers_the_same_moves_no_score(folder: Path) -> None:
    outcome = run(folder, simulator="renamed")
    rows = drifts(folder)
    assert rows
    assert not any(row.moved or row.difference for row in rows)
    assert all(
        row.changes[0].startswith("simulator: first (") and " -> renamed (" in row.changes[0] for row in rows
    )
    assert outcome.drift == rows
    assert check(folder).passed


def test_shift_of_the_simulator_is_found_and_comes_from_users(changed: Path) -> None:
    row = score(changed, "generated_users", "accuracy")
    assert (row.moved, row.improved, row.paired) == (True, False, False)
    assert (row.users, row.answers, row.judging) == (row.difference, 0, 0)
    evaluation = check(changed)
    assert not evaluation.passed
    assert evaluation.severity is dg.AssetCheckSeverity.WARN
    assert any(each.data["rule"] == CHECK for each in evaluation.metadata["rules"].records)


def test_two_shifts_at_once_are_named_and_each_is_found_at_its_stage(folder: Path) -> None:
    run(folder, assistant=SHIFT, judge=SHIFT)
    accuracy, quality = (
        score(folder, *each) for each in (("generated_users", "accuracy"), ("memorybench_demo", "quality"))
    )
    assert (accuracy.moved, accuracy.improved, accuracy.paired) == (True, False, True)
    assert (accuracy.users, accuracy.answers, accuracy.judging) == (0, accuracy.difference, 0)
    assert quality.difference is not None and quality.difference < 0
    assert quality.judging == quality.difference
    assert [change.partition(":")[0] for change in quality.changes] == ["answering model", "judge"]


def test_publishing_twice_and_after_an_interruption_gives_the_same_rows(changed: Path) -> None:
    rows = drifts(changed)
    run(changed, simulator=SHIFT, force=True)
    assert drifts(changed) == rows
    # As after a process that was killed between the leaderboard and the drift.
    Lake(changed / "home" / "lake").write("score.drift", "all", [], fingerprint="before the change")
    run(changed, simulator=SHIFT)
    assert drifts(changed) == rows


def test_domain_that_is_regenerated_before_the_assistant_is_compared_with_the_last_publication(
    folder: Path,
) -> None:
    settings = load(write_settings(folder, simulator=SHIFT))
    run_pipeline(settings, RunRequest(["generated_users"], []), Silent())
    assert drifts(folder) == [], "the verdicts are on outdated probes, and no part of this publication"
    run(folder, simulator=SHIFT)
    row = score(folder, "generated_users", "accuracy")
    assert (row.before, row.moved) == (1.0, True)


def test_earlier_drift_stays_after_another_change(changed: Path) -> None:
    former = drifts(changed)
    run(changed)
    rows = drifts(changed)
    assert rows[-len(former) :] == former
    back = score(changed, "generated_users", "accuracy")
    was = next(row for row in former if (row.metric, row.slice) == ("accuracy", "all"))
    assert replace(back, before=back.after, after=back.before).before == was.before
    assert back.difference == -(was.difference or 0)
