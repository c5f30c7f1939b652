"""Partitions that command-line runs added to those of memflow.toml, so that the UI shows them and can rerun them.

They are found in the lake. Only the code location uses them, at load and reload; commands default to memflow.toml.
"""

from memflow.errors import BadSettings
from memflow.repeats import plain_name
from memflow.resources.lake.lake import Lake
from memflow.resources.settings.settings import Settings


def with_added_partitions(settings: Settings) -> Settings:
    """Return the settings extended by the domains and assistants in the lake.

    Those whose domain, memory or model is not in the settings are skipped, such as a memory of an import path.
    """
    lake = Lake(settings.lake_root)
    domains = [name for name in lake.partitions("question.probes") if settings.has_domain(name)]
    stored = dict.fromkeys(key.partition("/")[2] for key in lake.partitions("memory.indexes"))
    known = {*settings.assistant_partitions}
    assistants = [name for name in stored if name not in known and _is_known(settings, name)]
    added = {
        "domains": tuple(dict.fromkeys((*settings.domains, *domains))),
        "assistants": (*settings.assistants, *assistants),
    }
    return settings.model_copy(update=added)


def _is_known(settings: Settings, assistant: str) -> bool:
    """Return whether the settings have the memory and the model of an assistant."""
    if (plain_name(assistant).partition("@")[2] or "scripted") not in settings.models:
        return False
    try:
        settings.memory_of(assistant)
    except BadSettings:
        return False
    return True
