"""Reading of the published format: valid questions become records, and damaged ones are quarantined with a reason."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from longmemeval_rows import DAY, domain, instance, lines

from memflow.benchmarks.domains import Domain
from memflow.benchmarks.longmemeval.instances import read_instances
from memflow.benchmarks.longmemeval.known_errors import KNOWN_ERRORS
from memflow.benchmarks.longmemeval.load import count_contents, read_records
from memflow.benchmarks.longmemeval.types import TYPES, is_abstention
from memflow.benchmarks.origins import RemoteFile
from memflow.benchmarks.registry import find_dataset
from memflow.errors import BadInput
from memflow.records import Record

ORACLE = find_dataset("longmemeval_oracle")
M = find_dataset("longmemeval_m")
S = find_dataset("longmemeval_s")

Read = Callable[[Any], list[Record]]

DAMAGED = {
    "missing gold": ({"answer": None}, "answer"),
    "blank gold": ({"answer": " "}, "answer"),
    "boolean gold": ({"answer": True}, "answer"),
    "unknown type": ({"question_type": "trivia"}, "question_type"),
    "wrong date": ({"question_date": "yesterday"}, "is not a date"),
    "impossible date": ({"question_date": "2023/02/30 (Thu) 10:00"}, "is not a date"),
    "wrong session date": ({"haystack_dates": [DAY.format(1), "?"]}, "haystack_dates.1"),
    "lists of different length": ({"haystack_dates": [DAY.format(1)]}, "equally long"),
    "history without messages": ({"haystack_sessions": [[], []]}, "no message"),
    "unknown role": ({"haystack_sessions": [[], [{"role": "tool", "content": "x"}]]}, "role"),
    "message without text": ({"haystack_sessions": [[], [{"role": "user"}]]}, "content"),
    "session that is no list": ({"haystack_sessions": ["x", []]}, "haystack_sessions.0"),
    "empty id": ({"question_id": ""}, "question_id"),
    "missing evidence ids": ({"answer_session_ids": None}, "answer_session_ids"),
}


@pytest.mark.parametrize("case", DAMAGED)
def test_damaged_question_is_quarantined_with_its_field(case: str, read: Read) -> None:
    changes, message = DAMAGED[case]
    first, second = read([instance("good"), instance("bad", **changes)])
    assert first.reason is None
    assert second.reason is not None and second.reason.startswith("question 1: ") and message in second.reason


def test_second_question_with_an_id_is_quarantined(read: Read) -> None:
    _, second = read([instance(), instance()])
    assert "occurs twice" in (second.reason or "")


@pytest.mark.parametrize(
    "content", ["{}", "[]", "", "[{}", '[{"a": 1} {"a": 2}]', "[1,]", "[1] 2", '["\\ud8"']
)
def test_file_that_is_no_json_list_is_rejected(content: str, read: Read) -> None:
    with pytest.raises(BadInput, match=r"longmemeval_oracle: file\.json"):
        read(content)


def test_gold_may_be_a_number(read: Read) -> None:
    [record] = read([instance(answer=120)])
    assert next(read_instances(domain(), [record])).answer == 120


def test_empty_sessions_and_sessions_that_begin_with_the_assistant_are_valid(read: Read) -> None:
    sessions = [[], [{"role": "assistant", "content": "Hi."}, {"role": "user", "content": "The jar."}]]
    [record] = read([instance(haystack_sessions=sessions)])
    [session] = next(read_instances(domain(), [record])).sessions()
    assert record.reason is None
    assert [message.role for message in session.messages] == ["assistant", "user"]


def test_sessions_are_ordered_by_time_and_stable_within_a_minute(read: Read) -> None:
    message = [{"role": "user", "content": "x"}]
    dates = [DAY.format(3), "2024/01/02 (Tue) 23:59", "2024/01/02 (Tue) 08:00", "2024/01/02 (Tue) 23:59"]
    changes = {
        "haystack_session_ids": list("abcd"),
        "haystack_dates": dates,
        "haystack_sessions": [message] * 4,
    }
    [record] = read([instance(**changes)])
    assert [each.session_id for each in next(read_instances(domain(), [record])).sessions()] == list("cbda")


def test_sample_keeps_the_shares_of_types_and_contains_smaller_samples(read: Read) -> None:
    content = [instance(f"{kind}{n}", kind) for kind in TYPES for n in range(ORACLE.counts[kind] // 10)]
    records = read(content)
    ids = {
        size: [each.question_id for each in read_instances(domain().limited(size), records)]
        for size in (12, 24)
    }
    of_updates = [sum(each.startswith("knowledge-update") for each in ids[size]) for size in (12, 24)]
    assert len(ids[12]) == 12 and of_updates == [2, 4]
    assert set(ids[12]) < set(ids[24])
    order = [each["question_id"] for each in content]
    assert ids[24] == sorted(ids[24], key=order.index)


def test_known_errors_are_excluded_on_request(read: Read) -> None:
    records = read([instance("370a8ff4"), instance("fine")])
    kept = list(read_instances(domain(), records))
    left = list(read_instances(domain(known_errors="exclude"), records))
    assert [each.question_id for each in kept] == ["370a8ff4", "fine"]
    assert [each.question_id for each in left] == ["fine"]


def test_published_counts_by_type_and_abstention(data: Path) -> None:
    rows = lines(data / "questions_500.jsonl")
    kinds = [row["question_type"] for row in rows]
    abstentions = [row["question_type"] for row in rows if is_abstention(row["question_id"])]
    assert all(kinds.count(kind) == ORACLE.counts[kind] for kind in TYPES)
    assert {kind: abstentions.count(kind) for kind in set(abstentions)} == {
        "single-session-user": 6,
        "multi-session": 12,
        "temporal-reasoning": 6,
        "knowledge-update": 6,
    }
    assert len(rows) == ORACLE.counts["questions"] == 500
    assert len(abstentions) == ORACLE.counts["abstention questions"] == 30
    assert sum(isinstance(row["answer"], int) for row in rows) == 32
    assert set(KNOWN_ERRORS) <= {row["question_id"] for row in rows}


def test_published_files_are_downloaded_to_their_path_and_compared_with_their_checksum() -> None:
    for dataset in (ORACLE, S, M):
        assert dataset.download is not None
        [origin] = dataset.download.origins
        [path] = dataset.files
        assert isinstance(origin, RemoteFile)
        assert origin.path == path and origin.url.endswith(path.rpartition("/")[2])
        assert origin.sha256 == dataset.sums.get(path, "")
    assert set(ORACLE.sums) == set(ORACLE.files) and set(S.sums) == set(S.files)


def test_real_part_of_the_oracle_file(data: Path) -> None:
    records = read_records(ORACLE, {"oracle": data / "oracle_knowledge_update_part.json"})
    counts = count_contents(records).counts
    assert all(record.reason is None for record in records)
    assert (counts["questions"], counts["knowledge-update"], counts["temporal-reasoning"]) == (40, 39, 1)
    assert counts["abstention questions"] == 4
    published = {row["question_id"]: row for row in lines(data / "questions_500.jsonl")}
    for each in read_instances(domain(), records):
        assert str(each.answer) == str(published[each.question_id]["answer"])
        assert each.question_type == published[each.question_id]["question_type"]


def test_real_part_of_s_has_whole_histories(data: Path) -> None:
    records = read_records(S, {"s": data / "s_part.json"})
    counts = count_contents(records).counts
    assert (counts["questions"], counts["sessions"]) == (4, 192)
    of_s = Domain("longmemeval_s", "longmemeval", (S.name,), "")
    assert [len(each.sessions()) for each in read_instances(of_s, records)] == [53, 41, 50, 48]


def test_questions_of_all_types_in_the_official_form(data: Path, read: Read) -> None:
    flat = json.loads((data / "oracle_16_questions_flattened.json").read_text())
    content = [
        {
            **{name: row[name] for name in ("question_id", "question_type", "question", "answer")},
            "question_date": DAY.format(31),
            "haystack_dates": row["dates_as_given"],
            "haystack_session_ids": row["answer_session_ids"],
            "haystack_sessions": row["sessions"],
            "answer_session_ids": row["answer_session_ids"],
        }
        for row in flat
    ]
    records = read(content)
    assert all(record.reason is None for record in records)
    assert {each.question_type for each in read_instances(domain(), records)} == set(TYPES)


def test_questions_without_a_marked_turn_of_the_user_are_the_published_number(data: Path) -> None:
    rows = lines(data / "oracle_user_turns_part.jsonl")
    without = [
        row["question_type"]
        for row in rows
        if not is_abstention(row["question_id"])
        and not any(turn["has_answer"] for session in row["sessions"] for turn in session)
    ]
    assert set(without) == {"single-session-assistant"}
