"""`memflow data list`: a table of all data sets: which are present, where, their size, license and download command."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from memflow.cli.data_get import megabytes
from memflow.cli.front import front_of
from memflow.cli.output import Format, FormatOption, answer, note, table

if TYPE_CHECKING:
    from memflow.benchmarks.datasets import Dataset
    from resources.data.library import Library

NO_SIZE = "unknown"


def list_table(ctx: typer.Context, form: FormatOption = Format.text) -> None:
    """List the data sets in a table: whether they are present, where, their size, license, and how to get them.

    The size of a missing data set is that of its published files, if it is known before a download.
    """
    from resources.data.library import Library

    settings = front_of(ctx).load()
    library = Library(settings.data, settings.datasets)
    rows = [_row(each, library) for each in library.known.values() if not each.ships]
    cells = [(row["dataset"], _state(row), _size(row), row["licence"], _below(row, library)) for row in rows]
    answer(
        form,
        {"folder": library.folder, "datasets": rows},
        table(
            f"Data sets in {library.folder}",
            ("data set", "state", "size", "license", "folder"),
            cells,
        ),
        note(
            "\nDownload what is missing with `memflow data get NAME`, or `memflow data get --domain DOMAIN`; no other"
            " command downloads.\n`memflow data` shows how to get data sets by hand. Data sets that ship with memflow"
            " are left out."
        ),
    )


def _row(dataset: "Dataset", library: "Library") -> dict[str, Any]:
    held = library.dataset(dataset)
    paths = library.existing(held)
    found = library.found(held)
    origins = dataset.download.origins if dataset.download else ()
    sizes = [getattr(each, "size", None) for each in origins]
    published = sum(size for size in sizes if size) if sizes and all(sizes) else None
    return {
        "dataset": dataset.name,
        "benchmark": dataset.benchmark,
        "state": "present" if found else "part" if paths else "missing",
        "folder": str(next(iter(paths.values())).parent) if paths else "",
        "files": len(paths),
        "bytes": sum(path.stat().st_size for path in paths.values()) if found else None,
        "published_bytes": published,
        "licence": dataset.licence,
        "page": dataset.download.page if dataset.download else "",
        "command": f"memflow data get {dataset.name}" if dataset.download and not found else "",
        "how": dataset.how,
    }


def _state(row: dict[str, Any]) -> str:
    return "by hand" if row["state"] == "missing" and not row["command"] else str(row["state"])


def _below(row: dict[str, Any], library: "Library") -> str:
    """Return the folder of a data set, relative to the data folder where it is below."""
    folder = Path(row["folder"]) if row["folder"] else None
    if folder is None or library.folder is None or not folder.is_relative_to(library.folder):
        return row["folder"] or ""
    return str(folder.relative_to(library.folder))


def _size(row: dict[str, Any]) -> str:
    size = row["bytes"] if row["bytes"] is not None else row["published_bytes"]
    return NO_SIZE if size is None else megabytes(size)
