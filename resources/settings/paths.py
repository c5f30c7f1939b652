"""Paths in memflow.toml, which are relative to the folder of the file, whatever the current folder is."""

import glob
from pathlib import Path
from typing import Any

from pydantic_settings import TomlConfigSettingsSource

from memflow.resources.settings.own_sections import OwnDataset, OwnMemory

PATHS = ("home", "data", "lake", "prompts", "wordnet", "cmudict")
"""The settings at the top of the file that are paths."""


class SettingsFileSource(TomlConfigSettingsSource):
    """Settings of a file. Relative paths start at its folder; they stay as written if it is the current folder."""

    def _read_file(self, file_path: Any) -> dict[str, Any]:
        content = super()._read_file(file_path)
        folder = Path(str(file_path)).absolute().parent
        if folder == Path.cwd():
            return content  # Messages show the paths as they are written.
        for name in PATHS:
            if name in content:
                content[name] = _beside(folder, content[name])
        encoders = content.get("encoder")
        for encoder in encoders.values() if isinstance(encoders, dict) else ():
            if isinstance(encoder, dict) and "folder" in encoder:
                encoder["folder"] = _beside(folder, encoder["folder"])
        return content


def resolve_dataset(dataset: OwnDataset, folder: Path, data: Path | None) -> OwnDataset:
    """Return a data set whose relative files are in `folder`, that of the settings file.

    A file that is not there, but may be below a data folder that the user has set, keeps its path.
    """
    files = {name: _file(name, folder, data) for name in dataset.files}
    sums = {files.get(name, name): value for name, value in dataset.sums.items()}
    return dataset.model_copy(update={"files": tuple(files.values()), "sums": sums})


def resolve_memory(memory: OwnMemory, folder: Path) -> OwnMemory:
    """Return a memory whose folder, in which its command is started, is absolute: by default that of the file."""
    if not memory.command:
        return memory
    return memory.model_copy(update={"folder": folder / memory.folder.expanduser()})


def _file(name: str, folder: Path, data: Path | None) -> str:
    path = Path(name).expanduser()
    if path.is_absolute():
        return name
    there = any(folder.glob(path.as_posix())) if "*" in name else (folder / path).exists()
    if not there and data is not None:
        return name
    # Only the part that the user wrote is a pattern, not the name of the folder.
    return str((Path(glob.escape(str(folder))) if "*" in name else folder) / path)


def _beside(folder: Path, value: Any) -> Any:
    """Return a path below the folder; absolute paths, paths from ~ and addresses are unchanged."""
    is_relative = isinstance(value, str) and value and not value.startswith("~") and "://" not in value
    if not is_relative or Path(value).is_absolute():
        return value
    return str(folder / value)
