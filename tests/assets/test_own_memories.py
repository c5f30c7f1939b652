"""User memories as partitions: from memflow.toml, including one that cannot be imported, and from run options."""

from pathlib import Path

import dagster as dg
import pytest
from typer.testing import CliRunner

from memflow.assets.definitions import build_defs, defs
from memflow.cli import app
from memflow.resources.instance.instance import open_instance
from memflow.resources.settings.settings import load

ASSISTANTS = ["full", "mine", "broken"]
FILE = f"""
assistants = {ASSISTANTS}
domains = ["amemgym_demo"]
[memories.mine]
system = "bm25_message"
parameters = {{ k = 3 }}
[memories.broken]
path = "no_such_module:Memory"
"""


def test_user_memories_become_partitions_even_if_one_memory_cannot_be_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("memflow.toml").write_text(FILE, encoding="utf-8")
    definitions = build_defs(load())
    memories = definitions.resolve_asset_graph().get(dg.AssetKey(["memory", "indexes"]))
    assert memories.partitions_def is not None
    assert set(memories.partitions_def.get_partition_keys()) == {
        f"{name}|amemgym_demo" for name in ASSISTANTS
    }
    with dg.DagsterInstance.ephemeral() as instance:
        result = definitions.resolve_job_def("observe_assistants").execute_in_process(instance=instance)
        assert result.success
    seen = {
        event.asset_observation_data.asset_observation.partition
        for event in result.all_events
        if event.event_type_value == "ASSET_OBSERVATION"
    }
    assert seen == {"full", "mine"}


MEMORY = """
from dataclasses import dataclass

from memflow.memories.baselines import Full


@dataclass
class Mine(Full):
    \"\"\"Remembers as `full` does.\"\"\"
"""


def test_assistants_and_samples_of_run_options_become_partitions_that_can_be_rerun(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("MEMFLOW_HOME", str(tmp_path / "home"))
    Path("my_module_of_memory.py").write_text(MEMORY, encoding="utf-8")
    Path("memflow.toml").write_text(
        'domains = ["memorybench_demo"]\nassistants = ["full"]\n[memories.mine]\npath = "my_module_of_memory:Mine"\n',
        encoding="utf-8",
    )
    options = "--domain amemgym_demo --limit 1 --no-baselines --memory mine"
    ran = CliRunner().invoke(app, ["run", *options.split()])
    assert ran.exit_code == 0, ran.output

    definitions = defs()
    node = definitions.resolve_asset_graph().get(dg.AssetKey(["answer", "replies"]))
    assert set(node.partitions_def.get_partition_keys()) == {
        f"{assistant}|{domain}"
        for assistant in ("full", "mine")
        for domain in ("memorybench_demo", "amemgym_demo~1")
    }
    with open_instance(tmp_path / "home") as opened:
        [materialized] = opened.instance.get_materialized_partitions(dg.AssetKey(["answer", "replies"]))
        assert materialized == "mine|amemgym_demo~1"
        turns = opened.instance.get_latest_materialization_event(dg.AssetKey(["utterance", "turns"]))
        assert turns.asset_materialization.metadata["sample"].value == "at most 1 users of amemgym_demo"
        again = definitions.resolve_job_def("evaluate_memory").execute_in_process(
            instance=opened.instance,
            partition_key=dg.MultiPartitionKey({"domain": "amemgym_demo~1", "assistant": "mine"}),
        )
        assert again.success
    assert load().assistants == ("full",), "a run without options still defaults to memflow.toml"
