"""Malicious data in every command that prints rows: control characters are shown, and never sent to the terminal."""

import json
from dataclasses import fields, replace
from pathlib import Path

import pytest

from memflow.cli import output
from memflow.records import TABLES

DOMAIN, ASSISTANT = "amemgym_demo~1", "awi"
MALICIOUS = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202egnorw\r"
TEXTS = {"text", "name", "title", "gold", "question", "parsed", "reason", "profile", "query", "prompt"}
SENT = {"\x1b", "\x07", "\x9b", "\u202e", "\r"}


@pytest.fixture(scope="module")
def malicious(measured, tmp_path_factory):
    """Return a home whose texts all end with escape sequences."""
    home = replace(measured, folder=tmp_path_factory.mktemp("malicious"))
    for table in TABLES:
        for partition in measured.lake.partitions(table):
            rows = [_poisoned(row) for row in measured.lake.read(table, partition)]
            facts = measured.lake.facts(table, partition)
            home.write(table, partition, rows, **facts.meta)
    return home


def _poisoned(row):
    changed = {
        field.name: f"{getattr(row, field.name)} {MALICIOUS}"
        for field in fields(row)
        if field.name in TEXTS and isinstance(getattr(row, field.name), str)
    }
    return replace(row, **changed)


COMMANDS = [
    ("show", "leaderboard"),
    ("show", "verdicts"),
    ("show", "made"),
    ("show", "memory", DOMAIN, ASSISTANT),
    ("sql", "SELECT text FROM utterance.turns LIMIT 3"),
    ("sql", f'SELECT 1 AS "{MALICIOUS}"'),
    ("checks", "utterance.turns"),
    ("run", "--domain", MALICIOUS),
    ("show", "leaderboard", "--domain", MALICIOUS),
    ("memories", MALICIOUS),
    ("prompts", "show", MALICIOUS),
]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda each: " ".join(each[:2]))
@pytest.mark.parametrize("width", [60, 140])
def test_no_command_sends_control_characters_of_data(malicious, monkeypatch, command, width: int) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    result = malicious(*command)
    assert not SENT & {*result.output}


def test_probe_view_shows_escape_sequences_as_symbols(malicious) -> None:
    probe = malicious.lake.read("question.probes", DOMAIN)[0]
    shown = malicious("show", "probe", probe.probe_id).output
    assert not SENT & {*shown}
    assert "␛]0;owned␇" in shown and "<U+202E>" in shown


def test_json_escapes_control_characters_and_keeps_the_text_exact(malicious) -> None:
    result = malicious("sql", "SELECT text FROM utterance.turns LIMIT 1", "--format", "json")
    assert not SENT & {*result.stdout}
    [row] = json.loads(result.stdout)
    assert row["text"].endswith(MALICIOUS)


def test_only_the_output_modules_of_the_command_line_use_unchecked_text() -> None:
    package = Path(output.__file__).parents[1]
    unchecked = {
        path.name
        for path in (*package.glob("cli/*.py"), *package.glob("rendering/*.py"))
        if "from rich.text" in path.read_text(encoding="utf-8")
        or "Console(" in path.read_text(encoding="utf-8")
    }
    assert unchecked == {"tables.py", "progress.py"}
