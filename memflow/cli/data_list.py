"""`memflow data list`: a table of all data sets: which are present, where, their size, license and download command."""

from typing import TYPE_CHECKING, Any

import typer

from memflow.cli.data_get import megabytes
from memflow.cli.output import Format, FormatOption, answer, note, table
from memflow.cli.selection import front_of

if TYPE_CHECKING:
    from memflow.benchmarks.datasets import Dataset
    from resources.library import Library

NO_SIZE = "unknown"


def list_table(ctx: typer.Context, form: FormatOption = Format.text) -> None:
    """List the data sets in a table: whether they are present, where, their size, license, and how to get them.

    The size of a missing data set is that of its published files, if it is known before a download.
    """
    from resources.library import Library

    settings = front_of(ctx).load()
    library = Library(settings.data, settings.datasets)
    rows = [_row(each, library) for each in library.known.values() if not each.ships]
    missing_by_hand = [row["dataset"] for row in rows if row["state"] == "missing" and not row["command"]]
    cells = [
        (row["dataset"], row["state"], _size(row), row["licence"], row["folder"] or row["command"])
        for row in rows
    ]
    answer(
        form,
        {"folder": library.folder, "datasets": rows},
        table(
            f"Data sets in {library.folder}",
            ("data set", "state", "size", "license", "folder or command"),
            cells,
        ),
        note(
            f"\nBy hand only: {', '.join(missing_by_hand) or 'none'}; `memflow data` shows how.\nData sets that ship"
            " with memflow are left out. Nothing is downloaded unless you run `memflow data get`."
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


def _size(row: dict[str, Any]) -> str:
    size = row["bytes"] if row["bytes"] is not None else row["published_bytes"]
    return NO_SIZE if size is None else megabytes(size)
