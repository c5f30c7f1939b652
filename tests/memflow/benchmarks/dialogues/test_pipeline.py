"""The steps of the benchmark: records with reasons, turns, probes at their moments, verdicts and scores."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from factories import reply

from memflow.benchmarks.api import AssistantResults, States
from memflow.benchmarks.datasets import Dataset
from memflow.benchmarks.dialogues.benchmark import Dialogues
from memflow.benchmarks.dialogues.probes import is_unanswerable
from memflow.benchmarks.dialogues.questions import abstains
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.registry import handlers
from memflow.chat.scripted import ScriptedChat
from memflow.errors import BadInput
from memflow.memories.memory import Recall
from memflow.metrics.backends import MetricBackends
from memflow.records import Probe, Record, Score, Turn, Verdict

BENCHMARK = Dialogues()
DATASET = Dataset("mine", "Mine", "dialogues", ("mine.jsonl",), "own", "test", "Write it.", own=True)
CHAT = ScriptedChat({})
MESSAGES = [
    {"id": "m1", "speaker": "Ana", "text": "I live in Oslo.", "time": "2024-03-01T08:00", "session": 1},
    {"id": "m2", "role": "assistant", "text": "A cold place.", "session": 1},
    {"id": "m3", "speaker": "Ana", "text": "I moved to Rome.", "time": "2024-03-05", "session": 2},
    {"id": "m4", "role": "assistant", "text": "A warm place.", "session": 2},
]


def domain(**parameters: Any) -> Domain:
    return Domain("mine", "dialogues", ("mine",), "Mine", parameters)


def line(*questions: Mapping[str, Any], name: str = "ana", messages: Sequence[Any] = MESSAGES) -> str:
    return json.dumps({"id": name, "messages": list(messages), "questions": list(questions)})


def records(folder: Path, *files: tuple[str, str]) -> list[Record]:
    for name, text in files:
        (folder / name).write_text(text, encoding="utf-8")
    return BENCHMARK.records(DATASET, {name: folder / name for name, _ in files})


async def rows(
    folder: Path, text: str, name: str = "mine.jsonl", **parameters: Any
) -> tuple[list[Turn], list[Probe]]:
    found, of = records(folder, (name, text)), domain(**parameters)
    turns = await BENCHMARK.turns(of, found, States(), CHAT)
    return turns, await BENCHMARK.probes(of, found, States(), turns, CHAT)


async def verdicts(probes: Sequence[Probe], answers: Sequence[str | None], **backends: Any) -> list[Verdict]:
    replies = [
        reply(
            domain="mine",
            probe_id=probe.probe_id,
            episode_id=probe.episode_id,
            checkpoint=probe.checkpoint,
            text=text,
            parsed=text,
            reason=None if text is not None else "the model failed",
        )
        for probe, text in zip(probes, answers, strict=True)
    ]
    return await BENCHMARK.verdicts(domain(), probes, replies, MetricBackends(**backends))


def scores(probes: Sequence[Probe], found: Sequence[Verdict]) -> dict[tuple[str, str], Score]:
    results = AssistantResults("mine", "full", "full", "scripted", probes, found, (), (), "", True)
    return {(each.metric, each.slice): each for each in BENCHMARK.scores(domain(), results)}


async def test_questions_are_asked_after_their_message_session_or_date(tmp_path: Path) -> None:
    moments = [
        {},
        {"after": "m1"},
        {"after": "m2"},
        {"session": 1},
        {"date": "2024-03-04"},
        {"date": "2024-03-05"},
    ]
    moments += [{"date": "2024-03-01T07:59"}, {"date": "2024-03-01T08:00Z"}, {"after": "m4"}]
    questions = [{"question": "Where?", "gold": "x", **each} for each in moments]
    turns, probes = await rows(tmp_path, line(*questions))
    assert [(turn.message_id, turn.checkpoint) for turn in turns] == [
        ("ana/m1", 0),
        ("ana/m2", 0),
        ("ana/m3", 1),
        ("ana/m4", 1),
    ]
    assert [(each.checkpoint, each.after) for each in probes] == [
        (1, None),
        (0, "ana/m1"),
        (0, None),
        (0, None),
        (0, None),
        (1, None),
        (1, None),
        (0, None),
        (1, None),
    ]
    assert "before the first message" in (probes[6].reason or "")
    assert [each.asked_at for each in probes[:5]] == [
        "2024-03-05",
        "2024-03-01T08:00",
        "2024-03-01T08:00",
        "2024-03-01T08:00",
        "2024-03-04",
    ]


async def test_date_without_a_time_is_the_whole_day(tmp_path: Path) -> None:
    times = ["2024-03-01T08:00", "2024-03-01", "2024-03-01T09:00", "2024-03-02T00:00+02:00", "2024-03-02"]
    messages = [{"text": "Hi.", "time": each} for each in times]
    dates = ["2024-03-01", "2024-03-01T23:00", "2024-03-01T08:30", "2024-03-02"]
    questions = [{"question": "?", "gold": "x", "date": each} for each in dates]
    _, probes = await rows(tmp_path, line(*questions, messages=messages))
    assert [each.reason for each in probes] == [None] * 4
    # The fourth message is of 22:00 on the day before in UTC.
    assert [each.after for each in probes] == ["ana/4", "ana/4", "ana/2", None]


@pytest.mark.parametrize(
    ("arrivals", "events"),
    [("message", [0, 1, 2, 3]), ("pair", [0, 0, 1, 2]), ("session", [0, 0, 1, 2])],
)
async def test_messages_arrive_together_but_not_across_a_question(
    arrivals: str, events: list[int], tmp_path: Path
) -> None:
    turns, _ = await rows(tmp_path, line({"question": "?", "gold": "x", "after": "m3"}), arrivals=arrivals)
    assert [turn.event for turn in turns] == events


async def test_dialogue_with_an_invalid_message_row_is_not_played_and_its_probes_have_the_reason(
    tmp_path: Path,
) -> None:
    table = "\n".join(
        json.dumps({"dialogue": name, "text": text}) for name, text in [("a", "One."), ("b", "Uno.")]
    )
    broken = table.replace('{"dialogue": "b"', '{"dialogue": "a", "text": "Tw\n{"dialogue": "b"')
    asked = "\n".join(json.dumps({"dialogue": name, "question": "?", "gold": "x"}) for name in "abc")
    found = records(
        tmp_path,
        ("m.jsonl", broken),
        ("q.jsonl", asked + "\n" + json.dumps({"dialogue": "c", "text": "Un."})),
    )
    turns = await BENCHMARK.turns(domain(), found, States(), CHAT)
    probes = await BENCHMARK.probes(domain(), found, States(), turns, CHAT)
    # The broken line may belong to the dialogue before or after it.
    assert [(turn.episode_id, turn.reason is None) for turn in turns] == [
        ("a", False),
        ("b", False),
        ("c", True),
    ]
    assert [(each.episode_id, each.reason is None) for each in probes] == [
        ("a", False),
        ("b", False),
        ("c", True),
    ]
    assert "m.jsonl, line 2" in (probes[0].reason or "")
    assert [record.reason is None for record in found] == [True, False, True, True, True, True, True]


@pytest.mark.parametrize("row", [{"dialogue": "a", "content": "Two."}, {"content": "Two."}])
async def test_dialogue_with_a_message_row_without_text_is_not_played(
    tmp_path: Path, row: Mapping[str, Any]
) -> None:
    table = [{"dialogue": "a", "text": "One."}, row, {"dialogue": "b", "question": "?", "gold": "x"}]
    table += [{"dialogue": "c", "text": "Un."}, {"dialogue": "c", "question": "?", "gold": "x"}]
    text = "\n".join(json.dumps(each) for each in table)
    turns, _ = await rows(tmp_path, text)
    assert [(turn.episode_id, turn.reason is None) for turn in turns] == [
        ("a", False),
        ("c", "dialogue" in row),
    ]


async def test_invalid_question_is_a_probe_with_a_reason_and_the_record_is_valid(tmp_path: Path) -> None:
    text = line({"question": "?", "gold": "x"}, {"question": "?"}, {"question": "?", "gold": "x", "id": "q1"})
    found = records(tmp_path, ("mine.jsonl", text))
    probes = await BENCHMARK.probes(domain(), found, States(), [], CHAT)
    assert [record.reason for record in found] == [None]
    assert len({probe.probe_id for probe in probes}) == 3
    assert [probe.reason is None for probe in probes] == [True, False, False]
    contents = BENCHMARK.contents(DATASET, found)
    assert (
        contents.counts == {"dialogues": 1, "messages": 4, "questions": 3} and len(contents.quarantined) == 2
    )


def test_file_without_a_valid_record_is_rejected_with_the_first_problem(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="none of its 2 records is valid"):
        records(tmp_path, ("mine.jsonl", line(messages=[]) + "\n{"))
    with pytest.raises(BadInput, match=r"line 1, speeker: .*`memflow data check FILE`"):
        records(tmp_path, ("mine.csv", "dialogue,text,speeker\na,Hi.,Ana\n"))


async def test_open_answers_are_scored_by_the_best_gold_answer(tmp_path: Path) -> None:
    questions: list[dict[str, Any]] = [
        {"question": "Where?", "gold": ["in Rome", "Rome"], "metric": "exact_match"},
        {"question": "Where?", "gold": ["a city in Italy", "Rome"]},
        {"question": "Where?", "gold": "the city of Rome", "metric": "rouge_l"},
        {"question": "她住在哪里？", "gold": "罗马城", "metric": "f1"},
        {"question": "Which color?", "abstain": True},
        {"question": "Where?", "gold": "Rome"},
        {"question": "Where?", "options": ["Oslo", "Rome"], "gold": 2},
        {"question": "Where?", "options": ["Oslo", "Rome"], "gold": 2},
    ]
    _, probes = await rows(tmp_path, line(*questions))
    answers = ["rome.", "In Italy", "city of Rome", "罗马城", "I don't know.", "no answer", "2", None]
    found = await verdicts(probes, answers)
    values = {row.probe_id: row for row in found if row.metric == "answer_score"}
    assert [row.value for row in values.values()] == pytest.approx(
        [1.0, 0.8, 6 / 7, 1.0, 1.0, 0.0, 1.0, None], abs=1e-9
    )
    assert list(values.values())[-1].reason == "the model failed"
    of = scores(probes[:7], [row for row in found if row.probe_id != probes[7].probe_id])
    assert of["accuracy", "all"].value == 1.0 and of["random", "all"].value == 0.5
    assert of["answer_f1", "all"].value == pytest.approx((0.8 + 1.0 + 0.0) / 3)
    assert of["abstention", "all"].value == 1.0 and of["abstention", "all"].n == 1
    assert of["false_abstention", "all"].value == pytest.approx(1 / 5)
    assert of["answer_score", "gold no answer"].n == 1 and of["answer_score", "kind choice"].n == 1


@pytest.mark.parametrize(
    ("gold", "metric"), [("Москва", "rouge_l"), ("東京", "rouge_l"), ("A", "f1"), ("$", "f1")]
)
async def test_gold_without_words_of_the_metric_scores_no_answer_0(
    tmp_path: Path, gold: str, metric: str
) -> None:
    asked = {"question": "Which?", "gold": gold, "metric": metric}
    _, probes = await rows(tmp_path, line(asked, {**asked, "gold": [gold, "Rome"]}, asked))
    found = await verdicts(probes, ["Oslo", "Rome", gold])
    values = [row for row in found if row.metric == "answer_score"]
    assert [row.value for row in values] == [None, 1.0, 1.0]
    assert "no gold answer has a word" in (values[0].reason or "")


async def test_gold_in_the_words_of_no_answer_is_an_abstention(tmp_path: Path) -> None:
    questions: list[dict[str, Any]] = [
        {"question": "Which color?", "gold": "No answer."},
        {"question": "Which color?", "gold": "No answer.", "metric": "exact_match"},
        {"question": "Which color?", "options": ["red", "not mentioned"], "gold": 2},
        {"question": "Which color?", "options": ["red", "not mentioned"], "abstain": True},
    ]
    _, probes = await rows(tmp_path, line(*questions))
    assert [each.metric for each in probes] == ["abstention", "exact_match", "accuracy", "accuracy"]
    assert [is_unanswerable(each) for each in probes] == [True, False, True, True]
    assert [each.gold for each in probes[2:]] == ["2", "2"]


async def test_judge_is_asked_only_if_no_gold_answer_is_given_literally(tmp_path: Path) -> None:
    questions: list[dict[str, Any]] = [
        {"question": "Where?", "gold": "Rome", "metric": "judge"},
        {"question": "Where?", "gold": "Rome", "metric": "judge"},
        {"question": "Where?", "rubric": "It names Rome.", "gold": "Rome"},
        {"question": "Which color?", "abstain": True, "metric": "judge"},
    ]
    _, probes = await rows(tmp_path, line(*questions))
    asked: list[Mapping[str, Any]] = []

    def judge(request: Any) -> Any:
        asked.append(request.fields)
        return handlers()[request.prompt](request)

    chat = ScriptedChat({"dialogues/judge": judge, "dialogues/judge_rubric": judge})
    answers = ["Rome", "She lives in Oslo", "Oslo", "No answer, sorry"]
    found = [row for row in await verdicts(probes, answers, judge=chat) if row.metric == "judged_correct"]
    assert [row.value for row in found] == [1.0, 0.0, 0.0, 1.0]
    assert [set(fields) for fields in asked] == [
        {"question", "answer", "gold"},
        {"question", "answer", "rubric"},
    ]
    without = [row for row in await verdicts(probes, answers) if row.metric == "judged_correct"]
    assert [row.value for row in without] == [1.0, None, None, 1.0]
    assert "no judge is configured" in (without[1].reason or "")


async def test_gold_never_is_part_of_a_message_or_prompt_without_the_oracle(tmp_path: Path) -> None:
    asked_for = {"question": "Where?", "gold": "Atlantis", "rubric": "It names Atlantis."}
    _, [probe] = await rows(tmp_path, line(asked_for))
    asked = BENCHMARK.question(domain(), probe, Recall(), None)
    assert "Atlantis" not in str(asked.prompt.render(asked.fields)) + asked.query
    known = BENCHMARK.question(domain(), probe, Recall(), probe.revealed)
    assert "Atlantis" in str(known.prompt.render(known.fields))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("No answer.", True),
        ("I don’t know", True),
        ("我不知道。", True),
        ("No answer, it was not said", True),
        ("The answer is no", False),
        ("Unknown Mortal Orchestra", False),
        ("no", False),
    ],
)
def test_abstention_is_recognized_in_the_first_clause(text: str, found: bool) -> None:
    assert abstains(text) is found
