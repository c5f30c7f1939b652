"""The conversation of a request: an episode of one assistant, whose requests extend one another.

A server's prefix cache answers the common beginning of such requests. resources/endpoints/endpoint.py names the
conversation to a router in front of several servers. A request outside of an episode belongs to no conversation.
"""

from contextvars import ContextVar
from functools import lru_cache

from memflow.fingerprint import digest

ASSISTANT: ContextVar[tuple[str, str]] = ContextVar("assistant", default=("", ""))
"""The domain and the assistant that the current task plays or asks."""
EPISODE: ContextVar[str] = ContextVar("episode", default="")
"""The episode that the current task plays or asks; empty outside of episodes, as for judges and annotators."""


def conversation_key() -> str:
    """Return the content hash of the current domain, assistant and episode; "" outside of an episode."""
    episode = EPISODE.get()
    return _key(*ASSISTANT.get(), episode) if episode else ""


@lru_cache(maxsize=65536)
def _key(domain: str, assistant: str, episode: str) -> str:
    return digest("conversation", domain, assistant, episode)
