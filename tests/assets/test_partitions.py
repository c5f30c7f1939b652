"""The partitions of the settings: domains, assistants and their repeats."""

from pathlib import Path

from memflow.assets.partitions import Partitions
from memflow.resources.lake.lake import Lake
from memflow.resources.runs.added_partitions import with_added_partitions
from memflow.resources.settings.settings import Settings, load


def settings_with(folder: Path, **over: object) -> Settings:
    return load(over={"home": folder, "domains": ("amemgym_demo",), "assistants": ("none", "full"), **over})


def test_repeats_of_the_settings_are_partitions_of_the_assistants(tmp_path: Path) -> None:
    plain = Partitions.of(settings_with(tmp_path))
    assert plain.assistant.get_partition_keys() == ["none", "full"]
    repeated = Partitions.of(settings_with(tmp_path, repeats=3, repeats_of="run"))
    names = repeated.assistant.get_partition_keys()
    assert names == ["none", "full", "none~run2", "full~run2", "none~run3", "full~run3"]
    assert "full~run3|amemgym_demo" in repeated.domain_assistant.get_partition_keys()


def test_assistants_and_domains_in_the_lake_become_partitions_if_the_settings_know_them(
    tmp_path: Path,
) -> None:
    settings = settings_with(tmp_path, repeats=2)
    assert with_added_partitions(settings) == settings
    lake = Lake(settings.lake_root)
    for domain in ("amemgym_demo~2", "gone"):
        lake.write("question.probes", domain, [], fingerprint="")
    for assistant in ("full~answers2", "full~answers3", "none@gone", "mine"):
        lake.write("memory.indexes", f"amemgym_demo/{assistant}", [], fingerprint="")
    extended = with_added_partitions(settings)
    assert extended.domains == ("amemgym_demo", "amemgym_demo~2")
    assert extended.assistants == ("none", "full", "full~answers3")
