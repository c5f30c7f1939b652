"""Conversations of every published shape become turns, probes and verdicts; each damaged part costs itself alone."""

import copy
import json
from pathlib import Path
from typing import Any

import factories
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from memflow.benchmarks.beam.answers import graded_score, published_score
from memflow.benchmarks.beam.config import BeamConfig
from memflow.benchmarks.beam.conversations import BeamQuestion, read_conversation, read_questions
from memflow.benchmarks.beam.known_errors import KNOWN_ERRORS
from memflow.benchmarks.beam.load import count_contents, load_conversations, read_records
from memflow.benchmarks.beam.ordering import constant_values
from memflow.benchmarks.beam.probes import make_probes
from memflow.benchmarks.beam.turns import make_turns
from memflow.benchmarks.beam.types import CORRECTED, PUBLISHED, TYPES
from memflow.benchmarks.beam.verdicts import make_verdicts
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.partial import InvalidPart
from memflow.benchmarks.registry import find_dataset
from memflow.chat.scripted import ScriptedChat
from memflow.metrics.backends import MetricBackends
from memflow.records import Probe

LARGEST = find_dataset("beam_10m")
SMALL = find_dataset("beam_100k")

DOMAIN = Domain("d", "beam", (SMALL.name,), "Test")
BOTH = Domain("d", "beam", (SMALL.name,), "Test", {"contracts": ("published", "corrected")})


def message(number: int, text: str = "", **more: Any) -> dict[str, Any]:
    role = "assistant" if number % 2 else "user"
    return {"role": role, "id": number, "content": text or f"Message {number}.", **more}


def turns(first: int, exchanges: int = 2) -> list[list[dict[str, Any]]]:
    return [
        [
            message(number, f"I moved to Rome. ->-> 1,{number}", question_type="main_question"),
            message(number + 1),
        ]
        for number in range(first, first + 2 * exchanges, 2)
    ]


def chat(first: int = 0) -> list[dict[str, Any]]:
    found = [{"batch_number": at, "time_anchor": None, "turns": turns(first + 4 * at)} for at in range(2)]
    found[0]["turns"][0][0]["time_anchor"] = "March-15-2024"
    return found


def questions() -> dict[str, Any]:
    asked = {
        kind: [
            {"question": f"What of {kind}?", "rubric": ["Rome", "two"], "source_chat_ids": [0]},
            {"question": "And?", "rubric": ["Rome"], "source_chat_ids": {"first": [[2], 3], "second": ["4"]}},
        ]
        for kind in TYPES
    }
    del asked["abstention"][0]["source_chat_ids"]
    return asked


def flat(batches: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """Return batches in the form of rows: a flat list of messages each, with all fields."""
    fields = dict.fromkeys(("role", "id", "content", "question_type", "time_anchor"))
    return [[{**fields, **item} for turn in batch["turns"] for item in turn] for batch in batches]


def write_folder(folder: Path, files: dict[str, Any]) -> dict[str, Path]:
    paths = {}
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
        paths[f"beam/{name}"] = path
    return paths


def loaded(tmp_path: Path, files: dict[str, Any], domain: Domain = DOMAIN) -> list[Any]:
    return list(load_conversations(domain, read_records(SMALL, write_folder(tmp_path, files))))


def probes_of(conversation: Any, **config: Any) -> list[Probe]:
    return list(make_probes("d", SMALL.name, "100k/1", conversation, BeamConfig(**config)))


def test_rows_and_checkouts_give_the_same_conversation(tmp_path: Path) -> None:
    row = {"conversation_id": "1", "chat": flat(chat()), "probing_questions": repr(questions())}
    [checkout] = loaded(
        tmp_path,
        {"100K/1/chat.json": chat(), "100K/1/probing_questions/probing_questions.json": questions()},
    )
    [lines] = loaded(tmp_path, {"100K.jsonl": json.dumps(row)})
    table = tmp_path / "100K.parquet"
    pq.write_table(pa.Table.from_pylist([row]), table)
    [parquet] = load_conversations(DOMAIN, read_records(SMALL, {"beam/100K.parquet": table}))
    assert checkout == lines == parquet
    assert checkout[1] == "100k/1"
    assert len(checkout[2].questions) == 20 and not checkout[2].faults


def test_truncated_text_is_taken_where_there_is_one_and_named(tmp_path: Path) -> None:
    files = {
        "100K/1/chat.json": chat(),
        "100K/1/chat_trunecated.json": chat()[:1],
        "100K/1/probing_questions.json": questions(),
        "100K/1/user_messages.json": "[]",
    }
    for text, batches, name in (("truncated", 1, "truncated text"), ("full", 2, "full text")):
        domain = Domain("d", "beam", (SMALL.name,), "Test", {"text": text})
        [(_, _, conversation)] = loaded(tmp_path, files, domain)
        assert (len(conversation.batches), conversation.text) == (batches, name)
        assert {probe.slices[0] for probe in probes_of(conversation)} == {name}
    counts = count_contents(read_records(SMALL, write_folder(tmp_path, files))).counts
    assert (counts["conversations"], counts["questions"], counts["messages"]) == (1, 20, 4)


def test_numbers_of_plans_go_on_and_messages_keep_them(tmp_path: Path) -> None:
    restarting = [{"plan-1": chat()}, {"plan-2": chat(), "plan-1": None}]
    going_on = [{"plan-1": chat()}, {"plan-2": chat(8)}]
    found = [
        [item.number for _, item in read_conversation({"chat": plans, "probing_questions": questions()}).messages()]
        for plans in (restarting, going_on)
    ]  # fmt: skip
    assert found[0] == found[1] == list(range(16))
    files = {f"10M/4/plan-{at}/chat.json": chat() for at in (0, 1, 3)}
    paths = write_folder(tmp_path, {**files, "10M/4/probing_questions.json": questions()})
    [(_, episode, conversation)] = load_conversations(
        Domain("d", "beam", (LARGEST.name,), "Test"), read_records(LARGEST, paths)
    )
    assert (episode, conversation.text) == ("10m/4", "text of plan folders")
    assert [batch.name for batch in conversation.batches] == ["p0b1", "p0b2", "p1b1", "p1b2"]
    assert conversation.faults == [("plan-3", "it is not read, as a plan before it is missing")]


def test_evidence_of_every_shape_is_message_ids_and_marks_and_dates_are_switches(tmp_path: Path) -> None:
    [(_, episode, conversation)] = loaded(
        tmp_path, {"1/chat.json": chat(), "1/probing_questions.json": questions()}
    )
    probes = probes_of(conversation)
    assert [probe.evidence for probe in probes[:2]] == [[], ["100k/1/b1/2", "100k/1/b1/3", "100k/1/b2/4"]]
    assert probes[2].since_tokens == probes[2].said_tokens
    kept = list(make_turns("d", episode, conversation, BeamConfig()))
    removed = list(make_turns("d", episode, conversation, BeamConfig(marker="removed", dates=True)))
    assert (kept[0].text, kept[0].sent_at) == ("I moved to Rome. ->-> 1,0", None)
    assert (removed[0].text, removed[0].sent_at) == ("I moved to Rome.", "March-15-2024")
    events = {
        arrivals: len(
            {row.event for row in make_turns("d", episode, conversation, BeamConfig(arrivals=arrivals))}
        )
        for arrivals in ("session", "exchange", "message")
    }
    assert events == {"session": 2, "exchange": 4, "message": 8}


def damaged(change: Any) -> dict[str, Any]:
    content = {"conversation_id": "1", "chat": chat(), "probing_questions": copy.deepcopy(questions())}
    change(content)
    return content


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda content: content["chat"][0]["turns"][0].append(7), "a message is no object"),
        (lambda content: content["chat"][0]["turns"][0][1].update(content=" "), "the content of message 1"),
        (lambda content: content["chat"][0]["turns"][0][1].update(id="x"), "the message id 'x' is no number"),
        (lambda content: content["chat"][0]["turns"][0][1].update(role="system"), "the role 'system'"),
        (lambda content: content["chat"].append(None), "the batch has no list of turns"),
        (lambda content: content["chat"][0]["turns"][0][1].update(id=4), "the message id 4 occurs before"),
        (lambda content: content["probing_questions"]["summarization"][0].update(rubric=[]), "at rubric"),
        (lambda content: content["probing_questions"]["summarization"][0].pop("question"), "at question"),
        (lambda content: content["probing_questions"].update(riddles=[{}]), "the type 'riddles' is not known"),
        (lambda content: content["probing_questions"]["summarization"][0].update(source_chat_ids=[99]), "99"),
    ],
)  # fmt: skip
def test_damaged_part_costs_itself(change: Any, fault: str) -> None:
    conversation = read_conversation(damaged(change))
    [(_, reason)] = conversation.faults
    assert fault in reason
    assert sum(probe.reason is None for probe in probes_of(conversation)) >= 19
    assert sum(1 for _ in conversation.messages()) >= 7


def test_atom_that_is_no_literal_costs_its_question() -> None:
    text = repr(questions()).replace("'rubric': ['Rome', 'two']", "'rubric': ['Rome', --]", 1)
    found = read_questions(text)
    assert [isinstance(asked.content, BeamQuestion) for asked in found] == [False, *[True] * 19]
    assert isinstance(found[0].content, InvalidPart) and "no Python literal" in found[0].content.fault


def test_folder_without_chat_costs_its_conversation_and_its_questions_count(tmp_path: Path) -> None:
    files = {"1/chat.json": chat(), "1/probing_questions.json": questions()}
    records = read_records(
        SMALL, write_folder(tmp_path, {**files, "2/probing_questions.json": questions(), "3/chat.json": "["})
    )
    assert [record.reason is None for record in records] == [True, False, False]
    assert "its folder lacks chat.json" in str(records[1].reason)
    assert count_contents(records).counts["questions"] == 40


def test_questions_with_known_errors_are_left_out_on_demand(tmp_path: Path) -> None:
    [(_, _, conversation)] = loaded(
        tmp_path, {"1/chat.json": chat(), "1/probing_questions.json": questions()}
    )
    kept, excluded = (
        {probe.probe_id for probe in probes_of(conversation, known_errors=value)}
        for value in ("keep", "exclude")
    )
    assert kept - excluded == {"100k/1/temporal_reasoning/0"} == kept & KNOWN_ERRORS


@pytest.mark.parametrize(
    ("reply", "published", "graded"),
    [
        ('{"score": 0.5, "reason": "r"}', 0, 0.5),
        ('{"score": "1", "reason": "r"}', 1, 1.0),
        ('{"score": "0.5", "reason": "r"}', None, 0.5),
        ('{"score": 0.75, "reason": "r"}', 0, None),
        ('{"score": NaN, "reason": "r"}', None, None),
        ('{"score": 1e999, "reason": "r"}', None, None),
        ('{"score": null, "reason": "r"}', None, None),
        ('{"score": true, "reason": "r"}', 1, None),
        ('{"score": 5, "reason": "r"}', None, None),
        ('[{"score": 1}]', None, None),
        ('{"score": 1, "reason": "a } b"} {"score": 0}', 1, 1.0),
        ("{'score': 1.0, 'reason': 'r'}", 1, 1.0),
        ('Sure: {"score": 1.0, "reason": "a\nb', 1, 1.0),
        ('{"reason": "r"}', None, None),
        ("the score is 1", None, None),
        ("", None, None),
    ],
)
def test_reply_of_a_judge_is_read_as_published_or_strictly(
    reply: str, published: int | None, graded: float | None
) -> None:
    for read, expected in ((published_score, published), (graded_score, graded)):
        if expected is None:
            with pytest.raises(ValueError, match=r"\w"):
                read(reply)
        else:
            assert read(reply) == expected


async def verdicts_of(rubric: list[str], text: str, reply: str, kind: str = "summarization") -> list[Any]:
    probe = factories.probe(kind="open", category=kind, metric=PUBLISHED, gold=json.dumps(rubric))
    answer = factories.reply(assistant="full", probe_id=probe.probe_id, text=text, parsed=text)
    handlers = {
        **{f"beam/judge_{name}": lambda request: reply for name in ("published", "corrected")},
        "beam/judge_same_event": lambda request: "no",
    }
    return await make_verdicts(BOTH, [probe], [answer], MetricBackends(ScriptedChat(handlers)))


async def test_each_item_has_a_verdict_with_the_judges_reply_under_each_contract() -> None:
    rows = await verdicts_of(["Rome", "two"], "Rome", '{"score": 0.5, "reason": "half of it"}')
    found = {(row.metric, row.variant): row for row in rows}
    assert found[PUBLISHED, "standard"].value == 0 and found[CORRECTED, "standard"].value == 0.5
    item = found[CORRECTED, "item_2"]
    assert (item.item, item.value) == ("two", 0.5) and "half of it" in (item.judge_reply or "")


async def test_reply_out_of_form_is_a_verdict_with_its_reason() -> None:
    rows = await verdicts_of(["Rome"], "Rome", '{"score": "half", "reason": "r"}')
    assert all(row.value is None and "'half'" in str(row.reason) for row in rows)
    assert {row.judge_reply for row in rows if row.variant == "item_1"} == {
        '{"score": "half", "reason": "r"}'
    }


async def test_order_of_events_is_tau_as_published_and_tau_times_f1_as_corrected() -> None:
    rows = await verdicts_of(
        ["A", "B", "C"], "Here:\nA\nB\nC", '{"score": 1, "reason": "r"}', "event_ordering"
    )
    found = {(row.metric, row.variant): row.value for row in rows}
    tau, f1 = found["event_tau", "standard"], found["event_f1", "standard"]
    assert tau is not None and f1 is not None and 0 < tau < 1 and f1 == pytest.approx(6 / 7)
    assert found[PUBLISHED, "standard"] == tau
    assert found[CORRECTED, "standard"] == pytest.approx(tau * f1)
    assert found[PUBLISHED, "by_rubric"] == 1


def test_constant_answers_score_without_a_memory() -> None:
    values = constant_values(["A", "B", "C", "D"])
    assert values["no_information"].tau > 0.1 and values["no_information"].product == 0
    assert values["heading"].tau < 0.7


def test_row_of_plans_is_read_where_a_file_has_no_chat(tmp_path: Path) -> None:
    plans = [{"chat": flat(chat())}, {"chat": flat(chat())}]
    row = {"conversation_id": "1", "plans": plans, "probing_questions": json.dumps(questions())}
    table = tmp_path / "10M-00000-of-00002.parquet"
    pq.write_table(pa.Table.from_pylist([row]), table)
    [(_, _, conversation)] = load_conversations(DOMAIN, read_records(LARGEST, {"beam/10M.parquet": table}))
    assert [message.number for _, message in conversation.messages()] == list(range(16))


def test_line_cut_short_costs_itself(tmp_path: Path) -> None:
    lines = [
        json.dumps({"conversation_id": name, "chat": flat(chat()), "probing_questions": questions()})
        for name in "12"
    ]
    path = tmp_path / "100K.jsonl"
    path.write_text(f"{lines[0][:-40]}\n{lines[1]}\n", encoding="utf-8")
    records = read_records(SMALL, {"beam/100K.jsonl": path})
    assert [record.reason is None for record in records] == [False, True]
    assert "line 1: the line is truncated or invalid JSON" in str(records[0].reason)
