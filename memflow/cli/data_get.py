"""`memflow data get`: downloads published data sets on request, after their license was shown and confirmed."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.filesize import decimal

from memflow.cli.options import front_of
from memflow.cli.output import Format, FormatOption, print_result
from memflow.errors import BadInput
from memflow.operations.messages import message
from memflow.rendering.tables import Text, table
from memflow.rendering.texts import note

if TYPE_CHECKING:
    from memflow.benchmarks.datasets import Dataset
    from memflow.resources.data.downloads.get import Downloaded
    from memflow.resources.data.library import Library
    from memflow.resources.settings.settings import Settings

MOST_FILES = 20
"""Files that the text lists; JSON lists all."""


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
    form: FormatOption = Format.table,
) -> None:
    """Download published data sets from their origin to the data folder, after showing license and size.

    Files are compared with their published checksums, where there are any. Nothing is downloaded by any other command.
    """
    from memflow.resources.data.library import Library

    settings = front_of(ctx).load()
    library = Library(settings.data, settings.datasets)
    folder = settings.data.expanduser().absolute()
    datasets = list(_chosen(settings, library, names or (), domain or ()))
    if form is Format.json and not yes:
        raise BadInput(
            "--format json cannot ask whether you accept the licenses. Read them with `memflow data`, then rerun with "
            "--yes."
        )
    done, present = _download(folder, datasets, yes, force)
    missing = {dataset.name: library.missing(dataset.name) for dataset in datasets}
    files = [
        {
            "dataset": downloaded.item.dataset.name,
            "url": downloaded.item.origin.url,
            "file": file,
            "sha256": sha256,
            "checksum": "as published" if downloaded.item.origin.sha256 else "not published",
        }
        for downloaded in done
        for file, sha256 in downloaded.files.items()
    ]
    rows = [
        (row["dataset"], row["file"], f"{row['sha256'][:16]}…", row["checksum"]) for row in files[:MOST_FILES]
    ]
    others = f"and {len(files) - MOST_FILES:,} more files, " if len(files) > MOST_FILES else ""
    print_result(
        form,
        {
            "folder": str(folder),
            "files": files,
            "present": present,
            "datasets": {name: "missing" if lacking else "found" for name, lacking in missing.items()},
        },
        *([table(("data set", "file", "sha256", "checksum"), rows, "Downloaded")] if done else []),
        Text(f"{others}{decimal(sum(downloaded.size for downloaded in done))} downloaded to {folder}."),
        *(
            [note(f"{len(present):,} files and folders were there; --force downloads them again.")]
            if present
            else []
        ),
        *(
            note(f"{dataset.name} lacks {', '.join(missing[dataset.name])}. {dataset.how}")
            for dataset in datasets
            if missing[dataset.name]
        ),
    )


def _chosen(
    settings: "Settings", library: "Library", names: Sequence[str], domains: Sequence[str]
) -> Iterator["Dataset"]:
    """Yield the chosen data sets that can be downloaded; none if those of the domains are there.

    Raises BadInput if none is named, or a named one cannot be downloaded.
    """
    from memflow.benchmarks import registry

    usual = {spec.name: spec.usual_dataset for spec in registry.specs()}
    names = [name if name in library.known else usual.get(name) or name for name in names]
    missing = [
        name for domain in domains for name in settings.domain(domain).datasets if not library.found(name)
    ]
    if domains and not missing and not names:
        message(f"All data sets of {', '.join(domains)} are there.")
    elif not names and not missing:
        raise BadInput("name a data set, or a domain with --domain. `memflow data` shows the names.")
    for name in dict.fromkeys((*names, *missing)):
        dataset = library.known[library.dataset(name).name]
        if dataset.download is not None:
            yield dataset
            continue
        why = "It ships with memflow" if dataset.ships else f"memflow cannot download it. {dataset.how}"
        if name in names:
            raise BadInput(f"{dataset.name}: {why}")
        message(f"{dataset.name} is left out. {why}")


def _download(
    folder: Path, datasets: Sequence["Dataset"], yes: bool, force: bool
) -> tuple[list["Downloaded"], list[str]]:
    """Show license, origin and size, ask, and download. Return the downloads, and what was there already.

    Raises DownloadFailed; BadInput if nobody can answer the question; typer.Exit if the user declines.
    """
    from memflow.resources.data.downloads.get import download, plan_download

    for dataset in datasets:
        assert dataset.download is not None
        terms = f"\n  note:    {dataset.download.terms}" if dataset.download.terms else ""
        message(f"{dataset.name}: {dataset.title}\n  license: {dataset.licence}")
        message(f"  origin:  {dataset.origin}; {dataset.download.page}{terms}")
    items, present = plan_download(folder, datasets, force=force)
    for item in items:
        size = "of unknown size" if item.origin.size is None else decimal(item.origin.size)
        checksum = f"sha256 {item.origin.sha256[:16]}…" if item.origin.sha256 else "no known checksum"
        message(f"  {item.origin.url}  {size}, {checksum}")
    if not items:
        return [], present
    message(f"{decimal(sum(item.origin.size or 0 for item in items))} of known size to {folder}.")
    if not yes:
        licenses = ", ".join(dict.fromkeys(item.dataset.licence for item in items))
        try:
            accepted = typer.confirm(f"Accept the license ({licenses}) and download?", err=True)
        except typer.Abort as wrong:
            raise BadInput(
                "the license needs to be accepted, and no terminal is there to ask. Read it, and accept it with --yes."
            ) from wrong
        if not accepted:
            message("Nothing was downloaded.")
            raise typer.Exit(1)
    return list(download(folder, items)), present
