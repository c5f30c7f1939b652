"""The examiner and the guesser of generated retraction probes."""

from dataclasses import replace

import pytest

from memflow.benchmarks import registry
from memflow.benchmarks.retraction.checks import find_guessable_answers, find_wrong_golds
from memflow.benchmarks.retraction.examination import Line, read_day, read_lines
from memflow.benchmarks.retraction.load import shipped_words
from memflow.benchmarks.retraction.probes import form_of
from memflow.benchmarks.retraction.wording import reword_user
from memflow.chat.scripted import ScriptedChat
from memflow.records import STORED
from tests.memflow.benchmarks.retraction.conftest import generate


def test_examiner_recomputes_every_gold_from_messages(generated) -> None:
    findings = find_wrong_golds(generated.probes, generated.turns)
    asked = [probe for probe in generated.probes if probe.kind != STORED]
    assert not findings and findings.note == f"{len(asked)} of {len(asked)} probes examined, 0 not read"


def test_examiner_finds_planted_wrong_golds_of_every_kind(generated) -> None:
    kinds, planted = {}, list(generated.probes)
    for at, probe in enumerate(planted):
        if probe.kind != STORED:
            kinds.setdefault((probe.category, form_of(probe)), at)
    for at in kinds.values():
        probe = planted[at]
        wrong = str(int(probe.gold) % len(probe.options) + 1) if probe.options else "another answer"
        planted[at] = replace(probe, gold=wrong)
    assert {category for category, _ in kinds} >= {
        "retract",
        "cascade",
        "clear",
        "restate",
        "neighbor",
        "never",
    }
    assert set(find_wrong_golds(planted, generated.turns)) == set(kinds.values())


def test_missing_request_makes_golds_of_its_fact_wrong(generated) -> None:
    request = next(turn for turn in generated.turns if turn.forgets is not None and turn.checkpoint == 1)
    turns = [turn for turn in generated.turns if turn.message_id != request.message_id]
    wrong = find_wrong_golds(generated.probes, turns)
    resting = [at for at, probe in enumerate(generated.probes) if request.message_id in probe.evidence]
    assert set(resting) <= set(wrong) | {
        at for at in resting if generated.probes[at].category == "retract_never"
    }


def test_constant_guesses_are_not_better_than_chance() -> None:
    probes = generate(languages=("en", "zh")).probes
    findings = find_guessable_answers(probes)
    assert not findings, findings.note
    to_first = [replace(probe, gold="1") for probe in probes]
    assert find_guessable_answers(to_first)


@pytest.mark.parametrize(
    ("request_text", "answer"),
    [
        ("Delete what I said about my dog, please.", "I can't answer that."),
        ("请删除有关我小狗的内容。", "I can't answer that."),
        ("Erase what I told you on 3 March 2026.", "I can't answer that."),
        ("Erase what I told you on 4 March 2026.", "Rufus"),
        ("Please forget what I said about my sister's dog.", "Rufus"),
        ("A friend says: “Your dog is called Mango.”", "Rufus"),
        ("I got a letter that says my dog is called Mango.", "Rufus"),
        ("My dog is called Mango.", "Mango"),
    ],
)
def test_request_ends_its_own_fact_only(request_text: str, answer: str) -> None:
    told = Line("user", "My dog is called Rufus.", read_day("2026-03-03"))
    request = Line("user", request_text, read_day("2026-04-01"))
    knowledge = read_lines(shipped_words()["en"], [told, request])
    assert knowledge.answer("What is my dog called?") == answer


def test_message_of_assistant_states_nothing() -> None:
    knowledge = read_lines(shipped_words()["en"], [Line("assistant", "Your dog is called Rufus.")])
    assert knowledge.answer("What is my dog called?") == "I can't answer that."


def test_fact_is_kept_from_its_audience_only() -> None:
    words = shipped_words()["en"]
    lines = [
        Line("user", "My dog is called Rufus."),
        Line("user", "Please keep the name of my dog to yourself when it is for my colleagues."),
    ]
    knowledge = read_lines(words, lines)
    answers = {
        audience: knowledge.answer(words.filled(words.questions[audience], indirect=words.indirect("dog")))
        for audience in ("work", "family")
    }
    assert answers == {"work": "I can't answer that.", "family": "Rufus"}


async def test_simulator_rewords_the_messages_of_every_user() -> None:
    domain, records, turns, _ = generate(languages=("en", "zh"), users=2, wording="simulator")
    handlers = {
        "retraction/reword": lambda request: f"Well. {request.fields['message']}",
        "retraction/reword_zh": lambda request: f"好。{request.fields['message']}",
    }
    reworded = await registry.benchmark("retraction").turns(domain, records, ([], []), ScriptedChat(handlers))
    assert [turn.text.removeprefix("Well. ").removeprefix("好。") for turn in reworded] == [
        turn.text for turn in turns
    ]
    assert all(
        (old.text == new.text) == (old.role != "user") for old, new in zip(turns, reworded, strict=True)
    )


async def test_user_is_quarantined_if_new_words_change_a_fact() -> None:
    turns = [turn for turn in generate(languages=("en",), users=1).turns if turn.event < 3]

    def reworded(text: str):
        handlers = {"retraction/reword": lambda request: text or f"Well. {request.fields['message']}"}
        return reword_user(turns, shipped_words()["en"], ScriptedChat(handlers))

    assert [turn.text for turn in await reworded("") if turn.role == "user"] == [
        f"Well. {turn.text}" for turn in turns if turn.role == "user"
    ]
    lost = await reworded("I would rather talk of something else.")
    assert all("could not be reworded" in turn.reason for turn in lost)


@pytest.mark.parametrize(
    ("message", "wording", "reason"),
    [
        ("Please forget what I said about my car.", "Please do not forget my car.", "more negations"),
        ("My apartment is in Porto.", "My apartment is no longer in Porto.", "more negations"),
        (
            "A friend says: “Your dog is called Mango.”",
            "Your dog, says a friend, is called.",
            "quote the same",
        ),
        ("Just to be sure, forget my car.", "I want to be sure about it.", "take back or restrict"),
        ("I finally cleaned the windows.", "I finally cleaned them. " * 4, "times the length"),
    ],
)
async def test_wording_of_another_content_is_rejected(message: str, wording: str, reason: str) -> None:
    [turn] = [
        turn for turn in generate(languages=("en",), users=1).turns if turn.event == 0 and turn.role == "user"
    ]
    chat = ScriptedChat({"retraction/reword": lambda request: wording})
    [reworded] = await reword_user([replace(turn, text=message)], shipped_words()["en"], chat)
    assert reason in (reworded.reason or "")
