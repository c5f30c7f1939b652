"""The stored scores by name, the errors for unknown names, and the variants of metrics that are shown first."""

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING

from memflow.errors import BadInput
from memflow.operations.messages import message
from memflow.scoring.catalog import is_evidence_score
from memflow.suggestions import unknown_name

if TYPE_CHECKING:
    from memflow.records import Score
    from memflow.resources.lake.lake import Lake
    from memflow.resources.settings.settings import Settings


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


def note_left_out(left_out: Mapping[str, Mapping[str, str]]) -> None:
    """Print, for each table, the damaged partitions that are not in a result, and why; nothing if there are none."""
    for table, reasons in left_out.items():
        reason, *others = reasons.values()
        more = f" `memflow doctor` names the commands for {len(others)} more of {table}." if others else ""
        message(f"memflow: not in the result: {reason}{more}")


def variant_chooser(settings: "Settings") -> Callable[[str, str], str]:
    """Return a function from (domain, metric) to the variant that tables show first, by the domain's profile."""
    from memflow.benchmarks import registry
    from memflow.benchmarks.protocol_settings import STANDARD

    @cache
    def chosen(domain: str) -> Mapping[str, str]:
        return registry.shown_variants(settings.domain(domain)) if settings.has_domain(domain) else {}

    return lambda domain, metric: chosen(domain).get(metric, STANDARD)


def stored_scores(
    settings: "Settings",
    lake: "Lake",
    domain: Sequence[str] | None = None,
    assistant: Sequence[str] | None = None,
    metric: Sequence[str] | None = None,
    *,
    slices: bool = False,
    variants: bool = False,
) -> "list[Score]":
    """Return the scores of the leaderboard, of all or some domains, assistants and metrics.

    Raises BadInput without a leaderboard, and for unknown names.
    """
    shown_variant = variant_chooser(settings)
    published: list[Score] = lake.read_all("score.leaderboard", lake.partitions("score.leaderboard"))
    if not published:
        raise BadInput("the lake contains no leaderboard. Create one with `memflow run --demo`.")
    for name, chosen in (("domain", domain), ("assistant", assistant), ("metric", metric)):
        check_names("the leaderboard", name, chosen, {getattr(score, name) for score in published})
    return [
        score
        for score in published
        if (slices or score.slice == "all")
        and (not domain or score.domain in domain)
        and (not metric or score.metric in metric)
        and (not assistant or score.assistant in assistant)
        and (
            variants or score.variant == shown_variant(score.domain, score.metric) or is_evidence_score(score)
        )
    ]
