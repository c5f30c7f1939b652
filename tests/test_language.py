"""The vocabulary of docs/glossary.md: former names do not occur in code, messages, tests or docs.

Prompt files and their output types are excluded, because their text is part of recorded requests.
"""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FOLDERS = ("memflow", "assets", "resources", "sql", "tests", "docs", "bench", "examples")
EXCLUDED = (
    "/prompts/",
    "/sample/",
    "/answers.py",
    "/node_modules/",
    "docs/glossary.md",
    "tests/test_language.py",
)

FORMER = {
    r"mend(s|ed|ing)?": "fix, repair",
    r"anew": "again, regenerate, rebuild",
    r"rehears\w*": "dry run",
    r"headline\w*": "primary metric",
    r"counts_rows": "aggregates_in_sql",
    r"Figured": "MetricContext",
    r"Take\(": "SampleConfig",
    r"teaches|lesson\(": "provides_feedback, evolution feedback",
    r"instruments": "metric backends",
    r"hostile": "malicious",
    r"untelling": 'the "not enough information" option',
    r'unequal(?!")': "settings that differ",
    r"front door|outer rooms?": "command-line interface, outer packages",
    r'utilisation(?!_failure|")': "utilization",
    r"--again(?!\")|memflow accounts": "--force, memflow usage",
    r"one's own|turn(s|ed)? away": "your own, rejected",
    r"build_users|measure_memories|read_datasets|publish_scores": "the jobs of memflow/pipeline.py",
    r"beside us|outlive this process": "subprocesses; WAL mode with synchronous=NORMAL",
    r"[Tt]icks? (of|since|until|at)|\.tick\b": "sequence number",
    r"what was (told|made|kept|held)": "the field's word for it",
}
"""Patterns of former words, and what to write."""

PARTICIPLES = {
    "told",
    "taken",
    "held",
    "kept",
    "settled",
    "placed",
    "drawn",
    "booked",
    "lived",
    "asked",
}
"""Bare participles: the name of no function, class or method."""


def texts(*suffixes: str) -> list[Path]:
    found = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*") if path.suffix in suffixes]
    paths = [*found, ROOT / "README.md"] if ".md" in suffixes else found
    return [
        path
        for path in paths
        if not any(part in f"/{path.relative_to(ROOT).as_posix()}" for part in EXCLUDED)
    ]


@pytest.mark.parametrize("former", FORMER)
def test_former_term_of_the_glossary_does_not_occur_in_the_repository(former: str) -> None:
    pattern = re.compile(rf"(?<!\w)({former})(?!\w)")
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in texts(".py", ".md", ".sql", ".toml")
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if pattern.search(line)
    ]
    assert found == [], f"write: {FORMER[former]}"


def test_function_and_class_names_are_not_bare_participles() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno}: {node.name}"
        for path in texts(".py")
        if path.relative_to(ROOT).parts[0] != "tests"
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        and node.name.lower().strip("_") in PARTICIPLES
    ]
    assert found == []


def test_class_names_are_unique_in_each_package() -> None:
    """A package is a folder of memflow/ or resources/, or one benchmark."""
    places: dict[tuple[str, ...], list[str]] = {}
    for path in texts(".py"):
        parts = path.relative_to(ROOT).parts
        package = parts[:3] if parts[1] == "benchmarks" else parts[:2]
        for node in (
            ast.parse(path.read_text(encoding="utf-8")).body if parts[0] in ("memflow", "resources") else ()
        ):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places.setdefault((*package, node.name), []).append(f"{path.relative_to(ROOT)}:{node.lineno}")
    assert {name: each for name, each in places.items() if len(each) > 1} == {}
