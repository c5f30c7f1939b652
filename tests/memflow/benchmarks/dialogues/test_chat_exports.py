"""Exports of ChatGPT and Claude as own dialogues: branches, what is no message, and damaged exports."""

import io
import json
import zipfile
from typing import Any

import pytest

from memflow.benchmarks.dialogues.chat_exports.command import to_csv
from memflow.benchmarks.dialogues.chat_exports.convert import ConvertedChats, convert_chats
from memflow.benchmarks.dialogues.dialogues import join_rows
from memflow.benchmarks.dialogues.files import read_rows
from memflow.errors import BadInput

START = 1_709_280_000.0  # 2024-03-01T08:00:00Z


def node(
    name: str, parent: str | None, role: str, *parts: Any, at: float | None = None, **more: Any
) -> dict[str, Any]:
    message = {
        "id": name,
        "author": {"role": role},
        "create_time": at,
        "content": {"content_type": "text", "parts": list(parts)},
        "recipient": "all",
        "metadata": {},
        **more,
    }
    return {"id": name, "message": message, "parent": parent, "children": []}


def chatgpt() -> dict[str, Any]:
    """Return a conversation whose first question was edited, so that it has two branches."""
    nodes = [
        {"id": "root", "message": None, "parent": None, "children": ["s"]},
        node("s", "root", "system", "You are helpful."),
        node("old", "s", "user", "Where is Osli?", at=START),
        node("old2", "old", "assistant", "I do not know Osli.", at=START + 1),
        node("u", "s", "user", "Where is Oslo?", at=START + 60),
        node("hidden", "u", "user", "about me", metadata={"is_visually_hidden_from_conversation": True}),
        node("call", "hidden", "assistant", "search(Oslo)", recipient="browser"),
        node("tool", "call", "tool", "a page"),
        node("code", "tool", "assistant", content={"content_type": "code", "text": "1"}),
        node("a", "code", "assistant", "In Norway.", {"content_type": "image_asset_pointer"}, at=START + 61),
        node("voice", "a", "user", {"content_type": "audio_transcription", "text": "Thanks."}, at=START + 90),
        node("blank", "voice", "assistant", "", at=START + 91),
    ]
    return {
        "title": "Cities / north",
        "create_time": START,
        "mapping": {each["id"]: each for each in nodes},
        "current_node": "blank",
    }


def claude(**changes: Any) -> dict[str, Any]:
    messages = [
        {
            "uuid": "1",
            "sender": "human",
            "text": "I like tea.",
            "created_at": "2024-02-01T10:00:00.123Z",
            "content": [],
        },
        {
            "uuid": "2",
            "sender": "assistant",
            "text": "ignored",
            "content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "Green tea?"}],
            "created_at": "2024-02-01T10:00:05Z",
            "attachments": [{"file_name": "tea.txt"}],
        },
    ]
    return {
        "uuid": "c",
        "name": "",
        "created_at": "2024-02-01T10:00:00Z",
        "chat_messages": messages,
        **changes,
    }


def convert(*conversations: Any) -> ConvertedChats:
    return convert_chats("conversations.json", json.dumps(conversations).encode())


def texts(found: ConvertedChats) -> list[str]:
    return [row["text"] for row in found.rows]


def test_current_branch_of_a_chatgpt_tree_is_converted_without_what_is_no_message() -> None:
    found = convert(chatgpt())
    assert texts(found) == ["Where is Oslo?", "In Norway.", "Thanks."]
    assert found.rows[0] == {
        "dialogue": "chats",
        "id": "1_1",  # no number or date, which a spreadsheet would change
        "session": "1. Cities north",
        "time": "2024-03-01T08:01:00Z",
        "role": "user",
        "text": "Where is Oslo?",
    }
    assert +found.omitted == {
        "messages of the system or a tool": 2,
        "hidden messages": 1,
        "calls of tools": 1,
        "code, web pages and thoughts": 1,
        "images and files": 1,
        "messages without text": 1,
        "messages of other branches": 2,
    }


def test_text_blocks_of_claude_are_messages_and_conversations_are_in_the_order_of_time() -> None:
    found = convert(chatgpt(), claude())
    assert texts(found)[:2] == ["I like tea.", "Green tea?"]
    assert [row["session"] for row in found.rows[:3]] == ["1", "1", "2. Cities north"]
    assert found.source == "ChatGPT and Claude" and found.omitted["images and files"] == 2


def test_newer_claude_exports_have_branches() -> None:
    messages = [
        {"uuid": "1", "parent_message_uuid": "0000", "sender": "human", "text": "Hi."},
        {"uuid": "2", "parent_message_uuid": "1", "sender": "assistant", "text": "Old."},
        {"uuid": "3", "parent_message_uuid": "1", "sender": "assistant", "text": "New."},
    ]
    assert texts(convert(claude(chat_messages=messages))) == ["Hi.", "New."]
    current = claude(chat_messages=messages, current_leaf_message_uuid="2")
    assert texts(convert(current)) == ["Hi.", "Old."]


def test_what_is_converted_is_a_valid_file() -> None:
    malicious = claude(
        name="a/b\x00\n" + "x" * 300,
        chat_messages=[
            {"uuid": "1", "sender": "human", "text": '=1+1;"\ud800|', "created_at": "2024-05-01T00:00:00Z"},
            {"uuid": "2", "sender": "human", "text": "b", "created_at": "2023-01-01T00:00:00Z"},
            {"uuid": "3", "sender": "human", "text": "c", "created_at": "yesterday"},
        ],
    )
    rows = convert(chatgpt(), claude(), malicious).rows
    dialogues, problems = join_rows("", read_rows("a.csv", to_csv(rows).encode()))
    assert [str(each) for each in problems] == []
    assert len(dialogues) == 1 and len(dialogues[0].messages) == len(rows) == 8


def test_archive_of_an_export_is_read() -> None:
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as archive:
        archive.writestr("data/conversations.json", json.dumps([claude()]))
    assert convert_chats("a.zip", written.getvalue()).conversations == 1
    with pytest.raises(BadInput, match="is damaged"):
        convert_chats("a.zip", written.getvalue()[:60])
    with zipfile.ZipFile(empty := io.BytesIO(), "w") as archive:
        archive.writestr("chat.html", "")
    with pytest.raises(BadInput, match=r"has no conversations\.json"):
        convert_chats("a.zip", empty.getvalue())


def test_invalid_conversation_is_named_and_the_others_are_converted() -> None:
    cycle = chatgpt()
    cycle["mapping"]["s"]["parent"] = "blank"
    twice = claude(chat_messages=claude()["chat_messages"][:1] * 2)
    found = convert(claude(), cycle, twice, 7, {"mapping": []}, {"chat_messages": {}})
    assert found.conversations == 1 and [each.partition(":")[0] for each in found.faults] == [
        f"conversation {number}" for number in range(2, 7)
    ]
    assert "cycle" in found.faults[0] and "two messages" in found.faults[1]


def test_cycle_in_another_branch_is_no_fault() -> None:
    cycle = chatgpt()
    cycle["mapping"]["old"]["parent"] = "old3"
    cycle["mapping"]["old3"] = node("old3", "old", "assistant", "Osli?")
    assert texts(convert(cycle)) == ["Where is Oslo?", "In Norway.", "Thanks."]


@pytest.mark.parametrize("content", [b"{", b"7", b"[]", b"[7]", b"\xff", b'{"a": 1}', b"[" * 100_000])
def test_file_that_is_no_export_is_rejected(content: bytes) -> None:
    with pytest.raises(BadInput):
        convert_chats("conversations.json", content)
