"""`memflow data get`: downloads published data sets on request, after their license was shown and confirmed."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import RenderableType

from memflow.cli.front import front_of
from memflow.cli.output import Format, FormatOption, Text, answer, message, note, table
from memflow.errors import BadInput

if TYPE_CHECKING:
    from memflow.benchmarks.datasets import Dataset
    from resources.data.downloads.record import DownloadRecord
    from resources.data.library import Library
    from resources.settings.settings import Settings


def get(
    ctx: typer.Context,
    names: Annotated[list[str] | None, typer.Argument(metavar="[NAME]...", help="Data sets.")] = None,
    domain: Annotated[
        list[str] | None, typer.Option("--domain", help="All missing data sets of a domain; repeatable.")
    ] = None,
    yes: Annotated[
        bool, typer.Option("--yes", help="Accept the licenses and the size without a question.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Download again, and replace files.")] = False,
    form: FormatOption = Format.text,
) -> None:
    """Download published data sets from their origin to the data folder, after showing license and size.

    Files are compared with their published checksums; without a known checksum, the checksum is recorded on the first
    download. Nothing is downloaded by any other command.
    """
    from resources.data.library import Library

    settings = front_of(ctx).load()
    library = Library(settings.data, settings.datasets)
    folder = settings.data.expanduser().absolute()
    datasets = _chosen(settings, library, names or (), domain or ())
    if form is Format.json and not yes:
        raise BadInput("--format json asks no question. Read the licenses (`memflow data`), then add --yes.")
    for each in datasets:
        for line in _terms(each):
            message(line)
    done, present = _get(folder, datasets, yes, force)
    status = [library.status_of(each.name) for each in datasets]
    answer(
        form,
        {
            "folder": str(folder),
            "files": [_row(each) for each in done],
            "present": present,
            "datasets": {each.dataset.name: each.state for each in status},
        },
        *_shown(folder, done, present),
        *(
            note(f"{each.dataset.name} lacks {', '.join((*each.missing, *each.lacking))}. {each.dataset.how}")
            for each in status
            if each.missing or each.lacking
        ),
    )


def _chosen(
    settings: "Settings", library: "Library", names: Sequence[str], domains: Sequence[str]
) -> list["Dataset"]:
    """Return the chosen data sets; none if those of the domains are there.

    Raises BadInput if none is named, or one cannot be downloaded.
    """
    chosen = {name: library.known[library.dataset(name).name] for name in names}
    for domain in domains:
        for name in settings.domain(domain).datasets:
            if not library.found(name):
                chosen[name] = library.known[name]
    if domains and not chosen:
        message(f"All data sets of {', '.join(domains)} are there.")
        return []
    if not chosen:
        raise BadInput("name a data set, or a domain with --domain. `memflow data` shows the names.")
    by_hand = [each for each in chosen.values() if each.download is None]
    for each in by_hand:
        why = "It ships with memflow" if each.ships else f"memflow cannot download it. {each.how}"
        if each.name in names:
            raise BadInput(f"{each.name}: {why}")
        message(f"{each.name} is left out. {why}")
    found = [each for each in chosen.values() if each.download is not None]
    if not found:
        raise BadInput("none of the data sets can be downloaded by memflow.")
    return found


def _terms(dataset: "Dataset") -> Iterator[str]:
    """Yield the lines that are shown before anything is requested: license, origin and terms."""
    assert dataset.download is not None
    yield f"{dataset.name}: {dataset.title}"
    yield f"  license: {dataset.licence}"
    yield f"  origin:  {dataset.origin}; {dataset.download.page}"
    if dataset.download.terms:
        yield f"  note:    {dataset.download.terms}"


def _get(
    folder: Path, datasets: Sequence["Dataset"], yes: bool, force: bool
) -> tuple[list["DownloadRecord"], list[str]]:
    """Plan, confirm and download. Return the records of the downloads, and the files that were there already.

    Raises DownloadFailed; typer.Exit if the user declines.
    """
    from resources.data.downloads.get import download, plan_download

    items, present = plan_download(folder, datasets, force=force)
    if not items:
        return [], present
    for item in items:
        origin = item.origin
        size = "of unknown size" if origin.size is None else megabytes(origin.size)
        checksum = f"sha256 {origin.sha256[:16]}…" if origin.sha256 else "no known checksum"
        message(f"  {origin.url}  {size}, {checksum}")
    message(f"{megabytes(sum(item.origin.size or 0 for item in items))} of known size to {folder}.")
    if not yes:
        _confirm(", ".join(dict.fromkeys(item.dataset.licence for item in items)))
    return list(download(folder, items, force=force)), present


def _confirm(licences: str) -> None:
    """Ask for the license and the download. Raises typer.Exit if the user declines, BadInput if nobody can answer."""
    try:
        accepted = typer.confirm(f"Accept the license ({licences}) and download?", err=True)
    except typer.Abort as wrong:
        raise BadInput("nobody has answered the question. Accept the license with --yes.") from wrong
    if not accepted:
        message("Nothing was downloaded.")
        raise typer.Exit(1)


def _row(record: "DownloadRecord") -> dict[str, Any]:
    return {
        "dataset": record.dataset,
        "url": record.url,
        "bytes": record.size,
        "sha256": record.sha256,
        "checksum": _checksum(record),
        "files": dict(record.files),
    }


def _checksum(record: "DownloadRecord") -> str:
    return "equal to the published" if record.published_checksum else "no known checksum; recorded"


def _shown(
    folder: Path, done: Sequence["DownloadRecord"], present: Sequence[str]
) -> Iterator[RenderableType]:
    if done:
        rows = [
            (record.dataset, file, sha256[:16] + "…", _checksum(record))
            for record in done
            for file, sha256 in record.files.items()
        ]
        yield table("Downloaded", ("data set", "file", "sha256", "checksum"), rows[:MOST_FILES])
        if len(rows) > MOST_FILES:
            yield note(f"and {len(rows) - MOST_FILES:,} more files")
        yield Text(f"{megabytes(sum(record.size for record in done))} downloaded to {folder}.")
    if present:
        yield note(f"{len(present):,} files were there already; --force downloads them again.")


MOST_FILES = 20
"""Files that the text lists; JSON lists all."""


def megabytes(size: int) -> str:
    """Return a size in decimal units, as disks and downloads state it."""
    for unit, factor in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if size >= factor:
            return f"{size / factor:,.1f} {unit}"
    return f"{size:,} bytes"
