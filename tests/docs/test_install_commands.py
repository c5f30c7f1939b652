"""Commands that install packages, in docs, examples and error messages: each package is meant."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
COMMAND = re.compile(
    r"\b(?:pip (?:install|download)|uv (?:add|tool install|tool run)|uvx|pipx (?:install|run)) "
    r"((?:(?!\", )[^`\n;&#)])+)"
)
OPTIONS_WITH_VALUE = {
    "-d",
    "-p",
    "--python",
    "-r",
    "-c",
    "--target",
    "--exclude-newer",
    "--index-url",
    "--find-links",
}
MEANT = {
    *("memflow-bench", "dagster", "dagster-webserver", "dagster-postgres", "dagster-dg-cli"),
    *(
        "mem0ai",
        "polars",
        "vllm-router",
        "trl",
        "peft",
        "transformers",
        "torch",
        "datasets",
        "agentic-memory",
        "letta",
    ),
}
"""The packages that a reader is to install. `memflow` is the name of another project."""


def packages(arguments: str) -> set[str]:
    """Return the names of the packages in the arguments of an installing command, without paths and variables."""
    words = [word.strip("'\".,") for word in arguments.split()]
    if "--from" in words:
        words = words[words.index("--from") + 1 :][:1]  # the rest is a command of that package
    names = set()
    for position, word in enumerate(words):
        value = position > 0 and words[position - 1] in OPTIONS_WITH_VALUE
        match = re.match(r"[A-Za-z0-9][\w.-]*", word)
        if match and not value and not re.search(r"[/\\$]|\.(whl|gz)$", word):
            names.add(match[0].lower())
    return names


def documents() -> list[Path]:
    folders = ("docs", "examples", "memflow", "assets", "resources", ".github")
    files = [path for folder in folders for path in (ROOT / folder).rglob("*")]
    endings = {".md", ".py", ".toml", ".yml", ".yaml", ".sh"}
    texts = [
        path for path in files if path.suffix in endings and not {".venv", "node_modules"} & {*path.parts}
    ]
    return [*texts, *ROOT.glob("*.md"), ROOT / "Dockerfile", ROOT / "Makefile"]


def installing_commands() -> list[tuple[str, str]]:
    """Return path and arguments of every command that installs packages."""
    return [
        (str(path.relative_to(ROOT)), arguments)
        for path in documents()
        if path.name != "CHANGELOG.md"
        for arguments in COMMAND.findall(path.read_text(encoding="utf-8"))
    ]


def test_every_installed_package_is_meant() -> None:
    commands = installing_commands()
    assert len(commands) > 15
    assert [(path, names) for path, text in commands if (names := packages(text) - MEANT)] == []


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        ("-p x/bin/python 'memflow[mem0]' trl>=1", {"memflow", "trl"}),
        ("--from memflow-bench memflow run --demo", {"memflow-bench"}),
        ('./examples/benchmark "$MEMFLOW" dist/a.whl -e .', set()),
    ],
)
def test_packages_of_a_command_are_found(arguments: str, names: set[str]) -> None:
    assert packages(arguments) == names


def test_packages_of_examples_depend_on_the_distribution_of_memflow() -> None:
    for file in (ROOT / "examples").rglob("pyproject.toml"):
        dependencies = tomllib.loads(file.read_text(encoding="utf-8"))["project"].get("dependencies", [])
        assert not [name for name in dependencies if re.fullmatch(r"memflow(?![\w-]).*", name)]
