"""`memflow domains` and `memflow data`: the domains and data sets of all benchmarks. data_get.py downloads them."""

from collections import Counter
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.filesize import decimal

from memflow.cli.data_get import get
from memflow.cli.front import front_of
from memflow.cli.lazy_commands import App
from memflow.cli.options import argument
from memflow.cli.output import Format, FormatOption, Text, answer, heading, message, note, table, table_of
from memflow.errors import BadInput

if TYPE_CHECKING:
    from memflow.benchmarks.datasets import Dataset
    from memflow.resources.data.data_check import DataCheck
    from memflow.resources.data.library import Library


def domains(ctx: typer.Context, form: FormatOption = Format.table) -> None:
    """List the domains with their benchmark and title, and the benchmarks of other packages that cannot be used.

    A domain is a benchmark's testbed, and a partition of the asset graph. The JSON output also has the data sets and
    parameters of each domain, and its samples in memflow.toml or in earlier runs.
    """
    from memflow.benchmarks import registry
    from memflow.resources.runs.added_partitions import with_added_partitions

    settings = front_of(ctx).load()
    problems = registry.problems()
    broken = {problem.name for problem in problems} & registry.installed().plugins.keys()
    known = {**registry.domains(), **{name: settings.domain(name) for name in settings.own_domains}}
    partitions = map(settings.domain, with_added_partitions(settings).domains)
    samples = [domain for domain in partitions if domain.limit]
    rows = [
        {
            "domain": name,
            "benchmark": domain.benchmark,
            "title": domain.title,
            "datasets": list(domain.datasets),
            "parameters": dict(domain.parameters),
            "seed": domain.seed,
            "in_settings": name in settings.domains,
            "samples": [sample.name for sample in samples if sample.base == name],
        }
        for name, domain in known.items()
        if domain.benchmark not in broken
    ]
    if form is Format.json:
        for problem in problems:
            message(f"memflow: {problem}")
    faults = [(problem.name, problem.package, problem.reason) for problem in problems]
    answer(
        form,
        rows,
        table_of(rows, ("domain", "benchmark", "title"), "Domains"),
        *([heading("Benchmarks that cannot be used")] if faults else []),
        *([table(("benchmark", "package", "reason"), faults)] if faults else []),
        *([note(f"\nSamples: {', '.join(sample.name for sample in samples)}.")] if samples else []),
        note(
            "\n`memflow data` lists the data sets that are found; `memflow run --domain NAME` runs a domain.\n"
            "DOMAIN.published and DOMAIN.memflow have other protocol profiles than DOMAIN (docs/how-to/extend.md).\n"
            "DOMAIN~N is a sample of DOMAIN (docs/how-to/data.md).\n"
            "[own_domains.NAME] in memflow.toml is a domain of your own, with other data sets, parameters or seed: see"
            " docs/how-to."
        ),
    )


data = App(invoke_without_command=True)
data.command("get")(get)


@data.callback()
def list_datasets(ctx: typer.Context, form: FormatOption = Format.table) -> None:
    """List the data sets of all benchmarks: whether they are present, their size, license, and how to get the others.

    `get` downloads the files, and `check` reads them. Published files are searched in the data folder: MEMFLOW_DATA, or
    `data` in memflow.toml. The size of a missing data set is that of its published files, if it is known.
    """
    if ctx.invoked_subcommand is not None:
        return
    from memflow.resources.data.library import Library

    settings = front_of(ctx).load()
    library = Library(settings.data, settings.datasets)
    rows = [_dataset(dataset, library) for dataset in library.known.values()]
    by_hand: dict[str, list[str]] = {}
    for row in rows:
        if row["state"] != "present" and not row["command"]:
            by_hand.setdefault(row["how"], []).append(row["dataset"])
    columns = {"data set": "dataset", "state": _state, "size": _size, "license": "licence"}
    answer(
        form,
        {"folder": library.folder, "datasets": rows},
        table_of([row for row in rows if not row["ships"]], columns, f"Data sets in {library.folder}"),
        *([heading("By hand")] if by_hand else []),
        *(Text(f"{', '.join(names)}: {how}") for how, names in by_hand.items()),
        note(
            "\nDownload what is missing with `memflow data get NAME`, or `memflow data get --domain DOMAIN`. Data sets "
            "that ship with memflow are left out. `memflow data check NAME` reads the files."
        ),
        rows=rows,
    )


def _dataset(dataset: "Dataset", library: "Library") -> dict[str, Any]:
    """Return the facts of a data set; its state is `present`, `part` or `missing`."""
    held = library.dataset(dataset)
    paths, is_found = library.existing(held), library.found(held)
    sizes = [
        getattr(origin, "size", None) for origin in (dataset.download.origins if dataset.download else ())
    ]
    state = "part" if paths and (held.optional or not is_found) else "present" if is_found else "missing"
    return {
        "dataset": dataset.name,
        "title": dataset.title,
        "benchmark": dataset.benchmark,
        "licence": dataset.licence,
        "origin": dataset.origin,
        "ships": dataset.ships,
        "own": dataset.own,
        "readable": dataset.readable,
        "state": state,
        "files": [*dataset.files, *dataset.optional],
        "lacking": list(held.optional) if is_found else [],
        "folder": str(next(iter(paths.values())).parent) if paths else "",
        "bytes": sum(path.stat().st_size for path in paths.values()) if is_found else None,
        "published_bytes": sum(filter(None, sizes)) if sizes and all(sizes) else None,
        "command": f"memflow data get {dataset.name}" if dataset.download else "",
        "how": dataset.how,
    }


def _state(row: dict[str, Any]) -> str:
    is_by_hand = row["state"] == "missing" and not row["command"]
    return "no reader yet" if not row["readable"] else "by hand" if is_by_hand else row["state"]


def _size(row: dict[str, Any]) -> str:
    size = row["published_bytes"] if row["bytes"] is None else row["bytes"]
    return "unknown" if size is None else decimal(size)


@data.command()
def check(
    ctx: typer.Context,
    names: Annotated[
        list[str] | None,
        argument("[NAME]...", "Data sets, or files and folders of own dialogues. [all data sets]"),
    ] = None,
    form: FormatOption = Format.table,
) -> None:
    """Read all files of data sets, and list their counts, their quarantined records, and the searched paths.

    Exits with code 1 if a file is rejected, or if the counts or the quarantined records differ from the published
    data set and its known defects. Of files of own dialogues, it lists every problem with its line and field; any
    problem gives the exit code 1.
    """
    from memflow.cli.own_data import check_files, is_path
    from memflow.resources.data.data_check import check_dataset
    from memflow.resources.data.library import Library

    settings = front_of(ctx).load()
    files = [name for name in names or () if name not in settings.datasets and is_path(name)]
    if files:
        if named := [name for name in names or () if name not in files]:
            raise BadInput(f"{named[0]} is a data set, and {files[0]} a file. Check them in two commands.")
        check_files(files, form)
        return
    library = Library(settings.data, settings.datasets)
    chosen = [library.dataset(name).name for name in names or ()] or list(library.known)
    checks = [check_dataset(library, library.known[name]) for name in chosen]
    failed = [result.dataset.name for result in checks if result.failed]
    columns = {
        "dataset": lambda result: result.dataset.name,
        "state": "state",
        "searched": lambda result: [
            f"{'found' if exists else 'not found'}: {path}" for path, exists in result.searched.items()
        ],
        "contains": _counts,
        "problems": lambda result: [*result.problems, *_defects(result)],
    }
    advice = (
        "A quarantined record is left out of every domain; --format json lists all. Compare the file with its source; "
        "if both are equal, report the record to memflow as a defect of the published file."
    )
    answer(
        form,
        [_row(result) for result in checks],
        table_of(checks, columns),
        note(f"\n{len(checks)} data sets checked. With problems: {', '.join(failed) or 'none'}."),
        *([note(advice)] if failed else []),
    )
    if failed:
        raise typer.Exit(1)


def _row(result: "DataCheck") -> dict[str, Any]:
    return {
        "dataset": result.dataset.name,
        "state": result.state,
        "searched": [{"path": path, "found": exists} for path, exists in result.searched.items()],
        "records": result.records,
        "counts": dict(result.counts),
        "published_counts": dict(result.dataset.counts),
        "quarantined": [
            {"file": item.file, "item": item.item, "reason": item.reason, "known_defect": item.known}
            for item in result.quarantined
        ],
        "problems": list(result.problems),
    }


def _counts(result: "DataCheck") -> list[str]:
    """Return the numbers of records and items that were read, beside the published ones."""
    if result.state in ("missing", "rejected"):
        return []
    published = result.dataset.counts
    return [
        f"{count:,} of {published[unit]:,} published {unit}" if unit in published else f"{count:,} {unit}"
        for unit, count in {"records": result.records, **result.counts}.items()
    ]


def _defects(result: "DataCheck") -> list[str]:
    """Return the numbers of quarantined items, by known defect, and the reason of the first unknown one."""
    known = Counter(item.known for item in result.quarantined if item.known)
    unknown = [item for item in result.quarantined if not item.known]
    first = f", such as {unknown[0].file or unknown[0].item}: {unknown[0].reason}" if unknown else ""
    return [
        *(f"{count:,} quarantined, as known: {defect}" for defect, count in known.items()),
        *([f"{len(unknown):,} quarantined{first}"] if unknown else []),
    ]
