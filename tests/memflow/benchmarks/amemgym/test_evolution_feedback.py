"""Feedback for self-evolution in its three variants."""

import json

import factories

from memflow.benchmarks.amemgym.evolution_feedback import make_evolution_feedback
from memflow.records import Probe, Reply, Turn


def probe(period: int, question: str, gold: str) -> Probe:
    return factories.probe(
        probe_id=f"u/p{period}/{question}",
        episode_id="u",
        checkpoint=period,
        question=question,
        options=["do this", "do that"],
        variables=["mood"],
        gold=gold,
    )


def reply(to: Probe, parsed: str | None) -> Reply:
    return factories.reply(probe_id=to.probe_id, episode_id="u", checkpoint=to.checkpoint, parsed=parsed)


def turn(period: int, exposes: dict[str, str], user: str = "u", reason: str | None = None) -> Turn:
    return factories.turn(episode_id=user, checkpoint=period, exposes=json.dumps(exposes), reason=reason)


PROBES = [probe(0, "how?", "1"), probe(0, "why?", "2"), probe(1, "how?", "2")]
REPLIES = [reply(PROBES[0], "1"), reply(PROBES[1], None), reply(PROBES[2], "1")]
TURNS = [
    turn(0, {"mood": "high", "pace": "slow"}),
    turn(1, {"mood": "low"}),
    turn(1, {"pace": "lost"}, reason="quarantined"),
    turn(2, {"mood": "later"}),
    turn(1, {"mood": "another's"}, user="v"),
]
OPTIONS = {"1": "do this", "2": "do that"}


def test_questions_variant_of_feedback_contains_only_question_texts() -> None:
    assert json.loads(make_evolution_feedback("questions", PROBES, REPLIES, TURNS)) == {
        "questions": ["how?", "why?"]
    }


def test_complete_variant_of_feedback_contains_answers_gold_and_states() -> None:
    assert json.loads(make_evolution_feedback("complete", PROBES, REPLIES, TURNS)) == {
        "questions": [
            {
                "question": "how?",
                "options": OPTIONS,
                "asked": [
                    {"period": 0, "answered": "1", "right": "1"},
                    {"period": 1, "answered": "1", "right": "2"},
                ],
            },
            {
                "question": "why?",
                "options": OPTIONS,
                "asked": [{"period": 0, "answered": None, "right": "2"}],
            },
        ],
        "told": {"0": {"mood": "high", "pace": "slow"}, "1": {"mood": "low"}},
    }


def test_published_code_variant_of_feedback_shifts_answers_by_one_period() -> None:
    told = json.loads(make_evolution_feedback("published_code", PROBES, REPLIES, TURNS))
    assert told == {
        "questions": [
            {
                "question": "how?",
                "options": OPTIONS,
                "asked": [{"period": 0, "answered": "2"}, {"period": 1, "answered": "2"}],
            },
            {"question": "why?", "options": OPTIONS, "asked": [{"period": 0, "answered": None}]},
        ]
    }
