"""`memflow init --data`, `memflow data check FILE` and `memflow import chats`."""

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from memflow.resources.data.library import Library
from memflow.resources.settings.settings import load

LINE = {
    "id": "ana",
    "messages": [{"id": "m1", "text": "I live in Oslo."}, {"id": "m2", "text": "I live in Rome."}],
    "questions": [
        {"question": "Where?", "gold": "Rome"},
        {"question": "Where?", "options": ["Oslo", "Rome"], "gold": 2},
    ],
}


def write(path: Path, *lines: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    return path


def test_init_writes_a_domain_and_prints_five_lines(empty, tmp_path: Path) -> None:
    write(tmp_path / "My Chats.jsonl", LINE)
    shown = empty("init", "--data", "My Chats.jsonl").stdout.splitlines()
    assert len(shown) == 5, shown
    assert shown[0] == "memflow.toml is written, with the domain my_chats."
    assert shown[1].startswith("Found: 1 dialogue, 2 messages, 2 questions (1 choice, 1 open, in en).")
    assert shown[2:4] == ["Scored by answer_f1 1, accuracy 1.", "No problems."]
    assert "memflow show leaderboard --domain my_chats" in shown[4]
    written = tomllib.loads(Path("memflow.toml").read_text(encoding="utf-8"))
    assert written["domains"] == ["my_chats"] and written["own_datasets"]["my_chats"]["files"] == [
        "My Chats.jsonl"
    ]
    settings = load()
    assert settings.domain("my_chats").benchmark == "dialogues"
    assert list(Library(None, settings.datasets).paths("my_chats").values()) == [tmp_path / "My Chats.jsonl"]


def test_init_keeps_an_existing_file_and_names_no_used_domain(empty, tmp_path: Path) -> None:
    write(tmp_path / "dialogues_demo.jsonl", LINE)
    Path("memflow.toml").write_text("# mine", encoding="utf-8")
    assert "already exists. Overwrite it with --force" in empty.error(
        "init", "--data", "dialogues_demo.jsonl"
    )
    found = empty.json("init", "--force", "--data", "dialogues_demo.jsonl")
    assert found["domain"] == "own_dialogues_demo" and found["questions"] == 2


def test_init_states_problems_and_refuses_files_without_a_valid_dialogue(empty, tmp_path: Path) -> None:
    write(tmp_path / "a.jsonl", LINE, {"id": "b", "messages": "x"})
    shown = empty("init", "--data", "a.jsonl").stdout.splitlines()
    assert shown[3].startswith("1 problem;") and "`memflow data check a.jsonl` lists them" in shown[3]
    write(tmp_path / "b.jsonl", {"id": "b", "mesages": []})
    message = empty.error("init", "c.toml", "--data", "b.jsonl")
    assert "b.jsonl, line 1, mesages" in message and not Path("c.toml").exists()


def test_settings_find_their_files_from_another_folder(
    empty, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "work/data/mine.jsonl", LINE)
    monkeypatch.chdir(tmp_path / "work")
    empty("init", "--data", "data/mine.jsonl")
    monkeypatch.chdir(tmp_path)
    settings = load(Path("work/memflow.toml"))
    assert settings.home == tmp_path / "work/.memflow"
    assert Library(None, settings.datasets).found("mine")


def test_data_check_of_a_file_lists_every_problem_and_exits_with_1(empty, tmp_path: Path) -> None:
    write(tmp_path / "a.jsonl", LINE)
    assert empty("data", "check", "a.jsonl").exit_code == 0
    wrong = {
        **LINE,
        "id": "ben",
        "questions": [{"question": "Where?", "gold": "x", "evidance": []}, {"question": "?"}],
    }
    write(tmp_path / "b.jsonl", LINE, wrong)
    result = empty("data", "check", "b.jsonl", "--format", "json")
    assert result.exit_code == 1
    found = json.loads(result.stdout)
    assert found["questions"] == 2 and [
        (each["where"], each["item"], each["field"]) for each in found["problems"]
    ] == [
        ("line 2", "question 1", "evidance"),
        ("line 2", "question 2", "gold"),
    ]
    assert "there is no file or folder gone.jsonl" in empty.error("data", "check", "gone.jsonl")
    shown = empty("data", "check", "b.jsonl").stdout
    assert (
        "b.jsonl, line 2, question 1, evidance: there is no field 'evidance'. Did you mean evidence?" in shown
    )


def test_import_chats_writes_a_table_to_which_questions_can_be_added(empty, tmp_path: Path) -> None:
    message = {
        "uuid": "1",
        "sender": "human",
        "text": "I live in Oslo.",
        "created_at": "2024-03-01T10:00:00Z",
    }
    write(tmp_path / "conversations.json", [{"name": "Home", "chat_messages": [message]}])
    found = empty.json("import", "chats", "conversations.json")
    assert found["messages"] == 1 and found["source"] == "Claude"
    assert "already exists" in empty.error("import", "chats", "conversations.json")
    Path("questions.csv").write_text(
        "dialogue,question,gold,evidence\nchats,Where?,Oslo,1_1\n", encoding="utf-8"
    )
    both = ("--data", "chats.csv", "--data", "questions.csv")
    assert empty.json("init", *both)["questions"] == 1
    shown = empty("import", "chats", "conversations.json", "all.csv").stdout
    assert "all.csv: 1 messages of 1 conversations of Claude, as one dialogue." in shown
    assert "does not end with .csv" in empty.error("import", "chats", "conversations.json", "b.txt")
