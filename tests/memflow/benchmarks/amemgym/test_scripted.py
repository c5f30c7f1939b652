"""The scripted chat: a handler for every prompt, and parsing of statements."""

import json
import re

import pytest

from memflow.benchmarks.amemgym.benchmark import AMemGym
from memflow.benchmarks.amemgym.scripted_words import in_words, vocabularies
from memflow.benchmarks.amemgym.wording import JUDGE, PACKAGE, prompt
from memflow.benchmarks.registry import find_domain
from memflow.chat.prompts import prompt_stems, translated_stems
from memflow.chat.requests import ChatRequest


def test_amemgym_declares_every_simulator_prompt_and_judge_prompt():
    simulated = {prompt.name.removeprefix("amemgym/") for prompt in AMemGym().simulator_prompts()}
    asked = {stem for stem in prompt_stems(PACKAGE) if not stem.endswith("_zh")}
    assert asked - simulated - {*JUDGE} == {
        f"{stem}{how}" for stem in ("choice", "state") for how in ("", "_with_notes", "_told")
    } | {"reply", "reply_with_notes"}
    assert simulated == {*(simulated & asked), *(f"{stem}_zh" for stem in simulated & asked)}
    judged = AMemGym().judge_prompts(find_domain("amemgym_demo"), "score.claims")
    assert [prompt.name for prompt in judged] == [f"amemgym/{stem}" for stem in JUDGE]
    assert AMemGym().judge_prompts(find_domain("amemgym_demo"), "score.verdicts") == []


@pytest.mark.parametrize("stem", sorted(translated_stems(PACKAGE)))
def test_chinese_prompt_has_same_fields_output_and_limits_as_english_prompt(stem):
    english, chinese = prompt(stem), prompt(stem, language="zh")
    assert (chinese.name, chinese.language) == (f"{english.name}_zh", "zh")
    for what in ("fields", "output", "max_tokens", "temperature"):
        assert getattr(chinese, what) == getattr(english, what), what
    assert [role for role, _ in chinese.sections] == [role for role, _ in english.sections]
    assert re.search("[\u4e00-\u9fff]", chinese.sections[0][1] or chinese.sections[1][1])


def texts_by_value(vocabulary):
    """Yield the name of each value in words, the sentences that state it, and the advice for it."""
    for values in [*(topic["variables"] for topic in vocabulary.topics.values()), vocabulary.shared]:
        for variable, texts_of in values.items():
            for value, texts in texts_of.items():
                if "told" in texts:
                    yield in_words(value), [*texts["told"], *texts["news"]]
                assert ("advice" in texts) == (values is not vocabulary.shared), variable


@pytest.mark.parametrize("language", ["en", "zh"])
def test_scripted_sentences_state_exactly_their_value_and_options_state_none(language):
    vocabulary = vocabularies()[language]
    stating = list(texts_by_value(vocabulary))
    values = [value for value, _ in stating]
    assert len(set(values)) == len(values) >= 70
    for value, sentences in stating:
        for sentence in sentences:
            assert [other for other in values if other in in_words(sentence)] == [value], sentence
    questions = [topic["question"] for topic in vocabulary.topics.values()]
    for text in (
        *vocabulary.advice_values,
        *vocabulary.exchanges,
        *vocabulary.exchanges.values(),
        *questions,
        *(frame for frames in vocabulary.frames.values() for frame in frames),
    ):
        assert [value for value in values if value in in_words(text)] == [], text
    assert len(vocabulary.advice_values) == sum(
        len(texts) for topic in vocabulary.topics.values() for texts in topic["variables"].values()
    )


@pytest.mark.parametrize("language", ["en", "zh"])
def test_scripted_replies_answer_the_question_that_was_asked(language):
    vocabulary, suffix = vocabularies()[language], "_zh" if language == "zh" else ""
    assert len(set(vocabulary.exchanges.values())) == len(vocabulary.exchanges) == 144
    for topic in vocabulary.topics.values():
        for ask, reply, follow_up, reply_to_follow_up in topic["exchanges"]:
            fields = {
                "query": f"[Current Time: 2020-10-01]\n{ask}",
                "context": f"user: {ask}\nassistant: {reply}",
            }
            assert answer(f"amemgym/follow_up{suffix}", **fields) == follow_up
            assert answer("amemgym/reply", message=fields["query"]) == reply
            assert answer("amemgym/reply", message=follow_up) == reply_to_follow_up
            later = answer(f"amemgym/follow_up{suffix}", **fields | {"context": f"user: {follow_up}"})
            assert later in vocabulary.exchanges and later not in (ask, follow_up)


def test_message_sets_question_apart_from_connected_statements():
    changes = {
        "watering_time": {"from": None, "to": "away_most_weekends"},
        "growing_place": {"from": None, "to": "a_garden_plot"},
    }
    fields = {"changes": json.dumps(changes), "date": "2024-05-01", "profile": "a"}
    text = answer("amemgym/utterance", **fields).text
    vocabulary = vocabularies()["en"]
    news = []
    for name, value in (("watering time", "away most weekends"), ("growing place", "a garden plot")):
        texts = vocabulary.worded[name][value].news
        news.append(
            [
                sentence
                for sentence in texts
                if vocabulary.within_sentence(sentence) in text or sentence in text
            ]
        )
    assert [len(sentences) for sentences in news] == [1, 1]
    told = vocabulary.joined([sentences[0] for sentences in news])
    asks = [exchange[0] for exchange in vocabulary.topics["plants"]["exchanges"]]
    fields = [{"told": told, "aside": vocabulary.within_sentence(told), "ask": ask} for ask in asks]
    assert text in [frame.format(**parts) for frame in vocabulary.frames["news"] for parts in fields]
    assert " Also, " in text


@pytest.mark.parametrize(("suffix", "language"), [("", "en"), ("_zh", "zh")])
def test_user_asks_another_question_for_each_variable_and_period(suffix, language):
    vocabulary = vocabularies()[language]
    for topic, words in vocabulary.topics.items():
        asks = []
        for date in ("2020-10-01", "2021-01-01", "2021-04-01"):
            for name, values in vocabulary.variables(topic, 2, 3).items():
                changes = json.dumps({name: {"from": None, "to": values[0]}})
                text = answer(f"amemgym/utterance{suffix}", changes=changes, date=date, profile="a").text
                asks += [exchange[0] for exchange in words["exchanges"] if exchange[0] in text]
        assert len(asks) == len(set(asks)) == 6


def answer(prompt_name: str, **fields: str) -> str:
    request = ChatRequest(prompt_name, fields, ())
    return AMemGym().handlers()[prompt_name](request)
