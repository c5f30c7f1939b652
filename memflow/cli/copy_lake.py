"""`memflow copy-lake`: copy a lake into the lake of the settings, for example from a folder to an object store."""

from collections import Counter
from typing import Annotated

import typer

from memflow.cli.front import front_of
from memflow.cli.output import Format, FormatOption, Text, answer, heading, note, table


def copy_lake(
    ctx: typer.Context,
    source: Annotated[
        str, typer.Argument(metavar="SOURCE", help="The lake to copy: a folder, or s3://bucket/path.")
    ],
    form: FormatOption = Format.text,
) -> None:
    """Copy a lake, with its earlier versions, into the `lake` of memflow.toml.

    Partitions that are as new there are skipped, so the command can be repeated. The source stays as it is. An address
    of the former layout, with one plain file per partition, may be copied onto itself. Damaged files are listed and
    not copied; then the exit code is 1.
    """
    from resources.lake.copy import copy_lake as copied

    settings = front_of(ctx).load()
    partitions, versions = Counter[str](), Counter[str]()
    damages: list[str] = []
    for each in copied(source, settings.lake_root):
        partitions[each.table] += 1
        versions[each.table] += each.versions
        damages += each.damages
    data = {
        "lake": settings.lake_root,
        "tables": [
            {"table": name, "partitions": partitions[name], "copied_versions": versions[name]}
            for name in partitions
        ],
        "damages": damages,
    }
    shown = [(name, partitions[name], versions[name]) for name in partitions]
    answer(
        form,
        data,
        table("", ("table", "partitions", "copied versions"), shown, right=("partitions", "copied versions")),
        *([heading("damaged, and not copied")] if damages else ()),
        *(Text(f"  {damage}", style="red") for damage in damages),
        note(f"{versions.total()} versions were copied to {settings.lake_root}."),
    )
    if damages:
        raise typer.Exit(1)
