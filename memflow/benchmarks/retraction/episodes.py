"""Replies: off-policy, all are given; on-policy, the assistant replies to each message of the user."""

from collections.abc import Mapping
from typing import Any

from memflow.benchmarks.domains import Domain
from memflow.benchmarks.retraction.config import parse_config
from memflow.benchmarks.retraction.question import PACKAGE
from memflow.chat.prompts import load_in_language
from memflow.chat.requests import Chat
from memflow.memories.memory import Message, Recall
from memflow.run.play import Replier


def make_replier(domain: Domain, chat: Chat) -> Replier | None:
    """Return the function that generates on-policy replies, or None off-policy."""
    config = parse_config(domain)
    if config.policy == "off":
        return None

    def fields(recall: Recall, message: Message) -> Mapping[str, Any]:
        return {"message": message.text, **({"notes": recall.notes} if recall.with_notes else {})}

    language = config.languages[0]
    with_notes = load_in_language(PACKAGE, "reply_with_notes", language=language)
    return Replier(chat, load_in_language(PACKAGE, "reply"), fields, prompt_with_notes=with_notes)
