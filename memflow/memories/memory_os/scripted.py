"""The scripted chat's handlers for MemoryOS: they return statements and their words, and compare shared words."""

import re

from memflow.chat.requests import ChatRequest
from memflow.chat.scripted import Handler
from memflow.memories.memory_os.answers import Attribute, Fact, Facts, Keywords, Link, Topic, Trait, Traits
from memflow.memories.memory_os.mid import NOTHING
from memflow.memories.script_helpers import statements, word_overlap
from memflow.words import search_words

_PAGE = re.compile(r"^Page (\d+)\n", re.MULTILINE)
_NAME = re.compile(r"\b[Mm]y name is (\w+)")
_DISLIKE = frozenset({"dislike", "hate", "never"})
MAX_TRAITS = 6
_ROLES = frozenset({"user", "assistant"})


def _words(text: str, limit: int) -> list[str]:
    """Return the first distinct words of a page; `talk` if the page has no words."""
    sentences = " ".join(statements(text))
    words = [word[:30] for word in dict.fromkeys(search_words(sentences)) if word not in _ROLES]
    return words[:limit] or ["talk"]


def _summary(text: str) -> str:
    return " ".join(statements(text))[:240] or "small talk"


def _join_summaries(summaries: list[str], new_summary: str) -> str:
    return " ".join(text for text in (*summaries, new_summary) if text != NOTHING)[:240]


def _link(request: ChatRequest) -> Link:
    page, previous_page = str(request.fields["page"]), str(request.fields["previous"])
    continues = word_overlap(" ".join(statements(previous_page)), " ".join(statements(page))) > 0
    chain = [str(request.fields["chain"])] if continues else []
    return Link(continues=continues, chain=_join_summaries(chain, _summary(page)), keywords=_words(page, 5))


def _segment(request: ChatRequest) -> Topic:
    page, former_summary = str(request.fields["page"]), str(request.fields["summary"])
    keywords = [*str(request.fields["keywords"]).split(", "), *_words(page, 6)]
    keywords = [word for word in dict.fromkeys(keywords) if word != NOTHING]
    return Topic(summary=_join_summaries([_summary(page)], former_summary), keywords=keywords[:6])


def _page_statements(pages: str) -> list[tuple[int, str, bool]]:
    """Return the statements of numbered pages as (page, text, whether the assistant said it)."""
    page_statements = []
    parts = _PAGE.split(pages)
    for number, text in zip(parts[1::2], parts[2::2], strict=True):
        assistant_sentences = statements(text, speaker="assistant")
        page_statements += [
            (int(number), sentence, sentence in assistant_sentences) for sentence in statements(text)
        ]
    return page_statements


def _profile(request: ChatRequest) -> Traits:
    """Return a profile update: the user's name, and the first dimension that each of the user's statements names."""
    # A line has the form `category: name, name`.
    name_lists = (line.partition(": ")[2] for line in str(request.fields["dimensions"]).splitlines())
    dimensions = [name for line in name_lists for name in line.split(", ")]
    names: dict[str, Attribute] = {}
    traits: dict[str, Trait] = {}
    for page, sentence, is_assistant in _page_statements(str(request.fields["pages"])):
        if is_assistant:
            continue
        if match := _NAME.search(sentence):
            names["name"] = Attribute(attribute="name", value=match[1], page=page)
        words = set(search_words(sentence))
        for name in dimensions:
            if words.issuperset(search_words(name)):
                level = "low" if words & _DISLIKE else "high"
                traits[name] = Trait.model_validate(
                    {"dimension": name, "level": level, "reason": sentence[:120], "page": page}
                )
                break
    return Traits(attributes=[*names.values()], traits=[*traits.values()][-MAX_TRAITS:])


def _keywords(request: ChatRequest) -> Keywords:
    return Keywords(keywords=list(dict.fromkeys(search_words(str(request.fields["query"]))))[:5])


def _knowledge(request: ChatRequest) -> Facts:
    """Return the first statements of the pages as facts: up to 5 of the user, up to 3 of the assistant."""
    sentences = _page_statements(str(request.fields["pages"]))
    user_facts: list[Fact] = []
    assistant_facts: list[Fact] = []
    for page, text, is_assistant in sentences:
        facts = assistant_facts if is_assistant else user_facts
        facts.append(Fact(text=text[:160], page=page))
    return Facts(user=user_facts[:5], assistant=assistant_facts[:3])


HANDLERS: dict[str, Handler] = {
    "memory_os/link": _link,
    "memory_os/segment": _segment,
    "memory_os/keywords": _keywords,
    "memory_os/profile": _profile,
    "memory_os/knowledge": _knowledge,
}
