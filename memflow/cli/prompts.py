"""`memflow prompts`: list prompts, export prompts for editing, and check a folder."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memflow.cli.front import front_of
from memflow.cli.output import Format, FormatOption, answer, note, table, write
from memflow.errors import BadInput, BadSettings

if TYPE_CHECKING:
    from memflow.resources.settings.settings import Settings
    from memflow.run.prompt_catalog import CatalogPrompt

prompts = typer.Typer(
    no_args_is_help=True,
    help="List, export and check prompts. `prompts` in memflow.toml is the folder of those that replace ours.",
)

OwnerOption = Annotated[
    list[str] | None,
    typer.Option("--of", metavar="NAME", help="Of this benchmark or memory; may be repeated."),
]
RoleOption = Annotated[
    list[str] | None,
    typer.Option("--role", metavar="ROLE", help="Of this role, such as judge or simulator; may be repeated."),
]
NamesArgument = Annotated[list[str] | None, typer.Argument(metavar="[NAME]...", help="Prompts by name.")]
ForceOption = Annotated[bool, typer.Option("--force", help="Write over files that are there.")]


@prompts.command("list")
def list_(
    ctx: typer.Context,
    names: NamesArgument = None,
    of: OwnerOption = None,
    role: RoleOption = None,
    form: FormatOption = Format.text,
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
    answer(
        form,
        rows,
        table("", columns, [[row[column] for column in columns] for row in rows], optional=("replaced_by",)),
        note(f"\n{len(rows)} prompts, {len(replaced)} replaced in all."),
    )


@prompts.command()
def export(
    ctx: typer.Context,
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Where to write the files.")],
    names: NamesArgument = None,
    of: OwnerOption = None,
    role: RoleOption = None,
    force: ForceOption = False,
    form: FormatOption = Format.text,
) -> None:
    """Write packaged prompts to a folder for editing, one file per prompt: FOLDER/mem0/decide.md.

    Delete the files that you do not change: a later version of memflow may improve the packaged prompts.
    """
    found = _chosen(front_of(ctx).load(), names, of, role)
    files = {name: folder / f"{name}.md" for name in found}
    for name, path in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        write(path, found[name].text, force)
    written = {"files": [str(path) for path in files.values()], "setting": f'prompts = "{folder}"'}
    answer(
        form,
        written,
        note(f'{len(files)} files are in {folder}. Use them: prompts = "{folder}" in memflow.toml'),
    )


@prompts.command()
def check(
    ctx: typer.Context,
    folder: Annotated[
        Path | None, typer.Argument(metavar="[FOLDER]", help="The folder. [`prompts` of memflow.toml]")
    ] = None,
    form: FormatOption = Format.text,
) -> None:
    """Check the files of a folder: one line per problem, with the fix. Exit with code 1 if there is a problem."""
    from memflow.resources.settings.prompt_folders import read_prompts
    from memflow.run.prompt_catalog import prompt_catalog

    settings = front_of(ctx).load()
    folders = folder or settings.prompts
    if folders is None:
        raise BadSettings(
            'memflow.toml has no `prompts`. Add the folder to the command, or prompts = "FOLDER" to the file.'
        )
    files, problems = read_prompts(folders, prompt_catalog(settings.own_memories()))
    rows = [(problem.file, problem.what, problem.fix) for problem in problems]
    answer(
        form,
        {"usable": sorted(files), "problems": [problem._asdict() for problem in problems]},
        *([table("", ("file", "problem", "fix"), rows)] if rows else []),
        note(f"Usable files: {len(files)}. Problems: {len(problems)}."),
    )
    if problems:
        raise typer.Exit(1)


def _chosen(
    settings: "Settings", names: Sequence[str] | None, of: Sequence[str] | None, role: Sequence[str] | None
) -> "Mapping[str, CatalogPrompt]":
    """Return the prompts that names, benchmarks or memories, and roles select. Raises BadInput for an unknown name."""
    from memflow.run.prompt_catalog import prompt_catalog
    from memflow.suggestions import unknown_name

    catalog = prompt_catalog(settings.own_memories())
    known = {
        "prompt": (names, set(catalog)),
        "benchmark or memory with prompts": (of, {entry.owner for entry in catalog.values()}),
        "role": (role, {role for entry in catalog.values() for role in entry.roles}),
    }
    for kind, (chosen, existing) in known.items():
        for name in chosen or ():
            if name not in existing:
                raise BadInput(unknown_name(kind, name, existing, "memflow prompts list"))
    return {
        name: entry
        for name, entry in catalog.items()
        if (not names or name in names)
        and (not of or entry.owner in of)
        and (not role or {*role} & {*entry.roles})
    }
