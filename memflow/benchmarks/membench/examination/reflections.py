"""Golds of questions about recommendations, preferences and moods."""

from memflow.benchmarks.membench.examination.gold import FaultyError, Gold, UnreadError
from memflow.benchmarks.membench.examination.lexicon import Lexicon, normalize
from memflow.benchmarks.membench.examination.statements import (
    Reading,
    items_in,
    liked_items,
    moods_in,
    recommended_items,
)

MARKS = {"en": "; ", "zh": "；"}
"""Separators of list items."""


def _text_of(reading: Reading, role: str) -> str:
    """Return all messages of a role as one text."""
    return "\n".join(message.text for message in reading.messages if message.role == role)


def recommendation_gold(question: str, reading: Reading, words: Lexicon) -> Gold:
    """Return all recommended items of the topics in a question. Raises UnreadError."""
    topics = [topic for topic, cue in words.cues.topics.items() if cue.search(question)]
    items = recommended_items(reading.messages, words, topics)
    named = set(items_in(_text_of(reading, "user"), words, topics)) | set(items)
    unread = [item for item in items_in(_text_of(reading, "assistant"), words, topics) if item not in named]
    if unread or not items:
        raise UnreadError(
            f"no message is read as a recommendation{' of ' if unread else ''}{', '.join(unread)}"
        )
    mark = MARKS[words.language]
    messages = tuple(
        message.message_id for message in reading.messages if recommended_items([message], words, topics)
    )
    return Gold(
        mark.join(items),
        messages,
        lambda option: sorted(option.split(mark)) == sorted(items),
        all_required=True,
    )


def preference_gold(question: str, reading: Reading, words: Lexicon) -> Gold:
    """Return the category of all items that the user likes. Raises UnreadError and FaultyError."""
    topics = [topic for topic, cue in words.cues.topics.items() if cue.search(question)]
    if len(topics) != 1:
        raise UnreadError("the question names no known topic, or several topics")
    messages = [message for message in reading.messages if liked_items([message], words, topics[0])]
    categories = {words.categories[topics[0]][item] for item in liked_items(messages, words, topics[0])}
    if not categories:
        raise UnreadError("no message names a known item that the user likes")
    if len(categories) > 1:
        raise FaultyError(f"the user likes items of several categories: {', '.join(sorted(categories))}")
    [text] = categories
    ids = tuple(message.message_id for message in messages)
    return Gold(text, ids, lambda option: normalize(option) == normalize(text))


def mood_gold(happening: str, reading: Reading, words: Lexicon) -> Gold:
    """Return the mood that the session about the event in the question shows. Raises UnreadError and FaultyError."""
    said = normalize(happening)
    sessions = {message.session for message in reading.messages if said in message.text.casefold()}
    if len(sessions) != 1:
        raise UnreadError("the event in the question is in no session, or in several sessions")
    moods = moods_in((each for each in reading.messages if each.session in sessions), words)
    if not moods:
        raise UnreadError("no message of the session shows a known mood")
    if len(moods) > 1:
        raise FaultyError(f"the messages of the session show several moods: {', '.join(sorted(moods))}")
    [(text, messages)] = moods.items()
    return Gold(text, tuple(messages), lambda option: normalize(option) == normalize(text))
