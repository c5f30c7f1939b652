"""Expectations through Great Expectations: what is as it should be passes, every fault is found and named."""

from dataclasses import replace

import pytest

from memflow.benchmarks.amemgym import expectations as amemgym
from memflow.benchmarks.membench import expectations as membench
from memflow.benchmarks.memorybench import expectations as memorybench
from memflow.benchmarks.memorybench import played
from memflow.domains import Domain
from memflow.errors import BadInput, MemflowError, MissingData
from memflow.expectations import EXPECTATIONS, Between, Expectation, Together
from memflow.records import (
    TABLES,
    Attributed,
    Change,
    Claim,
    Entity,
    Entry,
    FeedbackRound,
    Figure,
    Key,
    PlayedRound,
    Policy,
    Probe,
    Profile,
    Record,
    Reply,
    Said,
    Turn,
    Variable,
    Verdict,
)
from resources.expectations import check, check_rows
from resources.lake import Lake
from resources.warehouse import Warehouse

DOMAIN = Domain("d", "memorybench", ("set",), "A small world")
DAYS = ("2020-10-01", "2021-01-01")
ASKED = {"domain": "d", "episode_id": "u1", "checkpoint": 0}
PLAYED = {**ASKED, "assistant": "full"}


def probe(number, **given):
    return Probe(
        **{
            **ASKED,
            "probe_id": f"p{number}",
            "kind": "choice",
            "dataset": "set",
            "metric": "choice",
            "question": f"Question {number}?",
            "options": ["tea", "water"],
            "variables": [],
            "gold": str(1 + number % 2),
            "revealed": "drinks tea",
            "evidence": ["m1"],
            **given,
        }
    )


def sound():
    """A small world in which everything holds, by table."""
    probes = [
        *(probe(number) for number in (1, 2, 3, 4, 9, 10, 11, 12)),
        probe(5, kind="open", options=[], gold="Oslo"),
        probe(6, kind="state", options=[], gold='{"drink": "tea"}', parent="p1"),
        probe(7, split="train", kind="open", options=[], gold="Oslo", question="Where, in training?"),
        probe(8, split="train", reason="the model gave no gold", gold="", options=[], question=""),
    ]
    asked = [each for each in probes if each.split == "test"]
    turn = {**ASKED, "event": 0, "kind": "given", "role": "user", "text": "I like tea."}
    said = {**PLAYED, "event": 0, "role": "user", "text": "I like tea.", "origin": "given"}
    entry = {
        "domain": "d",
        "assistant": "full",
        "episode_id": "u1",
        "kind": "message",
        "text": "tea",
        "since": 1,
    }
    round_ = {"domain": "d", "episode_id": "u1", "dataset": "set", "user_text": "Where?", "answer": "Rome"}
    figure = {
        "domain": "d", "model": "scripted", "metric": "overall", "n": 6, "n_episodes": 1, "coverage": 1.0,
        "simulator": "x", "scripted": True,
    }  # fmt: skip
    return {
        "raw.records": [
            Record(
                dataset="d", record_id=str(n), position=n, source="a.json", sha256="0" * 64, licence="MIT",
                origin="here", content='{"a": 1}',
            )
            for n in range(2)
        ],
        "state.profiles": [
            Profile(domain="d", user_id="u1", name="Ann", profile="A tea drinker.", start_date="2020-10-01")
        ],
        "state.variables": [
            Variable(domain="d", user_id="u1", variable="drink", choices=["tea", "water"], questions=["Q"])
        ],
        "state.changes": [
            Change(
                domain="d", user_id="u1", period=n, period_end=DAYS[n], variable="drink", old=a, value=b, event=c
            )
            for n, (a, b, c) in enumerate([(None, "tea", None), ("tea", "water", "A doctor's word.")])
        ],
        "state.entities": [
            Entity(
                domain="d", user_id="u1", entity_id=name, kind="relative", name=name, relationship="aunt",
                attributes='{"age": "61 years old"}',
            )
            for name in ("Eve", "Ida")
        ],
        "utterance.turns": [
            Turn(
                **{**turn, "checkpoint": n}, position=1 + n, message_id=f"m{1 + n}", exposes=exposes,
                sent_at=f"{DAYS[n]} 19:00:00",
            )
            for n, exposes in enumerate(('{"drink": "tea"}', '{"drink": "water"}'))
        ],
        "question.keys": [
            Key(domain="d", question_id="q1", episode_id="u1", checkpoint=n, made_by="rule", visible=n, answer="1")
            for n in (1, 2)
        ],
        "question.probes": probes,
        "feedback.sessions": [
            FeedbackRound(**round_, case_id="p7", round=0, satisfaction=3, disliked=True, critique="No."),
            FeedbackRound(**round_, case_id="p7", round=1, satisfaction=8, liked=True, ended=True),
        ],
        "memory.transcripts": [
            *(Said(**said, position=n, message_id=f"m{n}", tick=n) for n in range(1, 3)),
            *(
                Said(
                    **{**said, "role": "assistant", "origin": "assistant", "text": "Rome", "checkpoint": 1},
                    position=n, message_id=f"feedback/p7/{n}", tick=3 + n,
                )
                for n in (1, 3)
            ),
        ],
        "memory.indexes": [
            Entry(**entry, entry_id="e1", sources=["m1"], until=2),
            Entry(**entry, entry_id="e2", sources=["m1", "m2"]),
        ],
        "memory.policies": [
            Policy(
                domain="d", assistant="full", episode_id="u1", step=n, cadence="period", cycle=0,
                feedback="complete", kinds=["drinks"], changes=[], asked=n, answered=n, correct=n, since=n,
            )
            for n in range(2)
        ],
        "memory.feedback": [
            PlayedRound(**round_, assistant="full", checkpoint=1, case_id="p7", round=0, critique="No."),
            PlayedRound(**round_, assistant="full", checkpoint=1, case_id="p7", round=1, satisfaction=8, ended=True),
        ],
        "answer.replies": [
            Reply(
                **PLAYED, probe_id=each.probe_id, parsed="1", recalled=["e2"], recalled_sources=["m1"]
            )
            for each in asked
        ],
        "score.verdicts": [
            Verdict(**PLAYED, probe_id=each.probe_id, dataset="set", metric="f1", value=1.0) for each in asked
        ],
        "score.attributions": [
            Attributed(**PLAYED, probe_id="p1", evidence=2, held=2, recalled=1, entries=3, relevant=1, loss=1.0,
                       write=0.0, read=1.0, utilisation=0.0),
            Attributed(**PLAYED, probe_id="p5", evidence=0, reason="no evidence"),
        ],
        "score.claims": [
            Claim(**PLAYED, claim_id="c1", text="drink: tea", value=1.0),
            Claim(**PLAYED, claim_id="c2", text="drink: tea", value=0.0),
            *(
                Claim(**PLAYED, claim_id=f"c{n}", text="drink: tea", value=1.0) for n in range(3, 12)
            ),
            Claim(**PLAYED, claim_id="c12", text="drink: tea", reason="no message of the period tells it"),
        ],
        "score.leaderboard": [
            Figure(**figure, assistant="full", memory="full", value=0.5, low=0.25, high=0.75),
            Figure(**figure, assistant="x", memory="x", value=None, reason="too few verdicts"),
        ],
    }  # fmt: skip


def outcomes(world, table):
    """The outcomes of one table of a world, by name."""
    expectations = [each for each in EXPECTATIONS if each.table == table]
    found = check_rows(table, world[table], expectations, world.__getitem__, DOMAIN)
    return {each.name: each for each in found}


def test_sentences_are_names_and_once_to_a_table():
    named = [(each.table, each.name) for each in EXPECTATIONS]
    assert len(named) == len(set(named))
    assert all(name.isidentifier() and name == name.lower() for _, name in named)
    assert {table for table, _ in named} == set(TABLES)


def test_a_description_says_whether_it_blocks():
    said = {each.severity: each.description for each in EXPECTATIONS}
    assert said["error"].endswith("Blocks what is built on the partition.")
    assert said["warn"].endswith("Warns, and blocks nothing.")


@pytest.mark.parametrize("table", TABLES)
def test_a_sound_world_passes(table):
    found = outcomes(sound(), table)
    assert [name for name, outcome in found.items() if not outcome.passed] == []
    assert list(found) == [each.name for each in EXPECTATIONS if each.table == table]


MAY_BE_EMPTY = [
    "question.keys",
    *(table for table in TABLES if table.split(".")[0] in ("state", "utterance", "feedback", "memory")),
    "score.claims",
]


@pytest.mark.parametrize("table", TABLES)
def test_an_empty_table_fails_only_where_there_must_be_rows(table):
    world = dict.fromkeys(TABLES, ())
    failed = [name for name, outcome in outcomes(world, table).items() if not outcome.passed]
    assert [name.startswith("there_are_") for name in failed] == ([] if table in MAY_BE_EMPTY else [True])


FAULTS = [
    ("raw.records", "records_are_json", {"content": "{"}),
    ("raw.records", "records_say_where_they_come_from", {"licence": ""}),
    ("state.profiles", "users_have_a_name", {"name": " "}),
    ("state.profiles", "start_dates_are_days", {"start_date": "2020-13-01"}),
    ("state.variables", "variables_are_of_a_user", {"user_id": "u9"}),
    ("state.variables", "variables_have_several_choices", {"choices": ["tea", "tea"]}),
    ("state.changes", "values_are_choices_of_their_variable", {"value": "coffee"}),
    ("state.changes", "changes_change_something", {"old": "tea", "value": "tea"}),
    ("state.changes", "periods_end_on_a_day", {"period_end": "20201001"}),
    ("state.entities", "entities_are_of_a_user", {"user_id": "u9"}),
    ("state.entities", "entities_are_of_a_known_kind", {"kind": "friend"}),
    ("state.entities", "attributes_are_json", {"attributes": "[]"}),
    ("utterance.turns", "messages_stand_in_an_order", {"position": 2}),
    ("utterance.turns", "messages_are_said_by_a_role", {"role": "system"}),
    ("utterance.turns", "messages_are_exchanged_or_given", {"kind": "taken"}),
    ("utterance.turns", "messages_say_something", {"text": "\n"}),
    ("question.probes", "probes_are_of_a_known_kind", {"kind": "essay", "gold": "x"}),
    ("question.probes", "probes_are_for_test_or_training", {"split": "dev"}),
    ("question.probes", "questions_say_something", {"question": ""}),
    ("question.probes", "gold_is_given", {"kind": "state", "gold": "[]"}),
    ("question.probes", "gold_is_among_the_options_once", {"gold": "3"}),
    ("question.probes", "gold_is_among_the_options_once", {"gold": "0"}),
    ("question.probes", "gold_is_among_the_options_once", {"gold": "tea"}),
    ("question.probes", "gold_is_among_the_options_once", {"options": ["tea", "tea "]}),
    ("question.probes", "training_and_test_are_disjoint", {"question": "Where, in training?"}),
    ("question.probes", "parents_are_probes", {"parent": "p99"}),
    ("question.probes", "evidence_is_in_the_stream", {"evidence": ["m1", "m9"]}),
    ("feedback.sessions", "rounds_follow_each_other", {"round": 2}),
    ("feedback.sessions", "satisfaction_is_from_1_to_10", {"satisfaction": 11}),
    ("feedback.sessions", "nobody_likes_and_dislikes", {"liked": True, "disliked": True}),
    ("feedback.sessions", "cases_are_probes", {"case_id": "p99"}),
    ("memory.transcripts", "messages_are_said_by_a_role", {"role": "tool"}),
    ("memory.transcripts", "messages_have_a_known_origin", {"origin": "nobody"}),
    ("memory.transcripts", "ticks_count_from_0", {"tick": -1}),
    ("memory.indexes", "entries_live_before_they_retire", {"until": 0}),
    ("memory.indexes", "sources_were_said", {"sources": ["m9"]}),
    ("memory.policies", "policies_keep_something", {"kinds": []}),
    ("memory.policies", "steps_follow_each_other", {"step": 3}),
    ("memory.policies", "no_more_is_correct_than_was_asked", {"correct": 1}),
    ("memory.feedback", "rounds_follow_each_other", {"round": 2}),
    ("memory.feedback", "satisfaction_is_from_1_to_10", {"satisfaction": 11}),
    ("memory.feedback", "nobody_likes_and_dislikes", {"liked": True, "disliked": True}),
    ("memory.feedback", "cases_are_probes", {"case_id": "p99"}),
    ("answer.replies", "replies_are_to_probes", {"probe_id": "p99"}),
    ("answer.replies", "recalled_entries_are_held", {"recalled": ["e9"]}),
    ("answer.replies", "ranked_entries_are_held", {"ranked": ["e9"]}),
    ("answer.replies", "unread_answers_say_why", {"parsed": None}),
    ("score.verdicts", "verdicts_are_of_replies", {"probe_id": "p99"}),
    ("score.verdicts", "values_lie_in_their_metrics_range", {"value": 1.5}),
    ("score.verdicts", "verdicts_have_a_value_or_a_reason", {"value": None}),
    ("score.verdicts", "verdicts_have_a_value_or_a_reason", {"reason": "and a value"}),
    ("score.attributions", "attributions_are_of_verdicts", {"probe_id": "p99"}),
    ("score.attributions", "failures_add_up_to_the_loss", {"loss": 0.5}),
    ("score.attributions", "failures_add_up_to_the_loss", {"read": None}),
    ("score.attributions", "what_is_recalled_was_held", {"recalled": 3}),
    ("score.attributions", "what_is_recalled_was_held", {"held": 3}),
    ("score.attributions", "what_the_best_entries_recall_was_held", {"recalled_at_10": 3}),
    ("score.claims", "claims_are_found_or_not", {"value": 0.5}),
    ("score.claims", "claims_have_a_value_or_a_reason", {"value": None}),
    ("score.claims", "claims_have_a_value_or_a_reason", {"reason": "and a value"}),
    ("score.leaderboard", "unequal_terms_are_shown", {"unequal": "k 5, others 30"}),
    ("score.leaderboard", "coverage_lies_in_the_unit_interval", {"coverage": 1.1}),
    ("score.leaderboard", "figures_rest_on_probes", {"n": 0}),
    ("score.leaderboard", "intervals_hold_their_figure", {"value": 0.9}),
]


@pytest.mark.parametrize(
    ("table", "name", "fault"), FAULTS, ids=[f"{name}-{fault}" for _, name, fault in FAULTS]
)
def test_a_fault_in_one_row_is_found(table, name, fault):
    world = sound()
    world[table][0] = replace(world[table][0], **fault)
    outcome = outcomes(world, table)[name]
    assert not outcome.passed
    assert outcome.unexpected >= 1
    assert outcome.total == len(world[table])
    assert outcome.offending


def test_every_rule_of_one_table_has_a_fault_that_it_finds():
    general = ("_are_unique", "_lack_no_required_column", "_are_quarantined")
    tested = {(table, name) for table, name, _ in FAULTS} | {
        *((each.table, each.name) for each in amemgym.EXPECTED),  # its own tests damage users
        *((each.table, each.name) for each in memorybench.EXPECTED),  # and these, feedback
        *((each.table, each.name) for each in played.EXPECTED),  # and these, what was played
        *(
            (each.table, each.name) for each in membench.EXPECTED
        ),  # and these, lives, trajectories and questions
        ("question.probes", "gold_stands_at_every_place_alike"),
        ("score.leaderboard", "one_simulator_per_board"),
        ("score.leaderboard", "failures_add_up_to_the_errors"),  # amemgym/test_scores.py
        ("score.leaderboard", "one_prompt_and_model_per_comparison"),  # tests/memflow/test_board.py
        ("memory.indexes", "few_writes_failed"),
        ("answer.replies", "every_probe_has_a_reply"),
        ("score.verdicts", "every_reply_has_a_verdict"),
    }
    named = {(each.table, each.name) for each in EXPECTATIONS}
    assert {
        (table, name)
        for table, name in named
        if not name.endswith(general) and not name.startswith("there_are_")
    } == tested


def test_a_key_twice_names_both_rows():
    world = sound()
    world["question.probes"].append(world["question.probes"][1])
    outcome = outcomes(world, "question.probes")["probes_are_unique"]
    assert (outcome.passed, outcome.unexpected, outcome.severity) == (False, 2, "error")
    assert outcome.offending == ("domain=d, probe_id=p2", "domain=d, probe_id=p2")


def test_a_null_where_none_may_be_is_found():
    world = sound()
    world["question.probes"][2] = replace(world["question.probes"][2], revealed=None)
    outcome = outcomes(world, "question.probes")["probes_lack_no_required_column"]
    assert (outcome.unexpected, outcome.offending) == (1, ("domain=d, probe_id=p3",))


def test_no_more_than_three_offending_rows_are_shown():
    world = sound()
    world["question.probes"] = [replace(each, kind="essay") for each in world["question.probes"]]
    outcome = outcomes(world, "question.probes")["probes_are_of_a_known_kind"]
    assert (outcome.unexpected, len(outcome.offending)) == (12, 3)


@pytest.mark.parametrize(("quarantined", "passed"), [(1, True), (2, False)])
def test_a_tenth_may_be_quarantined(quarantined, passed):
    world = sound()
    world["memory.transcripts"] = [
        replace(
            world["memory.transcripts"][0], message_id=f"m{n}", reason="lost" if n < quarantined else None
        )
        for n in range(10)
    ]
    outcome = outcomes(world, "memory.transcripts")["few_messages_are_quarantined"]
    assert (outcome.passed, outcome.unexpected, outcome.severity) == (passed, quarantined, "warn")


@pytest.mark.parametrize(("failed", "passed"), [(1, True), (2, False)])
def test_a_tenth_of_what_a_memory_writes_may_fail(failed, passed):
    world = sound()
    entry = world["memory.indexes"][0]
    world["memory.indexes"] = [
        replace(entry, entry_id=f"e{n}", kind="failure" if n < failed else entry.kind) for n in range(10)
    ]
    outcome = outcomes(world, "memory.indexes")["few_writes_failed"]
    assert (outcome.passed, outcome.unexpected, outcome.severity) == (passed, failed, "warn")


def test_gold_that_always_stands_first_is_found():
    world = sound()
    world["question.probes"] = [probe(n, gold="1", options=["a", "b", "c", "d"]) for n in range(12)]
    outcome = outcomes(world, "question.probes")["gold_stands_at_every_place_alike"]
    assert (outcome.passed, outcome.unexpected) == (False, 12)


def test_a_question_asked_again_counts_once_for_where_gold_stands():
    world = sound()
    asked = [
        probe(n, question=f"Question {n % 4}?", gold=str(1 + n % 4), options=["a", "b", "c", "d"])
        for n in range(4)
    ]
    again = [replace(asked[0], probe_id=f"again{n}", checkpoint=n) for n in range(40)]
    world["question.probes"] = [*asked, *again]
    assert outcomes(world, "question.probes")["gold_stands_at_every_place_alike"].passed


def test_two_simulators_on_a_board_are_found():
    world = sound()
    board = world["score.leaderboard"]
    board += [
        replace(board[0], slice="period 1", simulator="y"),
        replace(board[0], domain="e", simulator="z"),
    ]
    outcome = outcomes(world, "score.leaderboard")["one_simulator_per_board"]
    assert (outcome.severity, outcome.unexpected) == ("warn", 1)
    assert "slice=period 1" in outcome.offending[0]


def test_a_probe_nobody_answered_and_a_reply_nobody_judged_are_found():
    world = sound()
    del world["answer.replies"][0]
    del world["score.verdicts"][1]
    reply = outcomes(world, "answer.replies")["every_probe_has_a_reply"]
    assert (reply.passed, reply.offending, reply.total) == (False, ("domain=d, probe_id=p1",), 10)
    verdict = outcomes(world, "score.verdicts")["every_reply_has_a_verdict"]
    assert verdict.offending == ("domain=d, assistant=full, probe_id=p2",)


def test_a_rule_that_cannot_be_tested_is_an_error_and_no_pass():
    def breaks(rows):
        raise ValueError("no such thing")

    rule = Expectation("question.probes", "it_breaks", Together(breaks))
    with pytest.raises(ValueError, match="no such thing"):
        check_rows("question.probes", [probe(1)], [rule], {}.__getitem__)
    rule = Expectation("question.probes", "questions_are_numbers", Between("question", 0, 1))
    with pytest.raises(MemflowError, match="could not test questions_are_numbers of question"):
        check_rows("question.probes", [probe(1), probe(2)], [rule], {}.__getitem__)


def test_a_partition_is_checked_with_the_tables_it_refers_to(tmp_path):
    lake = Lake(tmp_path / "lake")
    warehouse = Warehouse(lake, tmp_path / "memflow.duckdb")
    world = sound()
    del world["score.verdicts"][0]
    for table, rows in world.items():
        place = (
            "d/full"
            if table.split(".")[0] in ("memory", "answer")
            or table in ("score.verdicts", "score.attributions")
            else "d"
        )
        lake.write(table, "all" if table == "score.leaderboard" else place, rows, recipe="")
    failed = [each.name for each in check("score.verdicts", "d/full", warehouse) if not each.passed]
    assert failed == ["every_reply_has_a_verdict"]
    assert all(each.passed for each in check("question.probes", "d", warehouse, DOMAIN))
    with pytest.raises(BadInput, match="depends on the domain; say which"):
        check("question.probes", "d", warehouse)
    assert all(each.passed for each in check("score.leaderboard", "all", warehouse))
    with pytest.raises(MissingData, match="materialize the asset answer/replies"):
        check("answer.replies", "d/none", warehouse)
    with pytest.raises(BadInput):
        check("nothing", "d", warehouse)
