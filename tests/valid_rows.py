"""A row or more of every table, in which every rule holds: a start for tests that damage one of them."""

import factories as make

from memflow.benchmarks.domains import Domain
from memflow.records import Calibration, Drift, ProbeRanking, ProbeRetrieval

DOMAIN = Domain("d", "memorybench", ("set",), "A small world")
DAYS = ("2020-10-01", "2021-01-01")


def probe(number, **given):
    """Return probe `p{number}`, with the given values."""
    values = {"probe_id": f"p{number}", "question": f"Question {number}?", "options": ["tea", "water"]}
    values |= {"gold": str(1 + number % 2), "revealed": "drinks tea", "evidence": ["m1"], "metric": "choice"}
    return make.probe(**{**values, **given})


def valid_rows():
    """Return rows of every table, by table, that violate no rule."""
    probes = [
        *(probe(number) for number in (1, 2, 3, 4, 9, 10, 11, 12)),
        probe(5, kind="open", options=[], gold="Oslo"),
        probe(6, kind="state", options=[], gold='{"drink": "tea"}', parent="p1"),
        probe(7, split="train", kind="open", options=[], gold="Oslo", question="Where, in training?"),
        probe(8, split="train", reason="the model gave no gold", gold="", options=[], question=""),
    ]
    tested = [each.probe_id for each in probes if each.split == "test"]
    message = {"role": "user", "text": "I like tea."}
    reply = {"role": "assistant", "origin": "assistant", "text": "Rome", "checkpoint": 1}
    claim = {"text": "drink: tea"}
    round_ = {"case_id": "p7", "user_text": "Where?", "answer": "Rome"}
    first, last = {"round": 0, "critique": "No."}, {"round": 1, "satisfaction": 8, "ended": True}
    score = {"metric": "overall", "model": "scripted", "n": 6, "simulator": "x", "scripted": True}
    return {
        "raw.records": [
            make.record(record_id=str(n), position=n, sha256="0" * 64, content='{"a": 1}') for n in range(2)
        ],
        "state.profiles": [make.profile(start_date=DAYS[0])],
        "state.variables": [make.variable(variable="drink", choices=["tea", "water"])],
        "state.changes": [
            make.change(period=n, period_end=DAYS[n], variable="drink", old=old, value=value, event=event)
            for n, (old, value, event) in enumerate(
                [(None, "tea", None), ("tea", "water", "A doctor's word.")]
            )
        ],
        "state.entities": [
            make.entity(entity_id=name, kind="relative", name=name, attributes='{"age": "61 years old"}')
            for name in ("Eve", "Ida")
        ],
        "utterance.turns": [
            make.turn(
                **message, kind="given", checkpoint=n, position=1 + n, message_id=f"m{1 + n}", exposes=exposes,
                sent_at=f"{DAYS[n]} 19:00:00",
            )
            for n, exposes in enumerate(('{"drink": "tea"}', '{"drink": "water"}'))
        ],
        "question.keys": [make.gold_label(checkpoint=n, made_by="rule", visible=n, answer="1") for n in (1, 2)],
        "question.probes": probes,
        "feedback.sessions": [
            make.feedback_round(**round_, **first, satisfaction=3, disliked=True),
            make.feedback_round(**round_, **last, liked=True),
        ],
        "memory.transcripts": [
            *(
                make.transcript_message(**message, origin="given", position=n, message_id=f"m{n}", sequence=n)
                for n in (1, 2)
            ),
            *(
                make.transcript_message(**reply, position=n, message_id=f"feedback/p7/{n}", sequence=3 + n)
                for n in (1, 3)
            ),
        ],
        "memory.indexes": [
            make.entry(kind="message", entry_id="e1", since=1, sources=["m1"], until=2),
            make.entry(kind="message", entry_id="e2", since=1, sources=["m1", "m2"]),
        ],
        "memory.policies": [
            make.policy(step=n, kinds=["drinks"], asked=n, answered=n, correct=n, since=n) for n in range(2)
        ],
        "memory.feedback": [make.played_round(**round_, checkpoint=1, **each) for each in (first, last)],
        "answer.replies": [
            make.reply(probe_id=name, parsed="1", recalled=["e2"], recalled_sources=["m1"]) for name in tested
        ],
        "score.verdicts": [make.verdict(probe_id=name, metric="locomo_f1", value=1.0) for name in tested],
        "score.attributions": [
            make.attribution(
                evidence=2, stored=2, recalled=1, entries=3, relevant=1, loss=1.0, write=0.0, read=1.0,
                utilization=0.0,
            ),
            make.attribution(probe_id="p5", evidence=0, reason="no evidence"),
        ],
        "score.claims": [
            make.claim(**claim, claim_id="c1", value=1.0),
            make.claim(**claim, claim_id="c2", value=0.0),
            *(make.claim(**claim, claim_id=f"c{n}", value=1.0) for n in range(3, 12)),
            make.claim(**claim, claim_id="c12", reason="no message of the period tells it"),
        ],
        "score.calibrations": [
            make.row(
                Calibration, judge="small", metric="accuracy", prompt="d/judge", language="en", cases=4, right=2,
                accepted_right=2, wrong=2, accepted_wrong=0, out_of_form=0, scripted=False, fingerprint="f",
                passed=True,
            ),
        ],
        "score.health": [
            make.health_measure(measure="empty_reads", state="ok", value=0.0, n=8),
            make.health_measure(measure="item_cap", state="not measurable", reason="no read asked for k items"),
        ],
        "score.retrieval": [
            make.row(ProbeRetrieval, ranking="text", evidence=2, stored=2, recalled=1.0, ranks=[3.0]),
            make.row(ProbeRetrieval, probe_id="p5", ranking="memory", reason="no export"),
        ],
        "score.rankings": [
            make.row(ProbeRanking, evidence=2, stored=2, returned=5, found=[3.0], relevant=[3.0], k=5, recalled=1),
            make.row(ProbeRanking, probe_id="p5", evidence=0, reason="no evidence is named"),
        ],
        "score.comparisons": [
            make.comparison(
                b="none", value_a=0.75, value_b=0.25, difference=0.5, low=0.25, high=0.75, p=0.01,
                p_adjusted=0.02, n=20, n_episodes=10, better="a",
            ),
            make.comparison(b="oracle", n=0, n_episodes=0, reason="no probe has a value for both"),
        ],
        "score.leaderboard": [
            make.score(**score, value=0.5, low=0.25, high=0.75),
            make.score(**score, assistant="x", memory="x", value=None, reason="too few verdicts"),
        ],
        "score.history": [
            make.published_score(**score, value=0.6, publication=1, published_at="2026-01-01T00:00:00+00:00"),
            make.published_score(
                **score, value=0.5, low=0.25, high=0.75, publication=2, published_at="2026-01-02T00:00:00+00:00"
            ),
        ],
        "score.drift": [
            make.row(
                Drift, published_at="2026-02-01", before_at="2026-01-01", changes=["judge: a -> b"], before=0.5,
                after=0.25, difference=-0.25, low=-0.5, high=0.0, p=0.2, p_adjusted=0.4, users=-0.25,
                answers=0.0, judging=0.0,
            )
        ],
    }  # fmt: skip
