"""What there is: `domains` and `data`. `memories` has a file of its own."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

import typer
from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from memflow.cli.output import Format, FormatOption, answer, note, table
from memflow.cli.selection import front_of

if TYPE_CHECKING:
    from memflow.benchmarks.datasets import Dataset
    from resources.library import Library


SHOWN = 6
"""Files of a data set that people are shown by name; JSON has them all."""


def domains(ctx: typer.Context, form: FormatOption = Format.text) -> None:
    """List the domains: what each is, its benchmark and its data sets.

    A domain is a benchmark's testbed, and a partition of the graph.
    """
    from memflow.benchmarks.domains import built_in

    settings = front_of(ctx).load()
    known = {**built_in(), **{name: settings.domain(name) for name in settings.own_domains}}
    rows = [
        {
            "domain": name,
            "benchmark": domain.benchmark,
            "title": domain.title,
            "datasets": list(domain.datasets),
            "parameters": dict(domain.parameters),
            "seed": domain.seed,
            "in_settings": name in settings.domains,
        }
        for name, domain in known.items()
    ]
    shown = [(row["domain"], row["benchmark"], row["title"], row["datasets"]) for row in rows]
    answer(
        form,
        rows,
        table("Domains", ("domain", "benchmark", "what it is", "data sets"), shown),
        note("\n`memflow data` says which data sets are there; `memflow run --domain NAME` measures one."),
        note(
            "One of your own, with other sizes, data, seed or language, is [own_domains.NAME] in memflow.toml:"
            " docs/explanation/amemgym.md has AMemGym's parameters."
        ),
    )


def data(ctx: typer.Context, form: FormatOption = Format.text) -> None:
    """List every known data set: licence, origin, whether it is there, its checksum, and how to get it.

    Published files are looked for below the data folder: MEMFLOW_DATA, or `data` in memflow.toml.
    """
    from resources.library import Library

    settings = front_of(ctx).load()
    folder, library = settings.data, Library(settings.data, settings.datasets)
    rows = [_dataset(each, library) for each in library.known.values()]
    answer(
        form,
        {"folder": folder, "datasets": rows},
        *(part for alike in _together(rows) for part in _block(alike)),
        note(f"\nThe data folder is {folder or 'not set: set MEMFLOW_DATA, or `data` in memflow.toml'}."),
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
    }


def _compared(computed: Mapping[str, str], published: Mapping[str, str]) -> str:
    """How files compare with what was published: `equal`, `differs`, or `not known`; nothing for no files."""
    if not computed:
        return ""
    known = [name for name in computed if name in published]
    if any(computed[name] != published[name] for name in known):
        return "differs"
    return "equal" if len(known) == len(computed) else "not known"


def _together(rows: Sequence[Mapping[str, Any]]) -> list[list[Mapping[str, Any]]]:
    """Neighbours that are missing and got in the same way stand together; every other data set by itself."""
    alike = groupby(rows, lambda row: (row["title"], row["how"], row["found"] and row["dataset"]))
    return [list(group) for _, group in alike]


def _block(alike: Sequence[Mapping[str, Any]]) -> Iterator[RenderableType]:
    """A data set as people read it: name and state, what it is, where from, and its sums or how to get it."""
    row = alike[0]
    yield Text.assemble("\n", (", ".join(each["dataset"] for each in alike), "bold"), "  ", _there(row))
    yield _line(row["title"])
    yield _line(f"{row['licence']}; {row['origin']}", "dim")
    for file, sha in list(row["sha256"].items())[:SHOWN]:
        yield _line(f"{file}  sha256 {sha[:16]}…", "dim")
    if len(row["sha256"]) > SHOWN:
        yield _line(f"and {len(row['sha256']) - SHOWN} files more", "dim")
    if row["lacking"]:
        yield _line(f"without {', '.join(row['lacking'])}")
    if row["lacking"] or not row["found"]:
        yield _line(row["how"])
    if row["found"] and not row["ships"]:
        yield _line(f"published checksum: {row['published_checksum']}", "dim")


def _line(text: str, style: str = "") -> RenderableType:
    return Padding(Text(text, style), (0, 0, 0, 2), expand=False)


def _there(row: Mapping[str, Any]) -> Text:
    if not row["readable"]:
        return Text("no reader yet", style="yellow")
    if row["ships"] and row["found"]:
        return Text("ships", style="green")
    if row["lacking"]:
        return Text("found in part", style="yellow")
    return Text("found", style="green") if row["found"] else Text("missing", style="red")
