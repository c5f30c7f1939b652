"""The scripted chat's handlers of benchmarks and memories, by prompt name."""

from collections.abc import Mapping

from memflow.benchmarks import registry as benchmarks
from memflow.chat.scripted import Handler
from memflow.memories import registry as memories
from memflow.memories.user_memories import UserMemory


def handlers(user_memories: Mapping[str, UserMemory] | None = None) -> dict[str, Handler]:
    """Return all handlers of the scripted chat by prompt name. `user_memories` contains the user's own memories."""
    return {**memories.handlers(user_memories), **benchmarks.handlers()}
