"""The user's prompt folder: reads the files that replace packaged prompts, and checks them.

A file replaces the prompt whose name is its path below the folder: `mem0/decide.md` replaces `mem0/decide`.
memflow/chat/replacements.py has the files in use; a process sets them with `activate_prompts`.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from memflow.chat.prompts import contract_faults, parse
from memflow.chat.replacements import PromptFile, Replacements, replace_prompts
from memflow.errors import BadSettings, PromptError
from memflow.resources.settings.settings import Settings
from memflow.run.prompt_catalog import CatalogPrompt, prompt_catalog
from memflow.suggestions import unknown_name

LARGEST = 1_000_000
"""Bytes that a prompt file may have."""


class PromptProblem(NamedTuple):
    """A fault of a file or folder: its path, what is wrong, and what to do."""

    file: str
    what: str
    fix: str


class PromptFolder(NamedTuple):
    """The usable files by prompt name, and the problems of unusable files."""

    files: dict[str, PromptFile]
    problems: list[PromptProblem]


def activate_prompts(settings: Settings) -> None:
    """Replace prompts of this process by the files in the settings. Raises BadSettings if a file is unusable."""
    replace_prompts(usable_prompts(settings))


def usable_prompts(settings: Settings) -> Replacements:
    """Return the files of the settings by prompt name, without files that equal the packaged files.

    Raises BadSettings with the first problem, if any.
    """
    if settings.prompts is None:
        return {}
    catalog = prompt_catalog(settings.own_memories())
    files, problems = read_prompts(settings.prompts, catalog)
    if problems:
        file, what, fix = problems[0]
        more = f" There are {len(problems) - 1} more problems." if problems[1:] else ""
        raise BadSettings(
            f"the prompt file {file} cannot be used: {what}. {fix}.{more} `memflow doctor` lists all."
        )
    return {name: file for name, file in files.items() if file.text != catalog[name].text}


def read_prompts(folder: Path, catalog: Mapping[str, CatalogPrompt]) -> PromptFolder:
    """Return the prompt files of a folder and its problems."""
    folder = folder.expanduser()
    if not folder.is_dir():
        problem = PromptProblem(
            str(folder), "the folder does not exist", "Create it with `memflow prompts export`"
        )
        return PromptFolder({}, [problem])
    found = PromptFolder({}, [])
    for path in sorted(folder.rglob("*.md")):
        name = path.relative_to(folder).with_suffix("").as_posix()
        if path.name.lower() == "readme.md":
            continue
        if name not in catalog:
            what = unknown_name("prompt", name, catalog, "memflow prompts list")
            fix = "Name the file after the prompt: mem0/decide.md replaces mem0/decide"
            found.problems.append(PromptProblem(str(path), what, fix))
        else:
            found.problems.extend(_read_file(path, catalog[name], found.files))
    return found


def _read_file(path: Path, packaged: CatalogPrompt, files: dict[str, PromptFile]) -> Iterator[PromptProblem]:
    """Add a file to `files`, or yield its problems."""
    try:
        if path.stat().st_size > LARGEST:
            yield PromptProblem(str(path), f"it has more than {LARGEST:,} bytes", "Shorten the text")
            return
        text = path.read_text(encoding="utf-8-sig")
        mine = parse(text, packaged.package, str(path))
    except (OSError, UnicodeDecodeError) as wrong:
        yield PromptProblem(str(path), f"it cannot be read: {wrong}", "Save it as UTF-8 text")
    except PromptError as wrong:
        what, _, fix = str(wrong).rstrip(".").rpartition(". ")
        yield PromptProblem(str(path), what, fix)
    else:
        faults = contract_faults(packaged.prompt, mine)
        yield from (PromptProblem(str(path), what, fix) for what, fix in faults)
        if not faults:
            files[packaged.prompt.name] = PromptFile(str(path), text, packaged.package, packaged.roles)
