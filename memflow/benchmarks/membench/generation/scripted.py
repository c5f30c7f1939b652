"""Scripted simulator for MemBench's prompts, without a language model.

The simulator repeats the given plain sentence after a random opening and takes other text from short lists. Wrong
options are the correct option with another number or another last word.
"""

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass

from memflow.benchmarks.membench.answers import (
    LINE,
    Distractors,
    Messages,
    Round,
    Rounds,
    ToldMessage,
    ToldRound,
)
from memflow.chat.requests import ChatRequest
from memflow.chat.scripted import Handler
from memflow.fingerprint import seeded

_NUMBER = re.compile(r"\d+")


@dataclass(frozen=True)
class _Words:
    fact: str
    session: tuple[str, ...]
    """Sentences without content."""
    replies: tuple[str, ...]
    openings: tuple[str, ...]
    asking: tuple[str, ...]
    murmurs: tuple[str, ...]
    numerals: tuple[tuple[str, ...], ...]
    """Number words; those of one row are interchangeable."""
    others: tuple[str, ...]
    """Last words of wrong options."""
    before: tuple[str, ...]
    """First words of wrong options, if the correct one is a single word."""
    space: str


_ENGLISH = _Words(
    fact="I was just thinking of {topic}. {name}: {value}.",
    session=(
        "It came to my mind again this morning.",
        "I could go on about it for hours.",
        "I had not thought of it for a while.",
        "I keep coming back to that, you know.",
        "There is something about it that stays with me.",
        "Some days I hardly think of anything else.",
    ),
    replies=(
        "That is good to hear.",
        "Thanks for sharing that with me.",
        "I see what you mean.",
        "How nice, I will keep it in mind.",
        "That sounds just like you.",
    ),
    openings=("By the way, here is something: ", "Just so you know: ", "I meant to mention this: ", ""),
    asking=("Do you remember this? ", "Tell me, please: ", ""),
    murmurs=(
        "The rain has not stopped since this morning. Well, there was something else I wanted to ask.",
        "Lunch took forever again today. Anyway, I actually had another question.",
        "The trains were packed, as always. But that is not what I wanted to ask about.",
    ),
    numerals=(
        ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine"),
        ("ten", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"),
    ),
    others=("Garden", "Harbour", "Meadow", "Bridge", "Valley", "Summit", "Orchard", "Station"),
    before=("former", "travelling", "honorary", "temporary", "part-time", "deputy"),
    space=" ",
)
_CHINESE = _Words(
    fact="刚刚想起{topic}。{name}：{value}。",
    session=(
        "今天早上我又想起了这件事。",
        "这个话题我能聊上好久。",
        "我已经有一阵子没想起这个了。",
        "你知道的，我总会想到这些。",
        "这件事给我留下了很深的印象。",
        "有时候我满脑子都是这些。",
    ),
    replies=(
        "听起来真不错。",
        "谢谢你告诉我这些。",
        "我明白你的意思。",
        "好的，我会记住的。",
        "这很像你的风格。",
    ),
    openings=("对了，跟你说一下，", "顺便提一句，", "我想告诉你，", ""),
    asking=("请问，", "你还记得吗，", ""),
    murmurs=(
        "雨从早上一直下到现在。对了，其实我还有别的事想问。",
        "今天午饭又等了好久。不说这个了，我有另一个问题。",
        "路上还是那么挤。不过我想问的不是这个。",
    ),
    numerals=(("一", "两", "三", "四", "五", "六", "七", "八", "九"),),
    others=("花园", "港湾", "草地", "大桥", "山谷", "高峰", "果园", "车站"),
    before=("前", "巡回", "名誉", "临时", "兼职", "代理"),
    space="",
)


def _words(request: ChatRequest) -> _Words:
    return _CHINESE if request.prompt.endswith("_zh") else _ENGLISH


def random_of(request: ChatRequest) -> random.Random:
    """Return a random generator that depends on the request and the model's seed."""
    said = [message.content for message in request.messages]
    return random.Random(seeded(request.prompt, said, request.sampling.seed))


def _rounds(request: ChatRequest) -> Rounds:
    """Return one round per fact, then rounds without facts."""
    rng, words = random_of(request), _words(request)
    topic = request.fields["topic"]
    facts = [
        line.removeprefix("- ").partition(": ") for line in request.fields.get("context", "").split("\n")
    ]
    told = [words.fact.format(topic=topic, name=name, value=value) for name, _, value in facts if value]
    count = int(request.fields["rounds"])
    said = told[:count] + [rng.choice(words.session) for _ in range(count - len(told))]
    return Rounds(rounds=[Round(user=user[:LINE], assistant=rng.choice(words.replies)) for user in said])


def _messages(request: ChatRequest) -> Messages:
    rng, words = random_of(request), _words(request)
    return Messages(messages=[rng.choice(words.session) for _ in range(int(request.fields["messages"]))])


def _told_round(request: ChatRequest) -> ToldRound:
    rng, words = random_of(request), _words(request)
    replied = request.fields.get("replied") or rng.choice(words.replies)
    return ToldRound(user=rng.choice(words.openings) + request.fields["said"], assistant=replied)


def _told_message(request: ChatRequest) -> ToldMessage:
    return ToldMessage(text=random_of(request).choice(_words(request).openings) + request.fields["said"])


def _question(request: ChatRequest) -> ToldMessage:
    return ToldMessage(text=random_of(request).choice(_words(request).asking) + request.fields["question"])


def _murmur(request: ChatRequest) -> ToldMessage:
    return ToldMessage(text=random_of(request).choice(_words(request).murmurs))


def _distractors(request: ChatRequest) -> Distractors:
    answer, given = request.fields["answer"], request.fields["wrong"]
    found: list[str] = []
    for option in _near(answer, _words(request), random_of(request)):
        if option != answer and f'"{option}"' not in given and option not in found:
            found.append(option)
        if len(found) == int(request.fields["count"]):
            break
    return Distractors(options=found)


def _near(answer: str, words: _Words, rng: random.Random) -> Iterator[str]:
    """Yield wrong variants of `answer`, with another number (in digits or words) or another last or first word."""
    if numbers := list(_NUMBER.finditer(answer)):
        last = numbers[-1]
        for by in rng.sample(range(1, 10), 9):
            number = str(int(last[0]) + by).zfill(len(last[0]))
            yield f"{answer[: last.start()]}{number}{answer[last.end() :]}"
    for row in words.numerals:
        one = rf"\b(?:{'|'.join(row)})\b" if words.space else "|".join(row)
        if re.search(one, answer):
            yield from (re.sub(one, other, answer, count=1) for other in rng.sample(row, len(row)))
    start = answer.rpartition(" ")[0] if words.space else answer[: -2 if len(answer) > 4 else 0]
    for other in rng.sample(words.others, len(words.others)) if start else ():
        yield f"{start}{words.space}{other}"
    for other in rng.sample(words.before, len(words.before)):
        yield f"{other}{words.space}{answer}"


BY_STEM: dict[str, Handler] = {
    "dialogue": _rounds,
    "aftertalk": _rounds,
    "aftertalk_alone": _messages,
    "told": _told_round,
    "told_both": _told_round,
    "told_alone": _told_message,
    "question": _question,
    "murmur": _murmur,
    "distractors": _distractors,
}
"""Handlers by the stem of the prompt."""
