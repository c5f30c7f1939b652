"""Former terms of our own do not return; the glossary lists the terms that replaced them."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCOPE = ("README.md", "CONTRIBUTING.md", "Makefile", "mkdocs.yml", "docs", "resources/memflow.toml")
"""Files and folders without former terms."""
NAMES_THEM = {"docs/glossary.md", "CHANGELOG.md"}
TERMS = (
    r"\bmend(s|ed|ing)?\b",
    r"\banew\b",
    r"\brehears\w*",
    r"\bheadlines?\b",
    r"\bbooked\b",
    r"\binstruments?\b",
    r"\bunequal\b",
    r"\blessons?\b",
    r"front door|outer rooms?",
    r"\buntelling\b",
    r"utilisation",
    r"counts_rows",
    r"--again",
    r"memflow accounts",
    r"build_users|measure_memories|read_datasets|publish_scores",
    r"\b(is|was|are|were|be) told\b",
    r"\bone's own\b",
    r"\bturn(s|ed)? away\b",
)
SOURCES = {".md", ".py", ".toml", ".yaml", ".yml", ".sql", ""}
DATA = re.compile(r"/(prompts|sample)/")


def files() -> list[Path]:
    """Every text file of the scope, without data and without pages that name former terms."""
    found = [path for name in SCOPE for path in [ROOT / name, *(ROOT / name).rglob("*")] if path.is_file()]
    return [
        path
        for path in found
        if path.suffix in SOURCES
        and path.relative_to(ROOT).as_posix() not in NAMES_THEM
        and not DATA.search(path.as_posix())
    ]


@pytest.mark.parametrize("term", TERMS)
def test_a_former_term_is_not_used(term: str) -> None:
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in files()
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if re.search(term, line)
    ]
    assert not found, "\n".join(found[:20])
