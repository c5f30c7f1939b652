"""Checks in the graph: a damaged partition fails the check that names the damage, and stops what is built on it."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from assets.definitions import build_defs, outside
from memflow.cli.walk import QUIET
from resources.lake import Lake
from resources.settings import Settings

DOMAIN = "memorybench_demo"
KEYS = {table: dg.AssetKey(table.split(".")) for table in ("question.probes", "feedback.sessions")}

Damage = Callable[[list[Any]], list[Any]]


class Damaged(Lake):
    """A lake that keeps other rows of one table than it is given."""

    table = "question.probes"

    def __init__(self, root: Path, damage: Damage) -> None:
        super().__init__(root)
        self.damage = damage

    def write(self, table: str, partition: str, rows: Any, **more: Any) -> Any:
        return super().write(table, partition, self.damage(rows) if table == self.table else rows, **more)


def twice(rows: list[Any]) -> list[Any]:
    return [*rows, rows[0]]


def nothing(rows: list[Any]) -> list[Any]:
    return []


def gold_among_the_options_twice(rows: list[Any]) -> list[Any]:
    return [replace(rows[0], kind="choice", options=["tea", "tea", "water"], gold="1"), *rows[1:]]


def unknown_kind(rows: list[Any]) -> list[Any]:
    return [replace(rows[0], kind="riddle"), *rows[1:]]


DAMAGES = {
    twice: "probes_are_unique",
    nothing: "there_are_probes",
    gold_among_the_options_twice: "gold_is_among_the_options_once",
    unknown_kind: "probes_are_of_a_known_kind",
}


def build(home: Path, damage: Damage) -> dg.ExecuteInProcessResult:
    """The job build_users on a lake that damages the probes."""
    settings = Settings(home=home)
    hands = outside(settings)
    try:
        with dg.DagsterInstance.ephemeral() as instance:
            for job, partition, lake in (
                ("read_datasets", "memorybench_sample", hands["lake"]),
                ("build_users", DOMAIN, Damaged(home / "lake", damage)),
            ):
                definitions = build_defs(settings, {**hands, "lake": lake})
                result = definitions.resolve_job_def(job).execute_in_process(
                    partition_key=partition,
                    instance=instance,
                    run_config={"loggers": QUIET},
                    raise_on_error=False,
                )
            return result
    finally:
        hands["models"].close()


def failed(result: dg.ExecuteInProcessResult) -> dict[str, dg.AssetCheckEvaluation]:
    checks = [check for check in result.get_asset_check_evaluations() if not check.passed]
    return {check.check_name: check for check in checks if check.severity is dg.AssetCheckSeverity.ERROR}


def made(result: dg.ExecuteInProcessResult) -> set[dg.AssetKey]:
    return {event.asset_key for event in result.get_asset_materialization_events() if event.asset_key}


def test_a_sound_partition_passes_and_is_built_on(tmp_path: Path) -> None:
    result = build(tmp_path, list)
    assert result.success
    assert failed(result) == {}
    assert set(KEYS.values()) <= made(result)


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda each: each.__name__)
def test_a_damaged_partition_is_caught_and_not_built_on(tmp_path: Path, damage: Damage) -> None:
    result = build(tmp_path, damage)
    assert not result.success
    check = failed(result)[DAMAGES[damage]]
    assert check.asset_key == KEYS["question.probes"]
    assert check.metadata["partition"].value == DOMAIN
    if damage is not nothing:
        assert check.metadata["unexpected"].value > 0
        assert "probe_id=" in check.metadata["offending"].value[0]
    assert KEYS["question.probes"] in made(result)
    assert KEYS["feedback.sessions"] not in made(result)


def state_is_not_exposed(user: dict[str, Any]) -> None:
    user["periods"][1]["sessions"][0]["exposed_states"] = {}


def two_golds(user: dict[str, Any]) -> None:
    choices = user["qas"][0]["answer_choices"]
    choices.append({**choices[0], "answer": "Or rather this."})


@pytest.mark.parametrize(
    ("damage", "check", "table"),
    [
        (state_is_not_exposed, "what_changes_is_told_in_its_period", "utterance.turns"),
        (two_golds, "one_option_is_for_the_present_state", "question.probes"),
    ],
    ids=lambda each: getattr(each, "__name__", each),
)
def test_a_damaged_published_file_is_stopped_where_the_invariant_is(
    tmp_path: Path,
    published_users: Callable[..., Path],
    damage: Callable[[Any], None],
    check: str,
    table: str,
) -> None:
    file = published_users(tmp_path / "data") / "amemgym/v1.base/data.json"
    users = json.loads(file.read_text(encoding="utf-8"))
    damage(users[1])
    file.write_text(json.dumps(users), encoding="utf-8")
    settings = Settings(home=tmp_path / "home", data=tmp_path / "data")
    definitions = build_defs(settings)
    with dg.DagsterInstance.ephemeral() as instance:
        for job, partition in (("read_datasets", "amemgym_v1_base"), ("build_users", "amemgym_base")):
            result = definitions.resolve_job_def(job).execute_in_process(
                partition_key=partition,
                instance=instance,
                run_config={"loggers": QUIET},
                raise_on_error=False,
            )
            assert result.success == (job == "read_datasets")
    assert failed(result)[check].asset_key == dg.AssetKey(table.split("."))
    assert users[1]["id"] in failed(result)[check].metadata["offending"].value[0]
