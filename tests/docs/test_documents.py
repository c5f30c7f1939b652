"""Documentation pages: links, commands, settings blocks and the site that `make docs` builds."""

import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import click
import pytest
from typer.main import get_command

from memflow.benchmarks.registry import protocol
from memflow.cli import app
from memflow.pipeline import STEPS
from memflow.resources.settings.settings import Settings

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    [*(ROOT / "docs").rglob("*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]
)
GENERATED = re.compile(r"reference/(cli|settings|tables|memories|domains|checks)\.md")
PAGES_OF_BENCHMARKS = {
    **{name: (name,) for name in ("amemgym", "comem", "membench", "memorybench")},
    "locomo": ("locomo", "longmemeval"),
    "memoryagentbench": ("memoryagentbench", "beam", "halumem"),
}
"""The benchmarks whose tables of protocol points are on a page of docs/explanation."""
COMMAND = re.compile(r"(?:[A-Z_]+=\S+ )*(?:\S*/)?memflow\s+(.+)")


def blocks(page: Path, language: str) -> list[str]:
    """Return the code blocks of a page in a language. Blocks indented by four spaces count as commands."""
    text = page.read_text(encoding="utf-8")
    fenced = re.findall(rf"^( *)```{language}\b[^\n]*\n(.*?)^\1```", text, re.DOTALL | re.MULTILINE)
    found = [re.sub(rf"^{indent}", "", block, flags=re.MULTILINE) for indent, block in fenced]
    indented = language == "bash" and page.parent == ROOT
    return found + (re.findall(r"(?:^ {4}.*\n)+", text, re.MULTILINE) if indented else [])


def commands(page: Path) -> list[list[str]]:
    """Return the arguments of every `memflow` command in the page's code blocks."""
    lines = "\n".join(blocks(page, "bash")).replace("\\\n", " ")
    # An SQL statement in quotes goes over several lines.
    joined = re.sub(r'"[^"]*"', lambda quoted: " ".join(quoted[0].split()), lines)
    found = [COMMAND.match(line.strip()) for line in joined.splitlines()]
    return [shlex.split(match[1], comments=True) for match in found if match]


def parse(arguments: list[str]) -> None:
    """Parse a command line without running it. Raise an error that names an unknown command or option."""
    command, path = get_command(app), "memflow"
    context = command.make_context(path, list(arguments))
    while hasattr(command, "resolve_command") and (words := [*context._protected_args, *context.args]):
        name, command, rest = command.resolve_command(context, words)
        context = command.make_context(name, rest, parent=context)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_command_in_a_documentation_page_can_be_parsed(page: Path) -> None:
    for arguments in commands(page):
        try:
            parse(arguments)
        except (click.ClickException, Exception) as error:  # noqa: BLE001  (typer has exception types of its own)
            pytest.fail(f"memflow {shlex.join(arguments)}: {error}")


@pytest.mark.parametrize("arguments", [["unknown"], ["run", "--unknown"], ["show", "unknown"]])
def test_command_parser_rejects_unknown_command_or_option(arguments: list[str]) -> None:
    with pytest.raises(Exception, match="unknown"):
        parse(arguments)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_documentation_links_and_pictures_point_to_existing_files(page: Path) -> None:
    text = re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text):
        if not target.startswith(("http:", "https:")):
            assert (page.parent / target).exists() or GENERATED.search(target), (
                f"{page.name} links to {target}"
            )


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_repository_files_named_in_documentation_pages_exist(page: Path) -> None:
    named = re.findall(
        r"`((?:memflow|assets|resources|sql|tests|bench|examples|docs)/[\w./-]+)`",
        page.read_text(encoding="utf-8"),
    )
    missing = [name for name in named if not (ROOT / name).exists() and not GENERATED.search(name)]
    assert not missing


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_settings_blocks_in_documentation_pages_are_valid(page: Path) -> None:
    for block in blocks(page, "toml"):
        table = tomllib.loads(block)
        roles = [*table.get("roles", {}).values(), *table.get("judges", {}).values()]
        names = [name for of_role in roles for name in ([of_role] if isinstance(of_role, str) else of_role)]
        models = {name: {"kind": "scripted"} for name in names}
        if "project" not in table:
            Settings(**{**table, "models": {**models, **table.get("models", {})}})


def test_readme_has_at_most_450_words() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").split()) <= 450


def test_documentation_has_at_most_45_000_words_in_25_pages() -> None:
    pages = [*(ROOT / "docs").rglob("*.md")]
    assert len(pages) <= 25
    assert sum(len(page.read_text(encoding="utf-8").split()) for page in pages) <= 45_000


def test_documentation_site_builds_and_loads_nothing_from_other_hosts(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "NO_MKDOCS_2_WARNING": "1"}
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)]
    built = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stdout + built.stderr
    assert GENERATED.findall(
        " ".join(path.as_posix() for path in tmp_path.rglob("*.html")).replace(".html", ".md")
    )
    rows = {"architecture": len(STEPS), "metrics": 30}
    for page, benchmarks in PAGES_OF_BENCHMARKS.items():
        rows[f"explanation/{page}"] = sum(len(protocol(name).points) for name in benchmarks)
    for name, count in rows.items():
        text = (tmp_path / f"{name}.html").read_text(encoding="utf-8")
        assert "<!-- table" not in text and text.count("<tr>") > count, (
            f"{name}: a generated table is missing"
        )
    for page in tmp_path.rglob("*.html"):
        loaded = re.findall(
            r"<(?:link|script|img|iframe|source)\b[^>]*?\b(?:href|src)=[\"']?((?:https?:)?//[^\"' >]+)",
            page.read_text(encoding="utf-8"),
        )
        assert not loaded, f"{page.name} loads {loaded}"
    styles = "".join(path.read_text(encoding="utf-8") for path in tmp_path.rglob("*.css"))
    assert not re.findall(r"url\([\"']?(?:https?:)?//|@import", styles)
