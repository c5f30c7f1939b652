"""FriendsQA as contexts: invented scenes, and the published part."""

import json
import os
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from friendsqa_files import KITCHEN, SEASON, answer, published, scene, speaks

from memflow.benchmarks.comem.benchmark import CoMem
from memflow.benchmarks.comem.contexts import Context, ContextQuestion
from memflow.benchmarks.comem.load import load_contexts
from memflow.benchmarks.comem.sources.friendsqa import DISAGREE, NO_PERSON, NO_WORDS, TOO_FEW
from memflow.benchmarks.comem.sources.friendsqa.scenes import FriendsQAScene
from memflow.benchmarks.comem.sources.friendsqa.spans import SeasonSpeakers
from memflow.benchmarks.comem.sources.friendsqa.text import detokenize
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.registry import find_dataset, find_domain
from memflow.records import Record

DOMAIN = find_domain("comem_friendsqa")
Read = Callable[..., list[Record]]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    def reading(*contents: bytes) -> list[Record]:
        files = {}
        for name, content in zip(("trn", "dev", "tst"), contents, strict=False):
            files[f"friendsqa/friendsqa_{name}.json"] = tmp_path / f"{name}.json"
            files[f"friendsqa/friendsqa_{name}.json"].write_bytes(content)
        return CoMem().records(find_dataset("friendsqa"), files)

    return reading


@pytest.fixture
def real() -> list[Record]:
    folder = os.environ.get("MEMFLOW_DATA")
    if not folder or not (path := Path(folder, "friendsqa", "friendsqa_dev.json")).exists():
        pytest.skip("set MEMFLOW_DATA to the data folder; it has no friendsqa")
    return CoMem().records(find_dataset("friendsqa"), {"friendsqa/friendsqa_dev.json": path})


def season(read: Read, domain: Domain = DOMAIN) -> Context:
    return load_contexts(domain, read(published(*SEASON)))[0]


def gold(asked: ContextQuestion) -> str:
    assert asked.answer is not None
    return asked.options[asked.answer - 1]


@pytest.mark.parametrize(
    ("tokens", "text"),
    [
        ("You 're gon na kill me !", "You're gonna kill me!"),
        ("I do n't , Ross 's wedding ...", "I don't, Ross's wedding..."),
        ("[ Scene : Monica 's ( again ) . ]", "[Scene: Monica's (again).]"),
        ('say , " Hey , you . " Or', 'say, "Hey, you." Or'),
        ("said `` Oh God '' ?", 'said "Oh God"?'),
        ("the Walthams ' house , I got ta go 'cause", "the Walthams' house, I gotta go 'cause"),
        ("No - no , good - bye", "No - no, good - bye"),
        ("", ""),
    ],
)
def test_detokenize_joins_tokens_into_natural_text(tokens: str, text: str):
    assert detokenize(tokens).text == text


def test_friendsqa_season_becomes_context_with_scenes_as_sessions(read: Read):
    context = season(read)
    assert (context.context_id, len(context.messages), context.messages[-1].session) == ("season_1", 19, 5)
    assert list(dict.fromkeys(line.sent_at for line in context.messages)) == [
        "season 1, episode 1, scene 2",
        "season 1, episode 2, scene 1",
        "season 1, episode 2, scene 3",
        "season 1, episode 2, scene 10",
        "season 1, episode 3, scene 1",
    ]
    assert [(line.speaker, line.text) for line in context.messages[:4]] == [
        ("Note", "[Scene: The kitchen, Ada is peeling onions.]"),
        ("Ada Moor", "I'm gonna sell the boat, Ben."),
        ("Ben Lund", "You can't! We need it."),
        ("Ada Moor and Ben Lund", "Hey!"),
    ]
    assert context.messages[8].speaker == "All"


def test_friendsqa_question_text_names_its_scene(read: Read):
    where = season(read).questions[1]
    assert where.question == "In season 1, episode 1, scene 2: Where is the key?"


def test_distractors_are_answers_to_same_kind_of_question(read: Read):
    where = season(read).questions[1]
    assert (where.category, gold(where), where.unknown_option, where.dropped) == (
        "Where",
        "under the stairs",
        5,
        None,
    )
    others = {"behind the shed", "near the window", "into the water", "inside the basket"}
    wrong = set(where.options) - {"under the stairs", "I don't know."}
    assert len(wrong) == 3 and wrong <= others


def test_answer_is_known_after_the_utterance_that_contains_it(read: Read):
    where = season(read).questions[1]
    (known,) = where.known
    assert (known.since, known.evidence, known.answer) == (5, (4,), where.answer)
    assert [where.label_at(visible) for visible in (0, 4, 5, 19)] == [
        "5",
        "5",
        str(where.answer),
        str(where.answer),
    ]


def test_question_with_disagreeing_annotators_or_too_few_distractors_is_dropped(read: Read):
    asked = {each.question_id: each for each in season(read).questions}
    assert asked["s01_e01_c02_What"].dropped == DISAGREE
    assert asked["s01_e02_c03_Why"].dropped == TOO_FEW
    assert asked["s01_e02_c01_What"].dropped is None


@pytest.mark.parametrize(
    ("kind", "given", "why"),
    [
        ("Where", [speaks(KITCHEN, 1)], NO_PERSON),
        ("Where", [answer(KITCHEN, 2, "it .")], NO_WORDS),
        ("Where", [answer(KITCHEN, 4, "the key"), answer(KITCHEN, 1, "the boat")], DISAGREE),
    ],
)
def test_invalid_gold_answer_drops_question(read: Read, kind: str, given: list[dict[str, Any]], why: str):
    asked = scene("s01_e09_c01", KITCHEN, (kind, "?", given))
    assert load_contexts(DOMAIN, read(published(*SEASON, asked)))[0].questions[-1].dropped == why


def test_first_name_is_resolved_to_full_name_of_a_speaker_if_unique():
    here = FriendsQAScene.model_validate(scene("s01_e01_c01", KITCHEN))
    people = SeasonSpeakers(
        [
            here,
            FriendsQAScene.model_validate(
                scene("s01_e01_c02", (("Ada Berg", "Hm ."), ("Peter Holm", "Hm .")))
            ),
        ]
    )
    assert people.person("Ada", here.speakers) == "Ada Moor"
    assert people.person("Ada", ()) is None
    assert people.person("Pete", here.speakers) == "Peter Holm"
    assert [people.person(text, ()) for text in ("He", "the boat", "ada", "Ad", "Dan")] == [None] * 5


def test_paraphrased_questions_are_left_out(read: Read):
    assert [each.question_id for each in season(read).questions if "Para" in each.question_id] == []


def _broken(change: Callable[[dict[str, Any]], object]) -> bytes:
    scenes = json.loads(published(*SEASON))
    change(scenes)
    return json.dumps(scenes).encode()


@pytest.mark.parametrize(
    ("damage", "fault"),
    [
        (lambda question: question["answers"][0].update(utterance_id=9), "utterance 9 does not exist"),
        (
            lambda question: question["answers"][0].update(inner_end=70),
            "tokens 3 to 70 are not in utterance 1",
        ),
        (
            lambda question: question["answers"][0].update(answer_text="a tin"),
            "differ from the answer's text",
        ),
        (
            lambda question: question["answers"][0].update(is_speaker=True),
            "the answer is not a speaker of the utterance",
        ),
        (lambda question: question.update(id="s09_What"), "its id does not begin with the scene's title"),
        (lambda question: question.update(answers=None), "at answers"),
    ],
)
def test_invalid_question_is_quarantined_without_its_scene(
    read: Read, damage: Callable[[dict[str, Any]], Any], fault: str
):
    valid = load_contexts(DOMAIN, read(published(*SEASON)))[0]
    content = _broken(lambda raw: damage(raw["data"][2]["paragraphs"][0]["qas"][0]))
    records = read(content)
    assert all(record.reason is None for record in records)
    found = load_contexts(DOMAIN, records)[0]
    assert found.messages == valid.messages
    (invalid,) = [question for question in found.questions if question.reason is not None]
    assert fault in str(invalid.reason)


def test_629_of_730_published_friendsqa_questions_are_kept(real: list[Record]):
    asked = [each for context in load_contexts(DOMAIN, real) for each in context.questions]
    assert Counter(each.dropped for each in asked) == {None: 629, DISAGREE: 97, NO_PERSON: 3, NO_WORDS: 1}
