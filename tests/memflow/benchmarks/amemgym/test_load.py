"""Valid and damaged files of published users."""

import copy
import json

import pytest

from memflow.benchmarks.amemgym.load import read_records
from memflow.benchmarks.datasets import dataset
from memflow.errors import BadInput, MissingData

PUBLISHED = dataset("amemgym_v1_base")
SOURCE = PUBLISHED.files[0]


def user(name: str = "u1") -> dict:
    """A published user in small: two variables, two periods, one question."""
    state = {"v": "a", "w": "x"}
    later = {"v": "b", "w": "x"}
    return {
        "id": name,
        "start_time": "2020-10-01",
        "user_profile": {"uuid": name, "name": "Ada", "formatted_str": "name: Ada"},
        "state_schema": {"v": ["a", "b"], "w": ["x", "y"]},
        "periods": [
            {
                "period_start": None,
                "period_end": "2020-10-01",
                "sessions": [
                    {
                        "event": None,
                        "exposed_states": state,
                        "query": "Hello",
                        "messages": [],
                        "session_time": "2020-10-01 19:00:00",
                    }
                ],
                "state": state,
                "updates": {"v": {"old": None, "new": "a"}, "w": {"old": None, "new": "x"}},
            },
            {
                "period_start": "2020-10-01",
                "period_end": "2021-01-01",
                "sessions": [
                    {
                        "event": "A change.",
                        "exposed_states": {"v": "b"},
                        "query": "Hello again",
                        "messages": [],
                        "session_time": "2021-01-01 19:00:00",
                    }
                ],
                "state": later,
                "updates": {"v": {"old": "a", "new": "b"}},
            },
        ],
        "qas": [
            {
                "query": "What now?",
                "required_info": ["v", "w"],
                "answer_choices": [
                    {"state": ["a", "x"], "answer": "This.", "type": "experience"},
                    {"state": ["b", "x"], "answer": "That.", "type": "experience"},
                ],
            }
        ],
    }


def read(tmp_path, content: bytes):
    path = tmp_path / "data.json"
    path.write_bytes(content)
    return read_records(PUBLISHED, {SOURCE: path})


def dumped(*users: dict) -> bytes:
    return json.dumps(list(users), ensure_ascii=False).encode()


def test_valid_file_gives_record_per_user(tmp_path):
    records = read(tmp_path, dumped(user("u1"), user("u2")))
    assert [(record.record_id, record.position) for record in records] == [("u1", 0), ("u2", 1)]
    assert json.loads(records[1].content) == user("u2")
    assert (records[0].source, records[0].licence) == (SOURCE, "CC-BY-4.0")
    assert len(records[0].sha256) == 64 and records[0].sha256 == records[1].sha256


def test_truncated_file_is_refused(tmp_path):
    with pytest.raises(BadInput, match=r"data\.json: it is cut off or not JSON.*Download"):
        read(tmp_path, dumped(user())[:-100])


def test_non_utf8_file_is_refused(tmp_path):
    with pytest.raises(BadInput, match="it is not UTF-8"):
        read(tmp_path, json.dumps([user("Zoë")], ensure_ascii=False).encode("latin-1"))


@pytest.mark.parametrize("content", [b'{"a": 1}', b"[]", b'"users"'])
def test_file_without_user_list_is_refused(tmp_path, content):
    with pytest.raises(BadInput, match="it contains no list of users"):
        read(tmp_path, content)


def test_other_records_are_refused(tmp_path):
    with pytest.raises(BadInput, match="record 0: at id: Field required"):
        read(tmp_path, b'[{"question": "q", "answer": "a"}]')


def test_missing_file_is_refused(tmp_path):
    with pytest.raises(MissingData, match=r"is missing\. Download"):
        read_records(PUBLISHED, {SOURCE: tmp_path / "none.json"})


def test_duplicate_id_is_refused(tmp_path):
    with pytest.raises(BadInput, match="the id u1 is there twice"):
        read(tmp_path, dumped(user("u1"), user("u1")))


def spoil(path: str, value=None) -> dict:
    """`user()` with the value at the dotted path replaced, or with its last key taken away."""
    spoiled = copy.deepcopy(user())
    *way, last = path.split(".")
    place = spoiled
    for step in way:
        place = place[int(step)] if isinstance(place, list) else place[step]
    if value is None:
        del place[last]
    else:
        place[last] = value
    return spoiled


@pytest.mark.parametrize(
    ("path", "value", "wrong"),
    [
        ("qas.0.required_info", None, r"record 1 \(id u1\): at qas.0.required_info: Field required"),
        ("user_profile.name", None, "user_profile.name: Field required"),
        ("user_profile.name", 7, "user_profile.name: Input should be a valid string"),
        (
            "periods.1.state",
            {"v": "b", "w": "y"},
            "periods.1.state.w: it is 'y', but the updates .* give 'x'",
        ),
        ("periods.1.state", {"v": "b"}, r"periods.1.state: its variables differ"),
        ("periods.1.updates", {}, "periods.1.state.v: it is 'b', but the updates so far give 'a'"),
        ("periods.1.period_start", "2020-11-01", "period_start: it is not the end .*, 2020-10-01"),
        ("qas.0.required_info", ["v", "z"], "qas.0: required_info names 'z'"),
        ("qas.0.answer_choices.1.state", ["b"], "answer_choices.1.state: it needs one value per"),
        ("qas.0.answer_choices.1.type", "random", "answer_choices.1.type: it is random, but some period has"),
        (
            "qas.0.answer_choices.1.state",
            ["b", "y"],
            "answer_choices.1.type: it is experience, but no period has",
        ),
        ("qas.0.answer_choices.1.type", "guess", "qas.0.answer_choices.1.type: Input should be 'experience'"),
    ],
)
def test_damaged_record_is_refused(tmp_path, path, value, wrong):
    with pytest.raises(BadInput, match=wrong):
        read(tmp_path, dumped(user("u0"), spoil(path, value)))


def test_broken_persona_line_is_refused(tmp_path):
    sample = dataset("personas_sample")
    path = tmp_path / "personas.jsonl"
    path.write_text('{"id": "a", "name": "A", "about": "x"}\n{"id": "b", "name"\n', encoding="utf-8")
    with pytest.raises(BadInput, match="line 2 is cut off or not JSON"):
        read_records(sample, {sample.files[0]: path})
