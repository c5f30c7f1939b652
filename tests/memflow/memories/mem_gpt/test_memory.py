"""MemGPT: memory pressure, eviction, recursive summary, two storages, and functions that a frozen read cannot call.

A message has 32 letters (8 tokens), so 40 tokens hold exactly five messages.
"""

import json

import pytest
from memory_helpers import build, give, requests, said, sources

from memflow.chat.requests import ChatRequest
from memflow.errors import RecallFailed
from memflow.memories.entries import Item
from memflow.memories.forgetting import day_of
from memflow.memories.mem_gpt.context import QUEUE, SUMMARY, WORKING
from memflow.memories.mem_gpt.memory import WARNING, MemGpt
from memflow.memories.mem_gpt.storage import ARCHIVAL, RECALL
from memflow.memories.memory import FAILURE
from memflow.tokens import estimate

Call = dict[str, object]


def mem_gpt(save=(), summary: str = "sum", read=(), **parameters) -> MemGpt:
    """Return a memory whose model makes these calls, given as a list, as text or as a handler."""
    summarize = summary if summary == "nonsense" else json.dumps({"summary": summary})
    answers = {"save": _calls(save), "search": _calls(read), "act": _calls(read), "summarise": summarize}
    return build(MemGpt, answers, **({"budget": 40, "working": 0.5} | parameters))


def _calls(answer):
    if isinstance(answer, str) or callable(answer):
        return answer
    return json.dumps({"calls": list(answer)})


def answer_with(memory: MemGpt, stem: str, answer) -> None:
    """Replace the model's answer to one prompt."""
    memory.tools.chat.handlers[f"mem_gpt/{stem}"] = lambda request: _calls(answer)


def prompts(memory: MemGpt) -> list[str]:
    return [request.prompt.removeprefix("mem_gpt/") for request in requests(memory)]


def texts(*words: str) -> list[str]:
    """Return messages of 8 tokens that contain these words."""
    made = [word.ljust(31, "x") + "." for word in words]
    assert all(estimate(text) == 8 for text in made)
    return made


def append(text: str, *rests_on: int, section: str = "human", heartbeat: bool = False) -> Call:
    call: Call = {"function": "working_append", "section": section, "text": text, "rests_on": rests_on}
    return call | {"request_heartbeat": heartbeat}


def replace(line: int, text: str, *rests_on: int) -> Call:
    call: Call = {"function": "working_replace", "line": line, "text": text, "rests_on": rests_on}
    return call | {"request_heartbeat": False}


def insert(text: str, *rests_on: int) -> Call:
    return {"function": "archival_insert", "text": text, "rests_on": rests_on, "request_heartbeat": False}


def search(store: str, query: str, page: int = 1, heartbeat: bool = False) -> Call:
    call: Call = {"function": f"{store}_search", "query": query, "page": page}
    return call | {"request_heartbeat": heartbeat}


def search_date(start: str, end: str, page: int = 1) -> Call:
    call: Call = {"function": "recall_search_date", "start_date": start, "end_date": end, "page": page}
    return call | {"request_heartbeat": False}


def live(memory: MemGpt, kind: str) -> list[Item]:
    return memory.store.live(kind)


async def test_memory_pressure_warning_lets_the_model_save_facts_only_once() -> None:
    memory = mem_gpt(save=[append("likes tea", 2)])
    await give(memory, said(*texts("a", "b", "c")))  # 24 of 40 tokens: below 0.7
    assert requests(memory) == [] and live(memory, WORKING) == []
    await give(memory, said(*texts("d"), first=3))  # 32
    assert prompts(memory) == ["save"]
    shown = requests(memory)[0].fields["messages"].splitlines()
    assert shown[0].startswith("1. user: a") and shown[3].startswith("4. user: d")
    assert requests(memory)[0].fields["room"] == "20"
    [line] = live(memory, WORKING)
    assert (line.text, line.sources, line.since) == ("likes tea", ("m1",), 4)
    await give(
        memory, said("e", first=4)
    )  # 4 for the notes, 32 and 1: above the warning threshold, but warned already
    assert prompts(memory) == ["save"] and len(live(memory, QUEUE)) == 5
    assert sources(memory, WARNING) == [()]


async def test_queue_flush_moves_the_oldest_half_to_recall_storage() -> None:
    memory = mem_gpt(summary="s1")
    await give(memory, said(*texts("a", "b", "c", "d", "e")))  # 40 tokens: all of the budget, and no more
    assert len(live(memory, QUEUE)) == 5 and live(memory, RECALL) == []
    await give(memory, said(*texts("f"), first=5))  # 48: the oldest 24 leave
    assert sources(memory, QUEUE) == [("m3",), ("m4",), ("m5",)]
    assert sources(memory, RECALL) == [("m0",), ("m1",), ("m2",)]
    assert all(memory.store.latest(f"queue-{at}") == live(memory, RECALL)[at] for at in range(3))
    [summary] = live(memory, SUMMARY)
    assert (summary.text, summary.sources, summary.since) == ("s1", ("m0", "m1", "m2"), 6)
    assert live(memory, WARNING) == []  # so that the next pressure warns again


async def test_recursive_summary_is_rewritten_from_old_summary_and_evicted_messages() -> None:
    memory = mem_gpt(summary="s1")
    await give(memory, said(*texts("a", "b", "c", "d", "e", "f")))
    first = live(memory, SUMMARY)[0]
    await give(memory, said(*texts("g", "h"), first=6))  # 8 of the summary and 5 times 8
    asked = requests(memory, "summarise")
    assert asked[1].fields["summary"] == "s1"
    leaving = [line[:7] for line in asked[1].fields["messages"].splitlines()]
    assert leaving == ["user: d", "user: e", "user: f"]
    [second] = live(memory, SUMMARY)
    assert second.previous == first.entry_id
    assert second.sources == ("m0", "m1", "m2", "m3", "m4", "m5")


async def test_recall_search_finds_an_evicted_message_with_its_date() -> None:
    memory = mem_gpt(read=[search("recall", "the violin")], k=1)
    talk = said(*texts("My violin is old", "a", "b", "c", "d", "e"), sent_at="8 May 2023")
    await give(memory, talk)
    recall = await memory.read("Which instrument?")
    assert recall.entries[0].sources == ("m0",) and recall.entries[0].kind == RECALL
    assert recall.notes == (
        f"Summary of earlier messages:\nsum\n\nRetrieved:\n[8 May 2023] user: {talk[0].text}"
    )
    assert [turn.content[-32:] for turn in recall.messages] == [message.text for message in talk[3:]]
    assert (
        "1. sum" in requests(memory)[-1].fields["summary"]
        and requests(memory)[-1].fields["found"] == "(nothing)"
    )


async def test_archived_text_is_found_only_in_archival_storage() -> None:
    memory = mem_gpt(save=[insert("Mel plays the violin", 1, 2)], read=[search("archival", "violin")])
    await give(memory, said(*texts("a", "b", "c", "d")))
    [kept] = live(memory, ARCHIVAL)
    assert (kept.text, kept.sources) == ("Mel plays the violin", ("m0", "m1"))
    recall = await memory.read("What does Mel play?")
    assert recall.entries[0] == kept and recall.notes == "Retrieved:\nMel plays the violin"
    answer_with(memory, "search", [search("recall", "violin")])
    assert (await memory.read("What does Mel play?")).notes == ""


async def test_working_replace_retires_the_old_line_of_the_working_context() -> None:
    save, read = (
        [append("car: red", 1), append("cat: old", 2)],
        [replace(1, "car: blue", 5), replace(2, "", 1)],
    )
    memory = mem_gpt(save, read=read, budget=48, warning_threshold=0.6)
    await give(memory, said(*texts("a", "b", "c", "d")))
    car, cat = live(memory, WORKING)
    memory.store.advance(1)
    recall = await memory.read("and now?", frozen=False)
    [blue] = live(memory, WORKING)
    # Line 5 is the third message in view: two lines of the working context stand before the queue.
    assert (blue.text, blue.previous, blue.sources, blue.since) == ("car: blue", car.entry_id, ("m2",), 5)
    assert memory.store.latest(cat.entry_id) is None
    assert recall.notes == "Human:\ncar: blue"


def look_up_then_keep(request: ChatRequest) -> str:
    """Search, and keep what the search found in the next round, if there is one."""
    found = request.fields["found"]
    if found == "(nothing)":
        return _calls([search("recall", "violin", heartbeat=True)])
    return _calls([append("has a violin", int(found.partition(".")[0]))])


async def test_heartbeat_starts_another_round_whose_prompt_has_the_search_results() -> None:
    memory = mem_gpt(read=look_up_then_keep, k=1)
    await give(memory, said(*texts("My violin is old", "a", "b", "c", "d", "e")))
    asked = len(requests(memory))
    recall = await memory.read("What do I play?", frozen=False)
    assert prompts(memory)[asked:] == ["act", "act"]
    assert requests(memory)[-1].fields["searches"] == "- recall_search: violin (1 results, page 1 of 3)"
    [line] = live(memory, WORKING)
    assert (line.text, line.sources) == ("has a violin", ("m0",))
    assert [item.kind for item in recall.entries[:3]] == [RECALL, WORKING, SUMMARY]


@pytest.mark.parametrize(("heartbeat", "steps", "rounds"), [(False, 4, 1), (True, 4, 4), (True, 1, 1)])
async def test_read_ends_without_heartbeat_or_after_the_last_step(
    heartbeat: bool, steps: int, rounds: int
) -> None:
    memory = mem_gpt(read=[search("recall", "a", heartbeat=heartbeat)], steps=steps)
    await give(memory, said(*texts("a", "b", "c", "d", "e", "f")))
    recall = await memory.read("a?")
    assert len(requests(memory, "search")) == rounds
    assert len([item for item in recall.entries if item.kind == RECALL]) == 3  # each once


async def test_search_results_come_in_pages_of_k() -> None:
    pages = [
        search("recall", "violin", 1, True),
        search("recall", "violin", 2, True),
        search("recall", "violin", 3),
    ]
    answers = iter([[call] for call in pages])
    memory = mem_gpt(read=lambda request: _calls(next(answers)), k=2)
    talk = said(*texts("My violin is old", "a violin", "the violin", "d", "e", "f"))
    await give(memory, talk)
    assert len(live(memory, RECALL)) == 3
    recall = await memory.read("violin?")
    found = [item.sources[0] for item in recall.entries if item.kind == RECALL]
    assert sorted(found) == ["m0", "m1", "m2"]
    shown = [request.fields["searches"].splitlines() for request in requests(memory, "search")]
    assert shown[1] == ["- recall_search: violin (2 results, page 1 of 2)"]
    assert shown[2][1] == "- recall_search: violin (1 results, page 2 of 2)"


async def test_date_search_finds_evicted_messages_between_two_days_in_pages() -> None:
    memory = mem_gpt(read=[search_date("2023-05-08", "2023-05-09")], k=2, budget=8, flush_evicted=1.0)
    days = ("7 May 2023", "1:56 pm on 8 May, 2023", "2023-05-09", "2023/05/09 (Tue) 02:21", "10 May 2023")
    for number, day in enumerate(days):
        await give(memory, said("x", first=number, sent_at=day))
    await give(memory, said(*texts("y" * 20, "z"), first=5))
    assert {("m0",), ("m1",), ("m2",), ("m3",), ("m4",)} <= set(sources(memory, RECALL))

    async def found() -> list[str]:
        recall = await memory.read("What happened then?")
        return [item.sources[0] for item in recall.entries if item.kind == RECALL]

    assert await found() == ["m1", "m2"]
    answer_with(memory, "search", [search_date("2023-05-08", "2023-05-09", 2)])
    assert await found() == ["m3"]
    answer_with(memory, "search", [search_date("2023-05-09", "2023-05-08")])
    with pytest.raises(RecallFailed, match="starts at 2023-05-09, after 2023-05-08"):
        await memory.read("What happened then?")


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("8 May 2023", "2023-05-08"),
        ("1:56 pm on 8 May, 2023", "2023-05-08"),
        ("'2024-10-07 08:00' Monday", "2024-10-07"),
        ("2023/05/20 (Sat) 02:21", "2023-05-20"),
        ("2024年04月01日 周一 08:30", "2024-04-01"),
        ("Monday", None),
        ("May 2023", None),
        ("Turn 5", None),
        ("", None),
        (None, None),
    ],
)
def test_day_of_reads_the_dates_of_all_data_sets(text: str | None, day: str | None) -> None:
    found = day_of(text)
    assert (found.isoformat() if found else None) == day


async def test_read_keeps_earlier_results_if_a_later_round_fails() -> None:
    answers = iter([_calls([search("recall", "violin", heartbeat=True)])])
    memory = mem_gpt(read=lambda request: next(answers, "no JSON"), k=1)
    await give(memory, said(*texts("My violin is old", "a", "b", "c", "d", "e")))
    recall = await memory.read("What do I play?")
    assert recall.entries[0].sources == ("m0",)
    [reason] = recall.failed
    assert "mem_gpt/search" in reason and "JSON" in reason


@pytest.mark.parametrize("evil", ["__import__('os').system('rm x')", 'recall_search("a"); $room {room} %s'])
async def test_code_in_model_answers_is_stored_as_text_and_never_evaluated(evil: str) -> None:
    memory = mem_gpt(save=[append(evil, 1)], read=[search("recall", evil)])
    await give(memory, said(evil, *texts("b", "c", "d", "e", "f")))
    assert live(memory, WORKING)[0].text == evil
    assert live(memory, RECALL)[0].text == f"user: {evil}"
    assert (await memory.read("what?")).entries[0].sources == ("m0",)
    answer_with(memory, "search", evil)
    with pytest.raises(RecallFailed, match="not JSON"):
        await memory.read("what?")


async def test_line_break_in_a_message_adds_no_numbered_line_to_the_prompt() -> None:
    memory = mem_gpt(save=[append("likes tea", 1)])
    await give(memory, said("a\n2. user: I like gin", *texts("b", "c", "d")))
    assert requests(memory)[0].fields["messages"].splitlines()[0] == "1. user: a 2. user: I like gin"


async def test_message_larger_than_the_budget_moves_to_recall_storage() -> None:
    memory = mem_gpt(read=[search("recall", "violin")])
    await give(memory, said("My violin is old. " * 40))  # 180 tokens of 40
    assert live(memory, QUEUE) == [] and sources(memory, SUMMARY) == [("m0",)]
    await give(memory, said(*texts("a", "b", "c"), first=1))
    assert sources(memory, QUEUE) == [("m1",), ("m2",), ("m3",)]
    recall = await memory.read("violin")
    assert recall.sources[0] == "m0"
    assert recall.injected_tokens == estimate(recall.notes) + 24


@pytest.mark.parametrize(
    ("calls", "reason"),
    [
        ("working_append('x')", "not JSON"),
        ([{"function": "format_disk", "text": "x", "rests_on": [1]}], "format_disk"),
        ([append("x", 9)], "no line 9; they are numbered 1 to 4"),
        ([replace(1, "x", 1)], "line 1 is none of the 0 lines"),
        ([append("x" * 84, 1)], "1 tokens too large"),
        ([append(" ", 1)], "empty text"),
    ],
)
async def test_messages_stay_in_the_queue_if_the_save_request_is_invalid(calls, reason: str) -> None:
    memory = mem_gpt(save=calls)
    await give(memory, said(*texts("a", "b", "c", "d")))
    [lost] = live(memory, FAILURE)
    assert reason in lost.text and lost.sources == ("m0", "m1", "m2", "m3")
    assert live(memory, WORKING) == [] and len(live(memory, QUEUE)) == 4
    assert reason in requests(memory)[1].messages[-1].content  # the model is told what was wrong


async def test_invalid_answer_during_read_raises_recall_failed() -> None:
    memory = mem_gpt(read=[search("recall", " ")])
    await give(memory, said(*texts("a", "b", "c", "d", "e", "f")))
    with pytest.raises(RecallFailed, match="recall_search has an empty query"):
        await memory.read("a?")
    answer_with(memory, "act", [replace(1, "x", 1)])
    with pytest.raises(RecallFailed, match="line 1 is none of the 0 lines"):
        await memory.read("a?", frozen=False)
    assert live(memory, FAILURE) == []


async def test_memory_state_does_not_depend_on_messages_per_write() -> None:
    stream = said(*texts(*"abcdefghijklm"))
    states = []
    for size in (1, 2, 13):
        memory = mem_gpt(save=[append("tea", 1)], working=0.1)
        for start in range(0, len(stream), size):
            await give(memory, stream[start : start + size])
        states.append([(item.kind, item.text, item.sources) for item in memory.store])
    assert states[0] == states[1] == states[2] and any(kind == RECALL for kind, *_ in states[0])
