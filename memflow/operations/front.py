"""The options of a caller, with the settings and the lake that they select."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memflow.operations.messages import message
from memflow.operations.moments import lake_as_of

if TYPE_CHECKING:
    from memflow.resources.lake.lake import Lake
    from memflow.resources.settings.settings import Settings


@dataclass(frozen=True)
class Front:
    """The global options of the command line, which every command has as `ctx.obj`, and those of `memflow.open`."""

    settings: Path | None = None
    home: Path | None = None
    debug: bool = False
    as_of: str | None = None
    """The moment at which the command reads the lake (`--as-of`)."""
    memories: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Memories of a caller of the Python API, as in [memories.NAME] of memflow.toml."""

    def lake(self) -> "Lake":
        """Return the lake of the settings, as of the moment of `--as-of` if given."""
        from memflow.resources.lake.lake import Lake

        lake = Lake(self.load().lake_root)
        return lake if self.as_of is None else lake_as_of(lake, self.as_of)

    def load(self, **over: Any) -> "Settings":
        """Return the settings, with the values in `over` replaced. Raises BadSettings for invalid settings."""
        from memflow.resources.settings.settings import load

        if self.home is not None:
            over["home"] = self.home
        if self.settings is None and "MEMFLOW_SETTINGS" not in os.environ:
            _name_unused_settings(Path.cwd())
        if self.memories:
            over["memories"] = {**self.memories, **over.get("memories", {})}
        return load(self.settings, over)


@cache
def _name_unused_settings(folder: Path) -> None:
    """Print once that a memflow.toml of a parent folder is not used, if the folder has none."""
    files = [path / "memflow.toml" for path in (folder, *folder.parents)]
    nearest = next((file for file in files if file.is_file()), files[0])
    if nearest != files[0]:
        message(
            f"memflow: {nearest} is not used, because only a memflow.toml in the working folder is. Run the command in "
            f"{nearest.parent}, or add: --settings {nearest}"
        )
