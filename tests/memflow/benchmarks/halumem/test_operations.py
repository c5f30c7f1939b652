"""Sessions become probes; each operation gets verdicts; each damaged part costs itself alone."""

import copy
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from memflow.benchmarks.domains import Domain
from memflow.benchmarks.halumem.answers import Accuracy, Integrity
from memflow.benchmarks.halumem.attribution import stages, written_facts
from memflow.benchmarks.halumem.benchmark import HaluMem
from memflow.benchmarks.halumem.config import HaluMemConfig
from memflow.benchmarks.halumem.judging import judge_operations
from memflow.benchmarks.halumem.load import PublishedUser, count_contents, faults, load_users, read_records
from memflow.benchmarks.halumem.names import ANSWER, GRADE, PUBLISHED, RAW, RECALL, RESISTANCE, UPDATE
from memflow.benchmarks.halumem.probes import TEXTS, make_probes
from memflow.benchmarks.halumem.scoring import make_scores
from memflow.benchmarks.halumem.scripted import HANDLERS
from memflow.benchmarks.halumem.turns import make_turns
from memflow.benchmarks.registry import find_dataset
from memflow.chat.scripted import ScriptedChat
from memflow.metrics.backends import MetricBackends
from memflow.records import Probe, Reply, Verdict
from memflow.scoring.results import AssistantResults

MEDIUM = find_dataset("halumem_medium_users")

DOMAIN = Domain("d", "halumem", (MEDIUM.name,), "Test")
OLD, NEW, FALSE = "Ida lives in Tarvik.", "Ida lives in Perrun.", "Ida fears dogs."


def point(text: str, source: str = "secondary", **changes: Any) -> dict[str, Any]:
    common = {"memory_type": "Event Memory", "is_update": "False", "original_memories": [], "importance": 0.5}
    return {"memory_content": text, "memory_source": source, **common, **changes}


def session(
    *points: dict[str, Any], question: str = "Where does Ida live?", answer: str = "Perrun"
) -> dict[str, Any]:
    messages = [
        {"role": role, "content": f"{role} speaks", "timestamp": f"Jan 05, 2026, 09:0{at}:00"}
        for at, role in enumerate(("user", "assistant"))
    ]
    asked = {
        "question": question,
        "answer": answer,
        "evidence": [{"memory_content": NEW}],
        "question_type": "Basic",
    }
    return {
        "start_time": "Jan 05, 2026, 08:00:00",
        "dialogue": messages,
        "memory_points": [*points],
        "questions": [asked],
    }


def user() -> dict[str, Any]:
    update = point(NEW, is_update="True", original_memories=[OLD])
    filler = {"dialogue": session()["dialogue"], "is_generated_qa_session": True}
    return {
        "uuid": "u",
        "sessions": [session(point(OLD), point(FALSE, "interference")), filler, session(update)],
    }


def probes_of(content: dict[str, Any]) -> list[Probe]:
    return list(make_probes("d", "set", PublishedUser.model_validate(content)))


def reply(probe: Probe, text: str | None, parsed: str = "texts", reason: str | None = None) -> Reply:
    return Reply(
        domain="d", assistant="a", probe_id=probe.probe_id, episode_id="u", checkpoint=probe.checkpoint, text=text,
        parsed=None if reason else parsed, recalled=[], recalled_sources=[], ranked=["e"], reason=reason,
    )  # fmt: skip


def replies_of(
    probes: list[Probe], written: list[str], found: list[str], parsed: str = "texts"
) -> list[Reply]:
    texts = {
        "written": (json.dumps(written), parsed),
        "search": (json.dumps(found), "recalled"),
        "open": ("Perrun",) * 2,
    }
    return [reply(probe, *texts[probe.kind]) for probe in probes]


async def verdicts_of(probes: list[Probe], replies: list[Reply]) -> dict[tuple[str, str, str], Verdict]:
    backends = MetricBackends(ScriptedChat(HANDLERS))
    rows = await judge_operations(DOMAIN, probes, replies, backends)
    return {(row.probe_id.removeprefix("u/session"), row.metric, row.variant): row for row in rows}


def test_kinds_of_probes_follow_the_points() -> None:
    found = [(probe.checkpoint, probe.kind, probe.metric) for probe in probes_of(user())]
    assert found == [
        (0, "written", "memory_accuracy"), (0, "written", RECALL), (0, "written", RESISTANCE),
        (0, "open", ANSWER["Correct"]), (2, "written", "memory_accuracy"), (2, "search", UPDATE["Correct"]),
        (2, "open", ANSWER["Correct"]),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("is_update", "old", "kind"),
    [("True", [OLD], "search"), (True, [OLD], "search"), (False, [OLD], "search"), ("False", [OLD], "written"),
     ("True", [], "written")],
)  # fmt: skip
def test_update_is_whatever_is_not_the_string_False_and_has_old_facts(
    is_update: Any, old: Any, kind: str
) -> None:
    changed = point(NEW, is_update=is_update, original_memories=old)
    assert probes_of({"uuid": "u", "sessions": [session(changed)]})[1].kind == kind


def test_messages_have_their_own_dates_or_that_of_their_session() -> None:
    loaded = PublishedUser.model_validate(user())
    own = next(make_turns("d", loaded, HaluMemConfig()))
    assert own.sent_at == "2026-01-05 09:00:00"
    assert next(make_turns("d", loaded, HaluMemConfig(dates="sessions"))).sent_at == "2026-01-05 08:00:00"
    assert [turn.checkpoint for turn in make_turns("d", loaded, HaluMemConfig())] == [0, 0, 1, 1, 2, 2]


async def test_extraction_is_judged_over_the_texts_of_the_session() -> None:
    probes = probes_of(user())
    found = await verdicts_of(probes, replies_of(probes, [OLD, "Ida keeps bees."], [NEW]))
    assert found["0/point0", RECALL, "standard"].value == 1
    assert found["0/point1", RESISTANCE, "standard"].value == 1
    assert found["0/texts", "memory_accuracy", "text 1"].value == 1
    assert found["0/texts", "memory_accuracy", "standard"].value == 0.5
    assert found["2/point0", UPDATE["Correct"], "standard"].value == 1


async def test_nothing_extracted_is_no_coverage_without_a_request() -> None:
    probes = [probe for probe in probes_of(user()) if probe.kind == "written"]
    found = await verdicts_of(probes, replies_of(probes, [], []))
    assert (found["0/point0", RECALL, "standard"].value, found["0/point1", RESISTANCE, "standard"].value) == (
        0,
        1,
    )
    assert found["0/texts", "memory_accuracy", "standard"].reason == "the writes of the session added no text"


async def test_update_with_an_empty_search_is_an_omission_and_as_published_a_point_of_extraction() -> None:
    probes = probes_of(user())
    found = await verdicts_of(probes, replies_of(probes, [NEW], []))
    assert found["2/point0", UPDATE["Omission"], "standard"].value == 1
    assert found["2/point0", GRADE, PUBLISHED].value == 1


async def test_texts_that_are_messages_have_a_variant_of_their_own() -> None:
    probes = probes_of(user())
    found = await verdicts_of(probes, replies_of(probes, [OLD], [NEW], parsed="messages"))
    assert found["0/point0", RECALL, RAW].value == 1
    assert ("0/point0", RECALL, "standard") not in found


async def test_what_is_not_measurable_has_no_value() -> None:
    probes = probes_of(user())
    replies = [reply(probe, None, reason="not measurable: it stores nothing") for probe in probes]
    found = await verdicts_of(probes, replies)
    assert {row.value for row in found.values()} == {None}
    assert {row.reason for row in found.values()} == {"not measurable: it stores nothing"}


async def test_published_and_corrected_figures_differ_where_the_published_code_is_doubtful() -> None:
    """An invented text lowers the corrected F1; an empty search leaves no update, which ends the published code."""
    probes = probes_of(user())
    replies = replies_of(probes, [OLD, "Goran tunes pianos weekly."], [])
    rows = await HaluMem().verdicts(DOMAIN, probes, replies, MetricBackends(ScriptedChat(HANDLERS)))
    results = AssistantResults("d", "a", "a", "m", probes, rows, [], [], "s", True)
    scores = {(row.metric, row.variant): row for row in make_scores(DOMAIN, results) if row.slice == "all"}
    assert scores[RECALL, "standard"].value == 1
    assert scores["memory_accuracy", "standard"].value == 0.375  # 1, 0, .5 and 0
    assert scores["target_memory_precision", "standard"].value == 0.75
    assert scores["extraction_f1", "standard"].value == pytest.approx(2 * 0.375 / 1.375)
    assert scores[UPDATE["Omission"], "standard"].value == 1
    assert scores[RECALL, PUBLISHED].value is None
    assert "ZeroDivisionError" in str(scores[RECALL, PUBLISHED].reason)


@pytest.mark.parametrize("score", [2, "2", 2.0])
def test_score_may_be_a_text(score: Any) -> None:
    assert Integrity(reason="", score=score).score == 2
    assert Accuracy(reason="", score=score, included="false").included is False


@pytest.mark.parametrize("score", [3, "1.5", True, None, "two"])
def test_score_out_of_form_is_rejected(score: Any) -> None:
    with pytest.raises(ValueError, match="score"):
        Integrity(reason="", score=score)


def test_each_damaged_part_costs_itself(tmp_path: Path) -> None:
    damaged = user()
    first = damaged["sessions"][0]
    first["dialogue"].append({"role": "tool", "content": "x"})
    first["memory_points"].append({"memory_content": " "})
    first["questions"].append({"question": "Who?"})
    damaged["sessions"].append(7)
    other = {**copy.deepcopy(user()), "uuid": "v"}
    path = tmp_path / "users.jsonl"
    path.write_text("\n".join([json.dumps(damaged), '{"uuid": "cut', json.dumps(other)]), encoding="utf-8")
    records = read_records(MEDIUM, {"halumem/users.jsonl": path})
    assert [record.reason is None for record in records] == [True, False, True]
    (_, loaded), (_, whole) = load_users(DOMAIN, records)
    assert [where for where, _ in faults(loaded)] == [
        "u, session 0, dialogue 2", "u, session 0, memory_points 2", "u, session 0, questions 1", "u, session 3",
    ]  # fmt: skip
    assert sum(probe.reason is None for probe in make_probes("d", "set", loaded)) == len(
        list(make_probes("d", "set", whole))
    )


@pytest.mark.parametrize(
    ("covered", "recalled", "stage"),
    [(0.0, ["Bo sings."], 0), (1.0, ["Bo sings."], 1), (1.0, [NEW], 2), (0.0, [NEW], 2)],
)
def test_wrong_answer_is_attributed_to_the_stage_that_lost_its_fact(
    covered: float, recalled: Any, stage: int
) -> None:
    probes = probes_of({"uuid": "u", "sessions": [session(point(NEW))]})
    verdict = Verdict(
        domain="d", assistant="a", probe_id=probes[1].probe_id, episode_id="u", checkpoint=0, dataset="set",
        metric=GRADE, value=covered,
    )  # fmt: skip
    shares = stages(probes[2], recalled, written_facts(probes, [verdict]))
    assert shares.values is not None
    assert [*shares.values].index(1.0) == stage


def test_fact_that_no_earlier_point_has_is_not_attributed() -> None:
    probes = probes_of({"uuid": "u", "sessions": [session(point(OLD))]})
    asked = replace(probes[2], checkpoint=0)
    assert stages(asked, ["Bo sings."], written_facts(probes, [])).values is None


def test_published_part_has_the_known_counts(data: Path) -> None:
    """The whole user has 65 sessions with 2,806 messages and 718 points; the sessions at hand may be a part."""
    known = {44: (1_932, 519, 113), 21: (874, 199, 51), 65: (2_806, 718, 164)}
    files = {f"halumem/{path.name}": path for path in sorted(data.glob("medium_*_sessions.json"))}
    counts = count_contents(read_records(MEDIUM, files)).counts
    assert (counts["messages"], counts["points"], counts["questions"]) == known[counts["sessions"]]


def test_all_texts_of_a_session_have_one_probe() -> None:
    assert [probe.category for probe in probes_of(user())].count(TEXTS) == 2
