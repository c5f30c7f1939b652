"""`memflow data get`: downloads published data sets on request, after their license was shown and confirmed."""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import RenderableType

from memflow.cli.front import front_of
from memflow.cli.output import Format, FormatOption, Text, answer, message, note, table, terminal_console
from memflow.errors import BadInput

if TYPE_CHECKING:
    from memflow.benchmarks.datasets import Dataset
    from resources.data.downloads.get import Downloaded, DownloadPlan
    from resources.data.downloads.transfer import Transfer
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
    accept_changed: Annotated[
        bool,
        typer.Option("--accept-changed", help="Replace files that have changed since their first download."),
    ] = False,
    form: FormatOption = Format.text,
) -> None:
    """Download published data sets from their origin to the data folder, after showing license and size.

    An interrupted download is continued by the next one. Files are compared with their published checksums; without a
    known checksum, the checksum is recorded on the first download. Nothing is downloaded by any other command.
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
    done, plan = asyncio.run(_get(folder, datasets, yes, force, accept_changed))
    status = [library.status_of(each.name) for each in datasets]
    answer(
        form,
        {
            "folder": str(folder),
            "files": [_row(each) for each in done],
            "present": list(plan.present),
            "datasets": {each.dataset.name: each.state for each in status},
        },
        *_shown(done, plan),
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


async def _get(
    folder: Path, datasets: Sequence["Dataset"], yes: bool, force: bool, accept_changed: bool
) -> tuple[list["Downloaded"], "DownloadPlan"]:
    """Plan, confirm and download. Raises DownloadFailed; typer.Exit if the user declines."""
    from resources.data.downloads.get import check_space, download, locked, plan_download
    from resources.data.downloads.transfer import Transfer, new_session

    async with new_session() as session:
        transfer = Transfer(session)
        plan = await plan_download(transfer, folder, datasets, force=force)
        if not plan.items:
            return [], plan
        for line in _planned(plan):
            message(line)
        check_space(plan)
        if not yes:
            _confirm(plan)
        done = []
        with locked(folder), _progress(transfer, plan):
            for item in plan.items:
                done.append(await download(plan, transfer, item, accept_changed=accept_changed))
    return done, plan


def _planned(plan: "DownloadPlan") -> Iterator[str]:
    for each in plan.items:
        size = "of unknown size" if each.size is None else megabytes(each.size)
        checksum = f"sha256 {each.sha256[:16]}…" if each.sha256 else "no known checksum"
        yield f"  {each.origin.url}  {size}, {checksum}"
    unknown = f" and {plan.of_unknown_size} files of unknown size" if plan.of_unknown_size else ""
    yield f"{megabytes(plan.size)}{unknown} to {plan.folder}, where {megabytes(plan.free)} are free."


def _confirm(plan: "DownloadPlan") -> None:
    """Ask for the license and the download. Raises typer.Exit if the user declines, BadInput if nobody can answer."""
    licences = ", ".join(dict.fromkeys(each.dataset.licence for each in plan.items))
    try:
        accepted = typer.confirm(f"Accept the license ({licences}) and download?", err=True)
    except typer.Abort as wrong:
        raise BadInput("nobody has answered the question. Accept the license with --yes.") from wrong
    if not accepted:
        message("Nothing was downloaded.")
        raise typer.Exit(1)


@contextmanager
def _progress(transfer: "Transfer", plan: "DownloadPlan") -> Iterator[None]:
    """Show the progress of the transfers on a terminal."""
    console = terminal_console(stderr=True)
    if not console.is_terminal:
        yield
        return
    from rich.progress import BarColumn, DownloadColumn, TextColumn, TimeRemainingColumn, TransferSpeedColumn
    from rich.progress import Progress as Bars

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
    )
    with Bars(*columns, console=console, transient=True) as bars:
        tasks = {
            each.origin.url: bars.add_task(each.origin.url.rpartition("/")[2], total=each.size, start=False)
            for each in plan.items
        }

        def show(url: str, done: int, total: int | None) -> None:
            if url in tasks:
                bars.start_task(tasks[url])
                bars.update(tasks[url], completed=done, total=total)

        transfer.progress = show
        yield


def _row(done: "Downloaded") -> dict[str, Any]:
    record = done.record
    return {
        "dataset": record.dataset,
        "url": record.url,
        "bytes": record.size,
        "sha256": record.sha256,
        "checksum": _checksum(done),
        "files": dict(record.files),
    }


def _checksum(done: "Downloaded") -> str:
    return "equal to the published" if done.record.published_checksum else "no known checksum; recorded"


def _shown(done: Sequence["Downloaded"], plan: "DownloadPlan") -> Iterator[RenderableType]:
    if done:
        rows = [
            (each.record.dataset, file, sha256[:16] + "…", _checksum(each))
            for each in done
            for file, sha256 in list(each.record.files.items())[:MOST_FILES]
        ]
        yield table("Downloaded", ("data set", "file", "sha256", "checksum"), rows)
        more = sum(max(0, len(each.record.files) - MOST_FILES) for each in done)
        if more:
            yield note(f"and {more:,} more files")
        yield Text(f"{megabytes(sum(each.record.size for each in done))} downloaded to {plan.folder}.")
    if plan.present:
        yield note(f"{len(plan.present):,} files were there already; --force downloads them again.")


MOST_FILES = 10
"""Files of an archive that the text lists; JSON lists all."""


def megabytes(size: int) -> str:
    """Return a size in decimal units, as disks and downloads state it."""
    for unit, factor in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if size >= factor:
            return f"{size / factor:,.1f} {unit}"
    return f"{size:,} bytes"
