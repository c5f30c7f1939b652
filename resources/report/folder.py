"""The folder of a report: atomic replacement of its files, their versions, and removal of files that are out of date.

A reader sees each file whole. `site.js`, which names the other files, is written last, so that a killed export leaves
a usable report; the next export continues it.
"""

import json
from collections.abc import Callable
from pathlib import Path

from memflow.errors import BadInput
from memflow.resources.files.local_files import replace_file

MANIFEST = "manifest.json"
FORMAT = 1
"""The format of the data files. A folder of another format is written again."""
SITE = "site"
"""The data file that names all others."""
DATA = "data"


class ReportFolder:
    """A report's folder, with the version of each file that the last export wrote.

    Until this export is finished, the folder has no versions, so that the next one after a kill writes all files again.
    Raises BadInput for a folder that contains files but no report.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.written: list[str] = []
        """Names of the data files that this export wrote."""
        self._former = self._read_manifest()
        self._versions: dict[str, str] = {}
        self._put_manifest({})

    @property
    def names(self) -> list[str]:
        """The names of the data files of this export, sorted, without `site`."""
        return sorted(self._versions.keys() - {SITE})

    @property
    def versions(self) -> dict[str, str]:
        """The versions of the data files of this export and of the `site`, by name."""
        return dict(self._versions)

    def put(self, name: str, version: str, content: Callable[[], bytes]) -> None:
        """Write a data file if its version differs from the last one, or if it is missing.

        `content` is called only then.

        Raises BadInput if two names of a report are equal.
        """
        if name in self._versions:
            raise BadInput(
                f"two data files of the report have the name {name}. Rename a domain or assistant."
            )
        path = self.path(name)
        if self._former.get(name) != version or not path.is_file():
            written = content()
            replace_file(path, lambda file: file.write(written))
            self.written.append(name)
        self._versions[name] = version

    def put_page(self, name: str, content: bytes) -> None:
        """Write a file beside the data files, such as index.html, if its content changed."""
        path = self.root / name
        if not path.is_file() or path.read_bytes() != content:
            replace_file(path, lambda file: file.write(content))

    def finish(self) -> list[str]:
        """Write the versions, and delete data files that this export did not name. Return the deleted names.

        Temporary files of killed exports are deleted too.
        """
        self._put_manifest(self._versions)
        wanted = {self.path(name) for name in self._versions}
        removed = []
        for path in sorted((self.root / DATA).rglob("*")):
            if path.is_file() and path not in wanted:
                path.unlink()
                removed.append(path.relative_to(self.root / DATA).as_posix().removesuffix(".js"))
        for path in self.root.glob(".*.writing"):
            path.unlink()
        for path in sorted((self.root / DATA).rglob("*"), reverse=True):
            if path.is_dir() and not any(path.iterdir()):
                path.rmdir()
        return removed

    def path(self, name: str) -> Path:
        """Return the path of a data file."""
        return self.root / DATA / f"{name}.js"

    def size(self) -> int:
        """Return the bytes of all files."""
        return sum(path.stat().st_size for path in self.root.rglob("*") if path.is_file())

    def _read_manifest(self) -> dict[str, str]:
        """Return the versions of the last export; none if the manifest cannot be read, so that all are written."""
        try:
            found = json.loads((self.root / MANIFEST).read_text(encoding="utf-8"))
            return dict(found["files"]) if found["format"] == FORMAT else {}
        except FileNotFoundError:
            if self.root.exists() and (not self.root.is_dir() or any(self.root.iterdir())):
                raise BadInput(
                    f"{self.root} is not empty, and is no report. Choose another folder."
                ) from None
            return {}
        except (ValueError, KeyError, TypeError):
            return {}

    def _put_manifest(self, versions: dict[str, str]) -> None:
        manifest = {"format": FORMAT, "files": dict(sorted(versions.items()))}
        self.put_page(MANIFEST, json.dumps(manifest, indent=0).encode())
