"""`memflow domains` and `memflow data`: the domains and data sets of all benchmarks. data_check.py reads data sets."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

import typer
from rich.console import RenderableType
from rich.padding import Padding

from memflow.cli.data_check import check
from memflow.cli.data_get import get
from memflow.cli.data_list import list_table
from memflow.cli.front import front_of
from memflow.cli.output import Format, FormatOption, Text, answer, heading, message, note, table

if TYPE_CHECKING:
    from memflow.benchmarks.datasets import Dataset
    from resources.data.library import Library


MOST_FILES = 6
"""Files of a data set that the text lists; JSON lists all."""


def domains(ctx: typer.Context, form: FormatOption = Format.text) -> None:
    """List the domains with their benchmark and title, and the benchmarks of other packages that cannot be used.

    A domain is a benchmark's testbed, and a partition of the asset graph. The JSON output also has the data sets and
    parameters of each domain, and its samples in memflow.toml or in earlier runs.
    """
    from memflow.benchmarks import registry
    from memflow.benchmarks.samples import is_sample
    from resources.runs.added_partitions import with_added_partitions

    settings = front_of(ctx).load()
    problems = registry.problems()
    broken = {each.name for each in problems}
    known = {**registry.domains(), **{name: settings.domain(name) for name in settings.own_domains}}
    samples = [settings.domain(name) for name in with_added_partitions(settings).domains if is_sample(name)]
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
        if domain.benchmark not in broken or domain.benchmark not in registry.installed().plugins
    ]
    if form is Format.json:
        for each in problems:
            message(f"memflow: {each}")
    unusable: list[RenderableType] = []
    if problems:
        cells = [(each.name, each.package, each.reason) for each in problems]
        unusable = [
            heading("Benchmarks that cannot be used"),
            table("", ("benchmark", "package", "reason"), cells),
        ]
    answer(
        form,
        rows,
        table(
            "Domains",
            ("domain", "benchmark", "title"),
            [(row["domain"], row["benchmark"], row["title"]) for row in rows],
        ),
        *unusable,
        note(
            "\n`memflow data` lists the data sets that are found; `memflow run --domain NAME` runs a domain."
        ),
        *([note(f"Samples: {', '.join(sample.name for sample in samples)}.")] if samples else []),
        note(
            "DOMAIN.published and DOMAIN.memflow have other protocol profiles than DOMAIN (docs/how-to/profiles.md).\n"
            "DOMAIN~N is a sample of DOMAIN (docs/how-to/samples.md).\n"
            "[own_domains.NAME] in memflow.toml is a domain of your own, with other data sets, parameters or seed: see"
            " docs/how-to."
        ),
    )


data = typer.Typer(invoke_without_command=True)
data.command("list")(list_table)
data.command("get")(get)
data.command("check")(check)


@data.callback()
def list_datasets(ctx: typer.Context, form: FormatOption = Format.text) -> None:
    """List the data sets of all benchmarks: license, origin, files found, checksums, and how to get them.

    `list` prints a table, `get` downloads the files, and `check` reads them.
    Published files are searched in the data folder: MEMFLOW_DATA, or `data` in memflow.toml.
    """
    if ctx.invoked_subcommand is not None:
        return
    from resources.data.library import Library

    settings = front_of(ctx).load()
    folder, library = settings.data, Library(settings.data, settings.datasets)
    rows = [_dataset(each, library) for each in library.known.values()]
    answer(
        form,
        {"folder": folder, "datasets": rows},
        *(part for group in _groups(rows) for part in _block(group)),
        note(
            f"\nThe data folder is {folder}; MEMFLOW_DATA, or `data` in memflow.toml, names another. "
            "`memflow data list` is a table; `memflow data get NAME` downloads; `memflow data check [NAME...]` reads"
            " the files and lists invalid records."
        ),
    )


def _dataset(dataset: "Dataset", library: "Library") -> dict[str, Any]:
    held = library.dataset(dataset)
    found = library.found(held)
    sums = dict(library.sums(held)) if found else {}
    return {
        "dataset": dataset.name,
        "title": dataset.title,
        "benchmark": dataset.benchmark,
        "licence": dataset.licence,
        "origin": dataset.origin,
        "ships": dataset.ships,
        "own": dataset.own,
        "readable": dataset.readable,
        "found": found,
        "files": [*dataset.files, *dataset.optional],
        "lacking": list(held.optional) if found else [],
        "sha256": sums,
        "published_checksum": _compared(sums, dataset.sums),
        "how": dataset.how,
        "command": f"memflow data get {dataset.name}" if dataset.download else "",
    }


def _compared(computed: Mapping[str, str], published: Mapping[str, str]) -> str:
    """Return the result of comparing checksums with the published ones: `equal`, `differs`, `not known`, or ""."""
    if not computed:
        return ""
    known = [name for name in computed if name in published]
    if any(computed[name] != published[name] for name in known):
        return "differs"
    return "equal" if len(known) == len(computed) else "not known"


def _groups(rows: Sequence[Mapping[str, Any]]) -> list[list[Mapping[str, Any]]]:
    """Return the rows in groups: adjacent missing data sets with equal download instructions form one group."""
    groups = groupby(rows, lambda row: (row["title"], row["how"], row["found"] and row["dataset"]))
    return [list(group) for _, group in groups]


def _block(group: Sequence[Mapping[str, Any]]) -> Iterator[RenderableType]:
    """Yield the text of a group of data sets: names, state, title, license, origin, checksums or instructions."""
    row = group[0]
    yield Text.assemble("\n", (", ".join(each["dataset"] for each in group), "bold"), "  ", _state(row))
    yield _line(row["title"])
    yield _line(f"{row['licence']}; {row['origin']}", "dim")
    for file, sha in list(row["sha256"].items())[:MOST_FILES]:
        yield _line(f"{file}  sha256 {sha[:16]}…", "dim")
    if len(row["sha256"]) > MOST_FILES:
        yield _line(f"and {len(row['sha256']) - MOST_FILES} more files", "dim")
    if row["lacking"]:
        yield _line(f"without {', '.join(row['lacking'])}")
    if row["lacking"] or not row["found"]:
        names = " ".join(each["dataset"] for each in group if each["command"])
        if names:
            yield _line(f"memflow data get {names}")
        yield _line(f"By hand: {row['how']}" if names else row["how"])
    if row["found"] and not row["ships"]:
        yield _line(f"published checksum: {row['published_checksum']}", "dim")


def _line(text: str, style: str = "") -> RenderableType:
    return Padding(Text(text, style), (0, 0, 0, 2), expand=False)


def _state(row: Mapping[str, Any]) -> Text:
    if not row["readable"]:
        return Text("no reader yet", style="yellow")
    if row["ships"] and row["found"]:
        return Text("ships", style="green")
    if row["lacking"]:
        return Text("found in part", style="yellow")
    return Text("found", style="green") if row["found"] else Text("missing", style="red")
