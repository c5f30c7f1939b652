"""`memflow domains` and `memflow data`: the domains and data sets of all benchmarks. data_get.py downloads them."""

from typing import TYPE_CHECKING, Any

import typer
from rich.filesize import decimal

from memflow.cli.data_get import get
from memflow.cli.lazy_commands import App
from memflow.cli.options import front_of
from memflow.cli.output import Format, FormatOption, print_result
from memflow.cli.own_data import check
from memflow.operations.messages import message
from memflow.rendering.tables import Columns, Text, table, table_of
from memflow.rendering.texts import heading, note

if TYPE_CHECKING:
    from memflow.benchmarks.datasets import Dataset
    from memflow.resources.data.library import Library


def domains(ctx: typer.Context, form: FormatOption = Format.table) -> None:
    """List the domains with their benchmark and title, and the benchmarks of other packages that cannot be used.

    A domain is a benchmark's testbed, and a partition of the asset graph. The JSON output also has the data sets and
    parameters of each domain, and its samples in memflow.toml.
    """
    from memflow.benchmarks import registry

    settings = front_of(ctx).load()
    problems = registry.problems()
    broken = {problem.name for problem in problems} & registry.installed().plugins.keys()
    known = {**registry.domains(), **{name: settings.domain(name) for name in settings.own_domains}}
    partitions = map(settings.domain, settings.domains)
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
    print_result(
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
data.command("check")(check)


@data.callback()
def list_datasets(ctx: typer.Context, form: FormatOption = Format.table) -> None:
    """List the data sets of all benchmarks: whether they are present, their size, license, and how to get the others.

    `get` downloads the files, and `check` reads files of own dialogues. Published files are searched in the data
    folder: MEMFLOW_DATA, or `data` in memflow.toml. The size of a missing data set is that of its published files, if
    it is known.
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
    columns: Columns = {"data set": "dataset", "state": _state, "size": _size, "license": "licence"}
    print_result(
        form,
        {"folder": library.folder, "datasets": rows},
        table_of([row for row in rows if not row["ships"]], columns, f"Data sets in {library.folder}"),
        *([heading("By hand")] if by_hand else []),
        *(Text(f"{', '.join(names)}: {how}") for how, names in by_hand.items()),
        note(
            "\nDownload what is missing with `memflow data get NAME`, or `memflow data get --domain DOMAIN`. Data sets "
            "that ship with memflow are left out."
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
    return "by hand" if is_by_hand else row["state"]


def _size(row: dict[str, Any]) -> str:
    size = row["published_bytes"] if row["bytes"] is None else row["bytes"]
    return "unknown" if size is None else decimal(size)
