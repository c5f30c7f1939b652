"""DialSim's script and pickle, and question files of users."""

import json
import pickle
from typing import Any

import pytest

from memflow.benchmarks.api import Question
from memflow.benchmarks.memorybench.benchmark import MemoryBench
from memflow.benchmarks.memorybench.load import build_pools
from memflow.benchmarks.memorybench.probes import probes
from memflow.benchmarks.memorybench.selection import select
from memflow.benchmarks.memorybench.split import fixed_sample
from memflow.benchmarks.memorybench.tasks.dialsim import DRAWN_QUESTIONS
from memflow.benchmarks.memorybench.tasks.task import Pool
from memflow.benchmarks.registry import find_domain
from memflow.memories.memory import Recall
from tests.reader_faults import reported_faults

NAME = "dialsim_friends"
SCRIPT, PICKLE, OWN = (
    f"dialsim/{name}"
    for name in ("dialsim_corpus_friends.txt", "friends_dialsim.pickle", "friends_questions.json")
)
OPEN = find_domain("memorybench_open")
TEXT = b"""[Date: May 1, 1994, Session #1]\r
\r
Ann: I bought a kite.\r
Bo: Did you: really?\r
\r
[Date: May 2, 1994, Session #2]\r
 \r
Bo: \r
It flies,\r
it flies.\r
Ann: \r
All: Oh.\r
"""


def scene(questions: dict[Any, Any], date: str = "May 2, 1994") -> dict[str, Any]:
    others = {
        "dont_know_unans": {1: {"questions": {"default": "Who?"}, "options": [], "answer": "I don't know."}}
    }
    return {
        "date": date,
        "script": "Ann: I bought a kite.",
        "hard_q": {"past": [{"questions": {"default": "When?"}, "options": [], "answer": "May"}]},
        "easy_q": {**others, "ans_w_time": questions},
    }


def quiz(words: str, answer: str = "A kite") -> dict[str, Any]:
    return {
        "questions": {"default": words, "Bo": f"{words} (Bo)"},
        "options": ["A kite", "A boat"],
        "answer": answer,
    }


EPISODES = {
    "S01E01 The Kite.txt": {
        1: scene(
            {
                350: quiz("What did Ann buy on May 1, 1994?"),
                351: {"questions": {}, "options": [], "answer": ""},
            }
        ),
        2: scene({}, "May 3, 1994"),
    },
    "S01E02 The Boat.txt": {1: scene({7: quiz("Who flew it on May 2, 1994?", "Bo")}, "May 9, 1994")},
}


def pool(records: Any) -> Pool:
    (only,) = build_pools(records)
    return only


def put(records: Any) -> tuple[Any, Question]:
    probe = probes("d", select(OPEN, records))[0]
    return probe, MemoryBench().question(OPEN, probe, Recall(notes="Ann: I bought a kite."), None)


def test_dialsim_script_is_read_into_sessions_with_dates_and_speakers(read_files) -> None:
    corpus = pool(read_files(NAME, {SCRIPT: TEXT})).corpus
    assert [session.date for session in corpus] == ["May 1, 1994", "May 2, 1994"]
    said = [(each.message_id, each.speaker, each.text) for session in corpus for each in session.messages]
    assert said == [
        ("D1:1", "Ann", "I bought a kite."),
        ("D1:2", "Bo", "Did you: really?"),
        ("D2:1", "Bo", "It flies,\nit flies."),
        ("D2:5", "All", "Oh."),
    ]
    assert {each.role for session in corpus for each in session.messages} == {"user"}


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_dialsim_pickle_gives_cases_of_answerable_questions_with_time(read_files, protocol: int) -> None:
    records = read_files(NAME, {SCRIPT: TEXT, PICKLE: pickle.dumps(EPISODES, protocol)})
    cases = pool(records).cases
    assert [(case.question, case.gold, case.asked_at) for case in cases] == [
        ("What did Ann buy on May 1, 1994?", "A kite", "May 2, 1994"),
        ("Who flew it on May 2, 1994?", "Bo", "May 9, 1994"),
    ]
    assert records[2].record_id == "S01E01 The Kite.txt, scene 1, ans_w_time 350"


def test_dialsim_test_and_training_cases_are_sampled_from_300_questions(read_files) -> None:
    own = [{"question": f"Q{number}?", "answer": "A", "date": "May 2, 1994"} for number in range(1000)]
    records = read_files(NAME, {SCRIPT: TEXT, OWN: json.dumps(own).encode()})
    first = sorted(fixed_sample(range(1000), DRAWN_QUESTIONS))
    assert [case.case_id for case in pool(records).cases] == [str(place) for place in first]
    (selected,) = select(OPEN, records)
    assert (len(selected.test), len(selected.train)) == (17, 66)
    sampled = fixed_sample(range(DRAWN_QUESTIONS), 83)
    assert [case.case_id for case in selected.test] == [
        str(first[place]) for place in fixed_sample(sampled, 17)
    ]


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({SCRIPT: b""}, "first line of the script has another form"),
        ({SCRIPT: TEXT + b"[Date: May 3, 1994, Session #3]\n\nnobody speaks\n"}, "session 3: the session has no line"),
        ({SCRIPT: TEXT, OWN: b"{}"}, "the file is not a JSON list of questions"),
        ({SCRIPT: TEXT, PICKLE: b"PK\x03\x04"}, "not a pickle"),
        ({SCRIPT: TEXT, PICKLE: pickle.dumps([EPISODES])}, "the whole file is not a Python dict"),
        ({SCRIPT: TEXT, PICKLE: pickle.dumps({"S01E01": {1: {"date": "May 2, 1994"}}})}, "scene 1: at easy_q"),
        ({SCRIPT: TEXT, PICKLE: pickle.dumps({"E1": {1: scene({4: quiz("Who?", "")})}})}, "ans_w_time 4: at answer"),
        ({SCRIPT: TEXT, PICKLE: pickle.dumps({})}, "no answerable question"),
    ],
)  # fmt: skip
def test_dialsim_reader_reports_fault_in_file(read_files, files: dict[str, bytes], said: str) -> None:
    faults = reported_faults(lambda: read_files(NAME, files))
    assert "dialsim/" in faults and said in faults


def test_published_dialsim_script_is_read_with_all_sessions(read_published) -> None:
    """Count 788 sessions. The published count is 787, since the published pattern misses session 203."""
    corpus = pool(read_published(NAME)).corpus
    assert (len(corpus), sum(len(session.messages) for session in corpus)) == (788, 18_653)
    assert corpus[0].date == "September 22, 1994"
    assert sum(len(session.messages) for place, session in enumerate(corpus, start=1) if place == 203) == 16
    named = [
        line
        for record in read_published(NAME)
        for line in json.loads(record.content)["script"].split("\n")
        if ":" in line
    ]
    assert len(named) == 18_648 + 16
