"""A row or more of every table, in which every rule holds: a start for tests that damage one of them."""

from memflow.benchmarks.domains import Domain
from memflow.records import (
    Change,
    Claim,
    Entity,
    Entry,
    FailureAttribution,
    FeedbackRound,
    GoldLabel,
    PlayedRound,
    Policy,
    Probe,
    Profile,
    Record,
    Reply,
    Score,
    TranscriptMessage,
    Turn,
    Variable,
    Verdict,
)

DOMAIN = Domain("d", "memorybench", ("set",), "A small world")
DAYS = ("2020-10-01", "2021-01-01")
ASKED = {"domain": "d", "episode_id": "u1", "checkpoint": 0}
PLAYED = {**ASKED, "assistant": "full"}


def probe(number, **given):
    """Return probe `p{number}`, with the given values."""
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


def valid_rows():
    """Return rows of every table, by table, that violate no rule."""
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
            GoldLabel(
                domain="d",
                question_id="q1",
                episode_id="u1",
                checkpoint=n,
                made_by="rule",
                visible=n,
                answer="1",
            )
            for n in (1, 2)
        ],
        "question.probes": probes,
        "feedback.sessions": [
            FeedbackRound(**round_, case_id="p7", round=0, satisfaction=3, disliked=True, critique="No."),
            FeedbackRound(**round_, case_id="p7", round=1, satisfaction=8, liked=True, ended=True),
        ],
        "memory.transcripts": [
            *(TranscriptMessage(**said, position=n, message_id=f"m{n}", sequence=n) for n in range(1, 3)),
            *(
                TranscriptMessage(
                    **{**said, "role": "assistant", "origin": "assistant", "text": "Rome", "checkpoint": 1},
                    position=n, message_id=f"feedback/p7/{n}", sequence=3 + n,
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
            Verdict(**PLAYED, probe_id=each.probe_id, dataset="set", metric="locomo_f1", value=1.0) for each in asked
        ],
        "score.attributions": [
            FailureAttribution(
                **PLAYED, probe_id="p1", evidence=2, stored=2, recalled=1, entries=3, relevant=1, loss=1.0,
                write=0.0, read=1.0, utilization=0.0,
            ),
            FailureAttribution(**PLAYED, probe_id="p5", evidence=0, reason="no evidence"),
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
            Score(**figure, assistant="full", memory="full", value=0.5, low=0.25, high=0.75),
            Score(**figure, assistant="x", memory="x", value=None, reason="too few verdicts"),
        ],
    }  # fmt: skip
