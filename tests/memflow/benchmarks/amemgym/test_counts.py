"""Counts of the published users in the tables, compared with the published counts of all 20 or the first 12 users."""

import json
from collections import Counter, defaultdict

import pytest

COUNTS = {
    12: {
        "sessions": (158, 421),
        "questions": 120,
        "options": 534,
        "lived and filled up": (506, 28),
        "variables": 240,
        "options of a question": {4: 74, 5: 39, 6: 6, 7: 1},
        "states of a question": {2: 4, 3: 20, 4: 50, 5: 39, 6: 6, 7: 1},
        "changes of a period": {4: 114, 5: 6},
        "changes of a variable": {1: 56, 2: 126, 3: 54, 4: 4},
        "sessions of period 0": {10: 3, 11: 4, 12: 1, 13: 1, 19: 1, 20: 2},
        "sessions of a later period": {2: 4, 3: 51, 4: 65},
        "values of a session": {1: 434, 2: 143, 3: 2},
        "variables that come back": 129,
        "variables of several questions": 0,
        "values told, and in so many words": (726, 143),
        "first session": "2020-09-12",
    },
    20: {
        "sessions": (249, 694),
        "questions": 200,
        "options": 882,
        "lived and filled up": (831, 51),
        "variables": 398,
        "options of a question": {4: 132, 5: 56, 6: 10, 7: 2},
        "states of a question": {2: 8, 3: 35, 4: 89, 5: 56, 6: 10, 7: 2},
        "changes of a period": {4: 192, 5: 8},
        "changes of a variable": {1: 97, 2: 200, 3: 93, 4: 8},
        "sessions of period 0": {10: 5, 11: 7, 12: 3, 13: 1, 14: 1, 19: 1, 20: 2},
        "sessions of a later period": {2: 7, 3: 101, 4: 92},
        "values of a session": {1: 683, 2: 256, 3: 4},
        "variables that come back": 221,
        "variables of several questions": 2,
        "values told, and in so many words": (1207, 233),
        "first session": "2020-09-12",
    },
}


@pytest.fixture(scope="module")
def counts(base):
    if len(base.records) not in COUNTS:
        pytest.skip(f"the file has {len(base.records)} users; the counts of 12 and of 20 are known")
    return COUNTS[len(base.records)]


@pytest.fixture(scope="module")
def asked(base):
    found = {}
    for probe in base.of_kind("choice"):
        found.setdefault((probe.episode_id, probe.question), (probe, set()))[1].add(int(probe.gold))
    return list(found.values())


def tallied(values) -> dict:
    return dict(sorted(Counter(values).items()))


def test_sessions_per_period_match_published_counts(base, counts):
    opening = [turn for turn in base.turns if turn.checkpoint == 0]
    assert (len(opening), len(base.turns) - len(opening)) == counts["sessions"]
    by_period = Counter((turn.episode_id, turn.checkpoint) for turn in base.turns)
    at_first = [n for (_, period), n in by_period.items() if period == 0]
    later = [n for (_, period), n in by_period.items() if period > 0]
    assert tallied(at_first) == counts["sessions of period 0"]
    assert tallied(later) == counts["sessions of a later period"]
    assert min(turn.sent_at for turn in base.turns)[:10] == counts["first session"]


def test_numbers_of_questions_and_options_match_published_counts(asked, counts):
    assert len(asked) == counts["questions"]
    assert sum(len(probe.options) for probe, _ in asked) == counts["options"]
    lived = sum(len(numbers) for _, numbers in asked)
    assert (lived, counts["options"] - lived) == counts["lived and filled up"]
    assert tallied(len(probe.options) for probe, _ in asked) == counts["options of a question"]
    assert tallied(len(numbers) for _, numbers in asked) == counts["states of a question"]
    assert {len(probe.variables) for probe, _ in asked} == {2}


def test_numbers_of_variables_and_state_changes_match_published_counts(base, counts):
    assert len(base.states.variables) == counts["variables"]
    assert {len(row.choices) for row in base.states.variables} == {3}
    assert (
        sum(len(row.questions) > 1 for row in base.states.variables)
        == counts["variables of several questions"]
    )
    later = [row for row in base.states.changes if row.period > 0]
    by_period = Counter((row.user_id, row.period) for row in later)
    assert len(by_period) == 10 * len(base.records)
    assert tallied(by_period.values()) == counts["changes of a period"]
    by_variable = Counter((row.user_id, row.variable) for row in later)
    assert tallied(by_variable.values()) == counts["changes of a variable"]

    taken = defaultdict(list)
    for row in base.states.changes:
        taken[row.user_id, row.variable].append(row.value)
    assert (
        sum(len(set(values)) < len(values) for values in taken.values()) == counts["variables that come back"]
    )


def test_numbers_of_values_exposed_by_messages_match_published_counts(base, counts):
    told = [(turn, json.loads(turn.exposes)) for turn in base.turns]
    assert tallied(len(values) for _, values in told) == counts["values of a session"]
    pairs = [(turn.text.lower(), value) for turn, values in told for value in values.values()]
    in_words = sum(value.replace("_", " ").lower() in text for text, value in pairs)
    assert (len(pairs), in_words) == counts["values told, and in so many words"]


def test_variants_of_probe_options_match_published_states_and_types(base, asked):
    published = {
        (user["id"], question["query"]): question["answer_choices"]
        for user in (json.loads(record.content) for record in base.records)
        for question in user["qas"]
    }
    for probe, lived in asked:
        choices = published[probe.episode_id, probe.question]
        assert [json.loads(variant) for variant in probe.variants] == [choice["state"] for choice in choices]
        types = ["experience" if number in lived else "random" for number in range(1, 1 + len(choices))]
        assert types == [choice["type"] for choice in choices]
