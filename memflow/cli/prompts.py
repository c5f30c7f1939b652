"""`memflow prompts`: list prompts, export prompts for editing, import published prompts, and check a folder."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from memflow.cli.front import front_of
from memflow.cli.output import Format, FormatOption, answer, note, table, write
from memflow.errors import BadInput, BadSettings

if TYPE_CHECKING:
    from memflow.run.prompt_catalog import CatalogPrompt
    from resources.settings.prompt_folders import PromptProblem
    from resources.settings.settings import Settings

prompts = typer.Typer(
    no_args_is_help=True,
    help="List, export, import and check prompts. `prompts` in memflow.toml is the folder of those that replace ours.",
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
    from resources.settings.prompt_folders import usable_prompts

    settings = front_of(ctx).load()
    replaced = usable_prompts(settings)
    rows = [
        {
            "name": name,
            "owner": each.owner,
            "roles": list(each.roles),
            "language": each.prompt.language,
            "fields": list(each.prompt.fields),
            "output": None if each.prompt.output is None else each.prompt.output.__name__,
            "replaced_by": replaced[name].path if name in replaced else None,
            "digest": replaced[name].digest if name in replaced else each.prompt.digest,
        }
        for name, each in _chosen(settings, names, of, role).items()
    ]
    columns = ("name", "roles", "fields", "output", "file")
    cells = [
        (row["name"], row["roles"], row["fields"], row["output"] or "text", row["replaced_by"] or "packaged")
        for row in rows
    ]
    answer(
        form,
        rows,
        table("", columns, cells),
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
    from memflow.run.prompt_catalog import prompt_catalog
    from resources.settings.prompt_folders import read_prompts

    settings = front_of(ctx).load()
    folders = folder or settings.prompts
    if folders is None:
        raise BadSettings(
            'memflow.toml has no `prompts`. Add the folder to the command, or prompts = "FOLDER" to the file.'
        )
    files, problems = read_prompts(folders, prompt_catalog(settings.own_memories()))
    data = {"usable": sorted(files), "problems": [each._asdict() for each in problems]}
    answer(form, data, *_problems(problems), note(f"Usable files: {len(files)}. Problems: {len(problems)}."))
    if problems:
        raise typer.Exit(1)


@prompts.command("import")
def import_(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The prompt to replace, such as mem0/decide.")],
    source: Annotated[Path, typer.Argument(metavar="FILE", help="A .py or .json file with the text.")],
    user: Annotated[
        str,
        typer.Option(metavar="KEY", help="The constant or JSON key of the user's message: TEXT, TEXTS.en."),
    ],
    system: Annotated[
        str | None, typer.Option(metavar="KEY", help="The same for the system message.")
    ] = None,
    field: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=FIELD", help="A placeholder and the field for it; {} has its number from 0."
        ),
    ] = None,
    placeholder: Annotated[
        str,
        typer.Option(metavar="STYLE", help="{} for format strings, or a form with NAME: <<<NAME>>>, {NAME}."),
    ] = "{}",
    to: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Where to write. [the folder `prompts` of memflow.toml]"),
    ] = None,
    force: ForceOption = False,
    form: FormatOption = Format.text,
) -> None:
    """Convert a published prompt, such as a constant of a paper's code, into a file that replaces a packaged prompt.

    A Python file is parsed, not executed. The file has the packaged front matter: fields, output type and bounds.
    """
    from memflow.chat.prompt_import import prompt_file, with_fields

    settings = front_of(ctx).load()
    packaged = _chosen(settings, [name], None, None)[name]
    folder = to or (settings.prompts if isinstance(settings.prompts, Path) else None)
    if folder is None:
        raise BadSettings("`prompts` in memflow.toml is missing or not a single folder. Add --to FOLDER.")
    mapping = _mapping(field or ())
    keys = {"user": user} if system is None else {"system": system, "user": user}
    sections = {role: with_fields(_text(source, key), mapping, placeholder) for role, key in keys.items()}
    path = folder.expanduser() / f"{name}.md"
    text = prompt_file(packaged.prompt, packaged.text, sections)
    path.parent.mkdir(parents=True, exist_ok=True)
    write(path, text, force)
    unused = [each for each in packaged.prompt.fields if f"${{{each}}}" not in text]
    output = packaged.prompt.output
    lines = [f"{path} is written."]
    if unused:
        lines.append(f"Its text does not use {', '.join(unused)}: they are `unused` in its front matter.")
    if output is not None:
        lines.append(
            f"Answers are still parsed as {output.__name__}: a text that asks for another form needs an edit."
        )
    data = {"file": str(path), "unused": unused, "output": None if output is None else output.__name__}
    answer(form, data, *map(note, lines))


def _chosen(
    settings: "Settings", names: Sequence[str] | None, of: Sequence[str] | None, role: Sequence[str] | None
) -> "Mapping[str, CatalogPrompt]":
    """Return the prompts that names, benchmarks or memories, and roles select. Raises BadInput for an unknown name."""
    from memflow.run.prompt_catalog import prompt_catalog
    from memflow.suggestions import unknown_name

    catalog = prompt_catalog(settings.own_memories())
    known = {
        "prompt": (names, set(catalog)),
        "benchmark or memory with prompts": (of, {each.owner for each in catalog.values()}),
        "role": (role, {role for each in catalog.values() for role in each.roles}),
    }
    for kind, (given, among) in known.items():
        for each in given or ():
            if each not in among:
                raise BadInput(unknown_name(kind, each, among, "memflow prompts list"))
    return {
        name: each
        for name, each in catalog.items()
        if (not names or name in names)
        and (not of or each.owner in of)
        and (not role or {*role} & {*each.roles})
    }


def _problems(problems: "Sequence[PromptProblem]") -> list[Any]:
    rows = [(each.file, each.what, each.fix) for each in problems]
    return [table("", ("file", "problem", "fix"), rows)] if rows else []


def _mapping(pairs: Sequence[str]) -> dict[str, str]:
    """Return the fields by placeholder. Raises BadSettings for an option that is not NAME=FIELD."""
    found = {}
    for pair in pairs:
        name, equals, field = pair.partition("=")
        if not (name and equals and field):
            raise BadSettings(f"--field {pair} is not of the form NAME=FIELD. Write --field query=question.")
        found[name] = field
    return found


def _text(source: Path, key: str) -> str:
    """Return the text at a key of a Python or JSON file. Raises BadInput if it cannot be read."""
    from memflow.chat.prompt_import import json_text, python_text

    try:
        content = source.expanduser().read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as wrong:
        raise BadInput(f"{source} cannot be read: {wrong}. Choose a .py or .json file in UTF-8.") from wrong
    read = json_text if source.suffix == ".json" else python_text
    return read(content, key, str(source))
