"""Scripted simulator for MemBench's prompts, without a language model.

A message is the given plain sentence after a random opening. Sentences of dialogues are filled from sentence templates,
and other texts are chosen from short lists.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass

from memflow.benchmarks.membench.answers import (
    LINE,
    Messages,
    Round,
    Rounds,
    ToldMessage,
    ToldRound,
)
from memflow.benchmarks.membench.generation.templates import (
    fact_templates,
    fill_sentence,
    with_article,
)
from memflow.benchmarks.membench.generation.vocabulary import Language, bundled_vocabulary
from memflow.chat.requests import ChatRequest
from memflow.chat.scripted import Handler
from memflow.fingerprint import seeded


@dataclass(frozen=True)
class _Words:
    language: Language
    session: tuple[str, ...]
    """Sentences without content."""
    replies: tuple[str, ...]
    openings: tuple[str, ...]
    notes: tuple[str, ...]
    """Openings of messages that address nobody."""
    bare: tuple[str, ...]
    """Beginnings of sentences that take no opening, such as questions and replies."""
    murmurs: tuple[str, ...]
    genders: dict[str, tuple[str, str]]
    """Pronoun and possessive pronoun by gender."""


_ENGLISH = _Words(
    language="en",
    session=(
        "I could talk about this for hours.",
        "You know, I keep coming back to it.",
        "Somehow that stays with me.",
        "It feels good to talk about it.",
        "Well, that's how it is.",
        "I'm glad I mentioned it.",
        "I thought you might like to know.",
        "I don't know why it's on my mind today.",
        "I hadn't thought about that in a while.",
        "I was just thinking about it over breakfast.",
        "It's nice to have somebody to tell this to.",
        "Not that it's very important.",
        "It came up over dinner the other night.",
        "I find it interesting, at least.",
        "I tell everyone about it.",
        "It's funny what you remember.",
        "I may be rambling a bit.",
        "It just popped into my head.",
        "I wonder why I never told you before.",
        "You're a good listener, you know.",
        "I keep losing track of these things.",
        "It's good to have that written down somewhere.",
        "I might tell you more about it another time.",
        "It makes me smile when I think of it.",
        "Life gets busy, but I like to keep track.",
    ),
    replies=(
        "Thanks for telling me.",
        "Good to know.",
        "I see.",
        "All right, I'll remember that.",
        "Okay, I'm listening.",
        "Got it.",
        "Thanks, noted.",
        "Okay, noted.",
        "I'll keep that in mind.",
        "Right, I've got that.",
        "Thanks for letting me know.",
        "Understood.",
        "Okay, thanks for telling me.",
        "Okay, I'll bear that in mind.",
        "I've made a note of it.",
        "Sure, I'll remember.",
        "Thanks for sharing that.",
        "Mm-hm, go on.",
        "Okay, tell me more if you like.",
        "All right, thanks.",
        "Noted, thank you.",
        "I see, thanks for telling me.",
        "Okay, I'll note that.",
        "Okay, I have that down.",
        "Right.",
        "Thank you, that's useful to know.",
        "Okay. Anything else?",
        "All right, got it.",
    ),
    openings=(
        "By the way, ",
        "Just so you know, ",
        "I forgot to mention, ",
        "Did I tell you? ",
        "",
        "",
        "",
        "",
    ),
    notes=("Note to self: ", "For the record: ", "", "", ""),
    bare=(
        "Sorry",
        "No,",
        "Besides",
        "Apart",
        "Is there",
        "I'm",
        "Good choice",
        "Oh",
        "What",
        "I feel",
        "I didn't",
        "I don't",
    ),
    murmurs=(
        "It hasn't stopped raining since this morning. Anyway, there was something else I wanted to ask.",
        "Lunch took forever again today. Anyway, I actually had another question.",
        "The trains were packed, as always. But that's not what I wanted to ask about.",
    ),
    genders={"male": ("he", "his"), "female": ("she", "her")},
)
_CHINESE = _Words(
    language="zh",
    session=(
        "这个话题我能聊上好久。",
        "你知道的，我总会想到这些。",
        "这件事我一直记着。",
        "能说说这些，感觉真好。",
        "嗯，就是这么回事。",
        "说出来心里舒服多了。",
        "我就是想跟你说说。",
        "也不知道为什么，今天老想起这个。",
        "好久没想起这事了。",
        "早饭的时候我还在想呢。",
        "有人听我说这些真好。",
        "也不是什么大事。",
        "前两天吃饭的时候还聊到过。",
        "反正我觉得挺有意思的。",
        "我跟谁都爱说这个。",
        "人记住的事情真是奇怪。",
        "我是不是有点啰嗦了。",
        "突然就想到了。",
        "奇怪，以前怎么没跟你说过。",
        "跟你聊天挺轻松的。",
        "这些事我老是记不清。",
        "有个地方记下来就放心了。",
        "改天再跟你细说。",
        "想起来就忍不住想笑。",
        "平时忙，但这些我还是想记着。",
    ),
    replies=(
        "谢谢你告诉我这些。",
        "知道了。",
        "我明白了。",
        "好的，我会记住的。",
        "嗯，我听着呢。",
        "好的，记下了。",
        "收到。",
        "了解了。",
        "嗯嗯，明白。",
        "好，我记住了。",
        "谢谢，我记下了。",
        "行，我记着。",
        "好嘞。",
        "原来是这样。",
        "嗯，知道了，谢谢。",
        "好的，了解。",
        "没问题，我会记着的。",
        "清楚了。",
        "嗯，你接着说。",
        "好，还有别的吗？",
        "谢谢分享。",
        "这样啊，明白了。",
        "好的，我留意着。",
        "已经记下了。",
        "哦，是这样啊。",
        "好，收到，谢谢。",
        "可以，我记好了。",
    ),
    openings=("对了，", "跟你说一下，", "忘了说，", "顺便说一句，", "", "", "", ""),
    notes=("趁还没忘：", "记一下：", "", "", ""),
    bare=("不好意思", "除了", "不光", "我想", "我不喜欢", "好", "算了"),
    murmurs=(
        "雨从早上一直下到现在。对了，其实我还有别的事想问。",
        "今天午饭又等了好久。不说这个了，我有另一个问题。",
        "路上还是那么挤。不过我想问的不是这个。",
    ),
    genders={"男性": ("他", "他的"), "女性": ("她", "她的")},
)


def _words(request: ChatRequest) -> _Words:
    return _CHINESE if request.prompt.endswith("_zh") else _ENGLISH


def random_of(request: ChatRequest) -> random.Random:
    """Return a random generator that depends on the request and the model's seed."""
    said = [message.content for message in request.messages]
    return random.Random(seeded(request.prompt, said, request.sampling.seed))


def _rounds(request: ChatRequest) -> Rounds:
    """Return one round per fact that has a sentence template, then rounds without facts."""
    rng, words = random_of(request), _words(request)
    lines = request.fields.get("context", "").split("\n")
    facts = {name: value for line in lines for name, _, value in [line.removeprefix("- ").partition(": ")]}
    told = list(_fact_sentences(request.fields["topic"], facts, words))
    count = int(request.fields["rounds"])
    said = told[:count] + [rng.choice(words.session) for _ in range(count - len(told))]
    return Rounds(rounds=[Round(user=user[:LINE], assistant=rng.choice(words.replies)) for user in said])


def _fact_sentences(topic: str, facts: dict[str, str], words: _Words) -> Iterator[str]:
    """Yield a sentence per fact; after the first sentence, a pronoun refers to a person."""
    labels, templates = bundled_vocabulary(words.language).labels, fact_templates(words.language)
    about = templates.people if labels["gender"] in facts else templates.events
    pronouns = words.genders.get(facts.get(labels["gender"], ""))
    who = topic
    for attribute, template in about.attributes.items():
        value = facts.get(labels[attribute])
        if value is None:
            continue
        told = template.told
        if who != topic and pronouns is not None:
            told = told.replace("$who's", pronouns[1]).replace("$who的", pronouns[1])
        yield fill_sentence(told, who=who, value=value, a_value=with_article(value))
        who = pronouns[0] if pronouns is not None else topic


def _messages(request: ChatRequest) -> Messages:
    rng, words = random_of(request), _words(request)
    return Messages(messages=[rng.choice(words.session) for _ in range(int(request.fields["messages"]))])


def _told_round(request: ChatRequest) -> ToldRound:
    rng, words = random_of(request), _words(request)
    replied = request.fields.get("replied") or rng.choice(words.replies)
    return ToldRound(user=_open(rng.choice(words.openings), request), assistant=replied)


def _told_message(request: ChatRequest) -> ToldMessage:
    return ToldMessage(text=_open(random_of(request).choice(_words(request).notes), request))


def _open(opening: str, request: ChatRequest) -> str:
    """Return the sentence of a message, with the opening before it if the sentence states a fact about an entity.

    The first letter of the sentence becomes lower case if the sentence does not begin with a name.
    """
    said = request.fields["said"]
    if request.fields["keeps"] == "-" or said.startswith(_words(request).bare):
        return said
    first, _, rest = said.partition(" ")
    lowers = opening.endswith(", ") and first != "I" and rest[:1].islower()
    return f"{opening}{said[0].lower()}{said[1:]}" if lowers else f"{opening}{said}"


def _question(request: ChatRequest) -> ToldMessage:
    return ToldMessage(text=request.fields["question"])


def _murmur(request: ChatRequest) -> ToldMessage:
    return ToldMessage(text=random_of(request).choice(_words(request).murmurs))


BY_STEM: dict[str, Handler] = {
    "dialogue": _rounds,
    "aftertalk": _rounds,
    "aftertalk_alone": _messages,
    "told": _told_round,
    "told_both": _told_round,
    "told_alone": _told_message,
    "question": _question,
    "murmur": _murmur,
}
"""Handlers by the stem of the prompt."""
