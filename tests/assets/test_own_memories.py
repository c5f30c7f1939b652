"""A user's own memories are partitions like any other, and one that cannot be had keeps none from being seen."""

from pathlib import Path

import dagster as dg
import pytest

from assets.definitions import build_defs
from resources.settings import load

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


def test_own_memories_are_partitions_and_a_broken_one_hides_no_other(
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
