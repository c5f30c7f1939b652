"""The partitions of the settings: domains, assistants and their repeats."""

from pathlib import Path

from memflow.assets.partitions import Partitions
from memflow.resources.runs.added_partitions import FILE, add_partitions, with_added_partitions
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


def test_repeats_of_the_command_line_become_partitions_and_those_of_the_settings_are_not_stored(
    tmp_path: Path,
) -> None:
    settings = settings_with(tmp_path, repeats=2)
    add_partitions(settings, settings, ["amemgym_demo"], settings.assistant_partitions)
    assert not (tmp_path / FILE).exists()
    add_partitions(settings, settings, ["amemgym_demo"], ["full", "full~answers3"])
    assert with_added_partitions(settings).assistants == ("none", "full", "full~answers3")
