"""The plain sentences in which likings are told, asked for and asked about, in English and in Chinese. No rule here.

The simulator words what is told anew; what it must keep of a sentence, the plan says.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Sayings:
    """How one language speaks of one topic of likings. In the patterns, {item} and {before} are two items of it."""

    plural: str
    """What the questions call several of them."""
    liked: Sequence[str]
    liked_too: Sequence[str]
    """Said of an item after another one ({before})."""
    disliked: Sequence[str]
    wanted: Sequence[str]
    """The user asks for something."""
    recommended: Sequence[str]
    """The assistant's answer."""
    accepted: Sequence[str]
    rejected: Sequence[str]
    preference: str
    """The question which category is liked."""
    recommendations: str
    """The question what was recommended."""


@dataclass(frozen=True)
class Language:
    """What one language says of every topic; `all_recommendations` asks for all that was recommended."""

    topics: Mapping[str, Sayings]
    all_recommendations: str
    comma: str
    """What stands between the items of a list."""


def _english(noun: str, plural: str, verb: str, category: str) -> Sayings:
    return Sayings(
        plural=plural,
        liked=(f"I like the {noun} {{item}}.", f"The {noun} {{item}} is one of my favourites."),
        liked_too=(
            f"Besides {{before}}, I also like the {noun} {{item}}.",
            f"Apart from {{before}}, the {noun} {{item}} is a favourite of mine too.",
        ),
        disliked=(f"I do not like the {noun} {{item}}.", f"The {noun} {{item}} is nothing for me."),
        wanted=(
            f"Is there a {noun} that I could {verb}, other than those we have talked about?",
            f"I am looking for a {noun} to {verb}, one that we have not talked about yet.",
        ),
        recommended=(f"I recommend the {noun} {{item}}.", f"The {noun} that I would recommend is {{item}}."),
        accepted=("I like {item} a lot, that is right for me.", "{item} is just what I like."),
        rejected=("I do not like {item}, please not that one.", "{item} is not for me, I do not like it."),
        preference=f"Judging by the {plural} I have told you about, which {category} do I like best?",
        recommendations=f"Which {plural} have you recommended to me so far?",
    )


def _chinese(noun: str, measure: str, verb: str, category: str) -> Sayings:
    return Sayings(
        plural=noun,
        liked=(f"我喜欢{{item}}这{measure}{noun}。", f"{{item}}是我最喜欢的{noun}之一。"),
        liked_too=(
            f"除了{{before}}，我还喜欢{{item}}这{measure}{noun}。",
            f"不光是{{before}}，{{item}}这{measure}{noun}我也很喜欢。",
        ),
        disliked=(f"我不喜欢{{item}}这{measure}{noun}。", f"{{item}}这{measure}{noun}不合我的意。"),
        wanted=(
            f"除了我们聊过的，还有什么{noun}可以{verb}吗？",
            f"我想找一{measure}{noun}来{verb}，要我们没有聊过的。",
        ),
        recommended=(f"我推荐{{item}}这{measure}{noun}。", f"我想推荐的{noun}是{{item}}。"),
        accepted=("我很喜欢{item}，正合适。", "{item}正是我喜欢的。"),
        rejected=("我不喜欢{item}，请不要选它。", "{item}不适合我，我不喜欢。"),
        preference=f"从我跟你说过的{noun}来看，我最喜欢哪种{category}？",
        recommendations=f"到现在为止，你给我推荐过哪些{noun}？",
    )


LANGUAGES: Mapping[str, Language] = {
    "en": Language(
        topics={
            "movie": _english("movie", "movies", "watch", "genre"),
            "food": _english("dish", "dishes", "try", "taste"),
            "book": _english("book", "books", "read", "kind of book"),
        },
        all_recommendations="Which movies, dishes and books have you recommended to me so far?",
        comma="; ",
    ),
    "zh": Language(
        topics={
            "movie": _chinese("电影", "部", "看", "类型"),
            "food": _chinese("菜", "道", "尝", "口味"),
            "book": _chinese("书", "本", "读", "类别"),
        },
        all_recommendations="到现在为止，你给我推荐过哪些电影、菜和书？",
        comma="；",
    ),
}
"""The languages by name."""


def sayings(language: str, topic: str) -> Sayings:
    """What a language says of a topic."""
    return LANGUAGES[language].topics[topic]
