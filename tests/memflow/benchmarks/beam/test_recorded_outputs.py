"""Scores equal those of the published code on recorded replies of judges, orders of events and constant answers."""

import json
import math
from collections.abc import Callable
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from memflow.benchmarks.beam.conversations import BeamQuestion, read_questions
from memflow.benchmarks.beam.judging import CONTRACTS, judge_items, judge_order, value_of_items
from memflow.benchmarks.beam.load import count_contents, read_records
from memflow.benchmarks.beam.ordering import constant_values, order_values
from memflow.benchmarks.beam.types import ORDERING
from memflow.benchmarks.registry import find_dataset
from memflow.chat.requests import ChatRequest
from memflow.chat.scripted import ScriptedChat

SMALL = find_dataset("beam_100k")


def recorded(data: Path, name: str) -> Any:
    return json.loads((data / name).read_text(encoding="utf-8"))


class RecordedJudge:
    """A judge that gives the recorded replies to the items of a rubric in order, and says which events are the same."""

    def __init__(self, replies: list[str], same: Callable[[str, str], bool]) -> None:
        self.replies, self.same, self.calls = replies, same, {"rubric": 0, "equivalence": 0}
        handlers = {"beam/judge_published": self.item, "beam/judge_same_event": self.event}
        self.chat = ScriptedChat(handlers)

    def item(self, request: ChatRequest) -> str:
        self.calls["rubric"] += 1
        return self.replies[self.calls["rubric"] - 1]

    def event(self, request: ChatRequest) -> str:
        self.calls["equivalence"] += 1
        return "Yes." if self.same(request.fields["event"], request.fields["line"]) else "no"


def equal(value: float, expected: float | str) -> bool:
    if expected == "NaN":
        return math.isnan(value)
    return value == pytest.approx(expected, abs=1e-12)


async def test_orders_of_events_have_the_published_values(data: Path) -> None:
    cases = recorded(data, "oracle_event_ordering.json")
    assert len(cases) > 100
    for case in cases:
        pairs = {tuple(pair) for pair in case["equivalent_pairs"]}
        judge = RecordedJudge([], lambda event, line, pairs=pairs: (event, line) in pairs)
        values = (await judge_order(case["reference"], case["response"], judge.chat)).values
        assert values is not None
        found = {
            **values._asdict(),
            "tau_norm": values.tau,
            "final_score": values.product,
        }
        for name, expected in case["expected"].items():
            assert equal(found[name], expected), f"{case['kind']}: {name}"
        assert judge.calls["equivalence"] == case["equivalence_calls"], case["kind"]


async def test_rubrics_have_the_published_scores(data: Path) -> None:
    cases, contract = recorded(data, "oracle_rubric.json"), CONTRACTS["published"]
    assert len(cases) > 100
    for case in cases:
        judge = RecordedJudge(case["judge_replies"], lambda event, line: event == line)
        ordered = case["type"] == ORDERING
        # One at a time, as the replies are recorded in order.
        items = [
            judgment
            for item in case["rubric"]
            for judgment in await judge_items(
                contract, "", [item], case.get("response", "x"), judge.chat, ordered=ordered
            )
        ]
        value, reason = value_of_items(items)
        where = f"{case['type']}: {case['judge_replies']}"
        if "error" in case["expected"]:
            assert value is None and "the published code fails" in str(reason), where
            continue
        assert value == pytest.approx(case["expected"]["llm_judge_score"]), where
        if ordered:
            order = await judge_order(case["rubric"], case["response"], judge.chat)
            assert order.values is not None
            assert order.values.tau == pytest.approx(case["expected"]["tau_norm"]), where
            assert order.values.product == pytest.approx(case["expected"]["final_score"]), where
            calls = {name: number for name, number in case["calls"].items() if name != "extraction"}
            assert judge.calls == calls, where


def test_constant_answers_have_the_published_means(data: Path) -> None:
    for size, policies in recorded(data, "oracle_constant_answers.json").items():
        references = [
            asked.content.rubric
            for path in sorted(data.glob(f"{size}/*/probing_questions.json"))
            for asked in read_questions(json.loads(path.read_text(encoding="utf-8")))
            if asked.kind == ORDERING and isinstance(asked.content, BeamQuestion)
        ]
        if len(references) < policies["perfect_list"]["n"]:
            # A part of the conversations: its means are those of the whole only about.
            tolerance: dict[str, float] = {"abs": 0.05}
        else:
            tolerance = {"abs": 1e-9}
        answers = {
            "no_information": lambda reference: constant_values(reference)["no_information"],
            "perfect_with_header": lambda reference: constant_values(reference)["heading"],
            "perfect_list": lambda reference: order_values(reference, reference),
            "perfect_one_line": lambda reference: order_values(reference, [" ".join(reference)]),
            "reversed": lambda reference: order_values(reference, reference[::-1]),
        }
        for name, values in answers.items():
            mean = fmean(values(reference).tau for reference in references)
            assert mean == pytest.approx(policies[name]["mean"], **tolerance), f"{size}: {name}"


def test_published_folders_have_the_counts_of_their_files(data: Path) -> None:
    files = {f"beam/{path.relative_to(data)}": path for path in sorted(data.glob("100K/*/*.json"))}
    chats = {}
    for path in data.glob("100K/*/chat*.json"):
        if path.name == "chat_trunecated.json" or path.parent not in chats:
            chats[path.parent] = json.loads(path.read_text(encoding="utf-8"))
    exchanges = [turn for batches in chats.values() for batch in batches for turn in batch["turns"]]
    contents = count_contents(read_records(SMALL, files))
    assert contents.counts == {
        "conversations": len(chats),
        "batches": sum(map(len, chats.values())),
        "exchanges": len(exchanges),
        "messages": sum(map(len, exchanges)),
        "questions": 20 * len(chats),
    }
    assert not contents.quarantined
