"""Reading of published users from valid and damaged files."""

import json
import re

import pytest
from amemgym_agents import put

from memflow.benchmarks.amemgym.load import read_records
from memflow.benchmarks.registry import find_dataset
from memflow.errors import MissingData
from tests.reader_faults import reported_faults

PUBLISHED = find_dataset("amemgym_v1_base")
SOURCE = PUBLISHED.files[0]


def period(end: str, start: str | None, state: dict, exposed: dict, updates: dict) -> dict:
    session = {
        "event": start and "A change.",
        "exposed_states": exposed,
        "query": f"Hello on {end}",
        "messages": [],
        "session_time": f"{end} 19:00:00",
    }
    return {
        "period_start": start,
        "period_end": end,
        "sessions": [session],
        "state": state,
        "updates": updates,
    }


def user(name: str = "u1") -> dict:
    """Return a small published user: two variables, two periods, one question."""
    first, later = {"v": "a", "w": "x"}, {"v": "b", "w": "x"}
    initial = {name: {"old": None, "new": value} for name, value in first.items()}
    options = [
        {"state": ["a", "x"], "answer": "This.", "type": "experience"},
        {"state": ["b", "x"], "answer": "That.", "type": "experience"},
    ]
    return {
        "id": name,
        "start_time": "2020-10-01",
        "user_profile": {"uuid": name, "name": "Ada", "formatted_str": "name: Ada"},
        "state_schema": {"v": ["a", "b"], "w": ["x", "y"]},
        "periods": [
            period("2020-10-01", None, first, first, initial),
            period("2021-01-01", "2020-10-01", later, {"v": "b"}, {"v": {"old": "a", "new": "b"}}),
        ],
        "qas": [{"query": "What now?", "required_info": ["v", "w"], "answer_choices": options}],
    }


def read(tmp_path, content: bytes):
    path = tmp_path / "data.json"
    path.write_bytes(content)
    return read_records(PUBLISHED, {SOURCE: path})


def dumped(*users: dict) -> bytes:
    return json.dumps(list(users), ensure_ascii=False).encode()


def test_reader_returns_one_record_per_user_of_valid_file(tmp_path):
    records = read(tmp_path, dumped(user("u1"), user("u2")))
    assert [(record.record_id, record.position) for record in records] == [("u1", 0), ("u2", 1)]
    assert json.loads(records[1].content) == user("u2")
    assert (records[0].source, records[0].licence) == (SOURCE, "CC-BY-4.0")
    assert len(records[0].sha256) == 64 and records[0].sha256 == records[1].sha256


@pytest.mark.parametrize(
    ("content", "wrong"),
    [
        (b'{"a": 1}', "the file is not a JSON list of users"),
        (b"[]", "the file is not a JSON list of users"),
        (b'"users"', "the file is not a JSON list of users"),
        (b'["b\xe4cker"]', r"the file is not UTF-8 \(byte 3\)"),
    ],
)
def test_reader_reports_fault_in_file_of_published_users(tmp_path, content, wrong):
    assert re.search(wrong, reported_faults(lambda: read(tmp_path, content)))


def test_error_for_missing_published_file_asks_to_download_the_file(tmp_path):
    with pytest.raises(MissingData, match=r"is missing\. Download"):
        read_records(PUBLISHED, {SOURCE: tmp_path / "none.json"})


@pytest.mark.parametrize(
    ("path", "value", "wrong"),
    [
        ("user_profile.name", 7, "user_profile.name: Input should be a valid string"),
        (
            "periods.1.state",
            {"v": "b", "w": "y"},
            "periods.1.state.w: the value is 'y', but the updates .* give 'x'",
        ),
        ("periods.0.updates.v", None, "periods.0.state.v: the value is 'a', but the updates .* give None"),
        ("periods.1.updates", {}, "periods.1.updates: Dictionary should have at least 1 item"),
        ("qas.0.required_info", ["v", "z"], "qas.0: required_info names 'z'"),
        (
            "qas.0.answer_choices.1.state",
            ["b"],
            "answer_choices.1.state: 1 values for the 2 variables of required_info",
        ),
    ],
)
def test_reader_quarantines_damaged_user_and_names_the_field(tmp_path, path, value, wrong):
    damaged = user()
    put(value, *(int(part) if part.isdecimal() else part for part in path.split(".")))(damaged)
    valid, invalid = read(tmp_path, dumped(user("u0"), damaged))
    assert valid.reason is None
    assert re.search(wrong, invalid.reason)
