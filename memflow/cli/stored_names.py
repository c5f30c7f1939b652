"""The names of stored assistants, and the errors for names that are unknown."""

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from memflow.errors import BadInput
from memflow.suggestions import unknown_name

if TYPE_CHECKING:
    from memflow.resources.lake.lake import Lake


def check_names(
    owner: str, kind: str, names: Sequence[str] | None, known: Collection[str], command: str = ""
) -> None:
    """Raise BadInput if a name is not in `known`; the message names the `kind` and the owner, such as the lake.

    `command` lists all names.
    """
    for name in names or ():
        if name not in known:
            raise BadInput(unknown_name(kind, name, known, command, owner))


def assistants_of(lake: "Lake", table: str, domain: str) -> list[str]:
    """Return the assistants with a stored partition of `table` in a domain."""
    parts = [partition.partition("/") for partition in lake.partitions(table)]
    return [assistant for of_domain, _, assistant in parts if of_domain == domain]


def check_played(lake: "Lake", domain: str, assistant: str, table: str = "memory.transcripts") -> None:
    """Raise BadInput if the lake has no partition of `table` for a domain and assistant; list stored assistants."""
    played = assistants_of(lake, table, domain)
    if assistant not in played:
        what = unknown_name("stored run of assistant", assistant, played, owner=domain)
        raise BadInput(f"{what}. Create it with `memflow run --domain {domain} --assistant {assistant}`.")
