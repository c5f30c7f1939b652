"""The scripted chat's handlers, all of them: of the benchmarks, of the memories, of annotation.

Each lies beside the prompts it answers; here they only come together.
"""

from collections.abc import Mapping

from memflow.annotation import scripted as annotation
from memflow.benchmarks import registry as benchmarks
from memflow.chat.scripted import Handler
from memflow.memories import registry as memories
from memflow.memories.user_memories import UserMemory


def handlers(own: Mapping[str, UserMemory] | None = None) -> dict[str, Handler]:
    """By prompt name. `own` are the memories of a user's own."""
    return {**memories.handlers(own), **benchmarks.handlers(), **annotation.HANDLERS}
