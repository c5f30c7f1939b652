"""The scripted chat's handlers, all of them: of the benchmarks, of the memories, of annotation.

Each lies beside the prompts it answers; here they only come together.
"""

from collections.abc import Mapping

from memflow.annotation import scripted as annotation
from memflow.benchmarks import registry as benchmarks
from memflow.chat.scripted import Handler
from memflow.memories import registry as memories
from memflow.memories.own import Own


def handlers(own: Mapping[str, Own] | None = None) -> dict[str, Handler]:
    """By prompt name. `own` are the memories of a user's own."""
    return {**memories.handlers(own), **benchmarks.handlers(), **annotation.HANDLERS}
