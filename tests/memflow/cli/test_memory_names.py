"""Memories by name, import path or address, in every command that names one."""

from typing import Any

import pytest

from memflow.operations.import_paths import assistant_name
from memflow.operations.operands import Operand, parse_operand

DOMAIN = "amemgym_demo~1"
FORMS = [
    ("http://127.0.0.1:9000", "server_127_0_0_1_9000"),
    ("my_module:MyMemory", "my_memory"),
    ("http://127.0.0.1:9000/v1@large", "server_127_0_0_1_9000_v1@large"),
    ("mcp:npx -y @modelcontextprotocol/server-memory", "mcp_server_memory_4283fb16"),
]


@pytest.mark.parametrize(("form", "name"), FORMS)
def test_name_of_an_import_path_or_address(form: str, name: str) -> None:
    assert assistant_name(form) == name == assistant_name(name)


@pytest.mark.parametrize(("form", "name"), FORMS[:2])
@pytest.mark.parametrize(
    "command",
    [
        ("show", "leaderboard", "--assistant", "FORM"),
        ("show", "memory", DOMAIN, "FORM"),
        ("show", "deviations", DOMAIN, "--assistant", "FORM"),
        ("search", DOMAIN, "FORM", "a query"),
        ("compare", "full", "FORM"),
        ("export", "verdicts", DOMAIN, "FORM", "x.jsonl"),
        ("export", "transcript", DOMAIN, "FORM", "x.jsonl"),
        ("checks", "--assistant", "FORM"),
        ("report", "--assistant", "FORM"),
    ],
    ids=" ".join,
)
def test_every_command_resolves_an_import_path_or_address(
    measured: Any, command: tuple[str, ...], form: str, name: str
) -> None:
    arguments = [form if word == "FORM" else word for word in command]
    assert f"'{name}'" in measured.error(*arguments)


@pytest.mark.parametrize(
    ("text", "operand"),
    [
        ("d/http://127.0.0.1:9000@m:judge_x=2", Operand("server_127_0_0_1_9000@m", "d", "judge_x", "2")),
        ("my_module:MyMemory:judge_x", Operand("my_memory", None, "judge_x")),
        ("full:judge_x=2026-11-20T09:00", Operand("full", None, "judge_x", "2026-11-20T09:00")),
    ],
)
def test_operand_may_have_an_import_path_or_address(text: str, operand: Operand) -> None:
    assert parse_operand(text) == operand
