"""The record of downloads in the data folder: origin, date, size and SHA-256 of every downloaded file.

Where no published checksum is known, the checksum of the first download is compared with those of later ones.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from memflow.errors import DownloadFailed

FOLDER = ".memflow"
"""The folder below the data folder with the record, the lock and unfinished downloads."""


@dataclass(frozen=True)
class DownloadRecord:
    """One download: a file, or an archive with the files that were unpacked from it, each with its SHA-256."""

    url: str
    dataset: str
    licence: str
    sha256: str
    size: int
    downloaded_at: str
    published_checksum: bool
    """Whether the checksum was compared with a published one."""
    files: Mapping[str, str] = field(default_factory=dict)


def record_path(folder: Path) -> Path:
    """Return the path of the record of a data folder."""
    return folder / FOLDER / "downloads.json"


def read_records(folder: Path) -> dict[str, DownloadRecord]:
    """Return the downloads of a data folder by address. Raises DownloadFailed if the record is damaged."""
    path = record_path(folder)
    try:
        rows = json.loads(path.read_text(encoding="utf-8"))
        return {row["url"]: DownloadRecord(**row) for row in rows}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, TypeError, KeyError) as wrong:
        raise DownloadFailed(
            f"cannot read the record of downloads {path} ({wrong}). Move the file away, then rerun."
        ) from wrong


def write_record(folder: Path, added: DownloadRecord) -> None:
    """Add a download to the record of a data folder, or replace that of the same address."""
    rows = [asdict(record) for record in {**read_records(folder), added.url: added}.values()]
    path = record_path(folder)
    written = path.with_name(f"{path.name}.new")
    written.write_text(f"{json.dumps(rows, ensure_ascii=False, indent=2)}\n", encoding="utf-8")
    written.replace(path)
