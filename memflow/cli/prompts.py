"""`memflow prompts`: list prompts, and export prompts for editing. `memflow doctor` checks the files of a folder."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memflow.cli.lazy_commands import App
from memflow.cli.options import OverwriteOption, argument, front_of, option
from memflow.cli.output import Format, FormatOption, print_result, write
from memflow.operations.stored_names import check_names
from memflow.rendering.tables import table_of
from memflow.rendering.texts import note

if TYPE_CHECKING:
    from memflow.resources.settings.settings import Settings
    from memflow.run.prompt_catalog import CatalogPrompt

prompts = App(
    no_args_is_help=True,
    help="List and export prompts. `prompts` in memflow.toml is the folder of those that replace ours.",
)
OwnerOption = Annotated[list[str] | None, option("--of", "Of this benchmark or memory; may be repeated.")]
RoleOption = Annotated[
    list[str] | None,
    option("--role", "Of this role, such as judge or simulator; may be repeated.", metavar="ROLE"),
]
NamesArgument = Annotated[list[str] | None, argument("[NAME]...", "Prompts by name.")]


@prompts.command("list")
def list_(
    ctx: typer.Context,
    names: NamesArgument = None,
    of: OwnerOption = None,
    role: RoleOption = None,
    form: FormatOption = Format.table,
) -> None:
    """List the prompts: name, roles, fields, output type, and whether a file of yours replaces it."""
    from memflow.resources.settings.prompt_folders import usable_prompts

    settings = front_of(ctx).load()
    replaced = usable_prompts(settings)
    rows = [
        {
            "name": name,
            "owner": entry.owner,
            "roles": list(entry.roles),
            "language": entry.prompt.language,
            "fields": list(entry.prompt.fields),
            "output": None if entry.prompt.output is None else entry.prompt.output.__name__,
            "replaced_by": replaced[name].path if name in replaced else None,
            "digest": replaced[name].digest if name in replaced else entry.prompt.digest,
        }
        for name, entry in _chosen(settings, names, of, role).items()
    ]
    columns = ("name", "roles", "fields", "output", "replaced_by")
    print_result(
        form, rows, table_of(rows, columns), note(f"\n{len(rows)} prompts, {len(replaced)} replaced in all.")
    )


@prompts.command()
def export(
    ctx: typer.Context,
    folder: Annotated[Path, argument("FOLDER", "Where to write the files.")],
    names: NamesArgument = None,
    of: OwnerOption = None,
    role: RoleOption = None,
    force: OverwriteOption = False,
    form: FormatOption = Format.table,
) -> None:
    """Write packaged prompts to a folder for editing, one file per prompt: FOLDER/mem0/decide.md.

    Delete the files that you do not change: a later version of memflow may improve the packaged prompts.
    """
    chosen = _chosen(front_of(ctx).load(), names, of, role)
    files = {name: folder / f"{name}.md" for name in chosen}
    for name, path in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        write(path, chosen[name].text, force)
    print_result(
        form,
        {"files": [str(path) for path in files.values()], "setting": f'prompts = "{folder}"'},
        note(f'{len(files)} files are in {folder}. Use them: prompts = "{folder}" in memflow.toml'),
    )


def _chosen(
    settings: "Settings", names: Sequence[str] | None, of: Sequence[str] | None, role: Sequence[str] | None
) -> "Mapping[str, CatalogPrompt]":
    """Return the prompts that names, benchmarks or memories, and roles select. Raises BadInput for an unknown name."""
    from memflow.run.prompt_catalog import prompt_catalog

    catalog, command = prompt_catalog(settings.own_memories()), "memflow prompts list"
    owners = {entry.owner for entry in catalog.values()}
    check_names("", "prompt", names, set(catalog), command)
    check_names("", "benchmark or memory with prompts", of, owners, command)
    check_names("", "role", role, {role for entry in catalog.values() for role in entry.roles}, command)
    return {
        name: entry
        for name, entry in catalog.items()
        if (not names or name in names)
        and (not of or entry.owner in of)
        and (not role or {*role} & {*entry.roles})
    }
