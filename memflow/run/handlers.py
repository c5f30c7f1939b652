"""The scripted chat's handlers of benchmarks, memories and annotation, by prompt name."""

from collections.abc import Mapping

from memflow.annotation import scripted as annotation
from memflow.benchmarks import registry as benchmarks
from memflow.chat.scripted import Handler
from memflow.memories import registry as memories
from memflow.memories.own import Own


def handlers(own: Mapping[str, Own] | None = None) -> dict[str, Handler]:
    """Return all handlers by prompt name. `own` are the user's own memories."""
    return {**memories.handlers(own), **benchmarks.handlers(), **annotation.HANDLERS}
