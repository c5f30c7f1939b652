"""The scores of the leaderboard by domain, assistant and metric."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from memflow.errors import BadInput
from memflow.operations.stored_names import check_names, variant_chooser
from memflow.scoring.catalog import is_evidence_score

if TYPE_CHECKING:
    from memflow.records import Score
    from memflow.resources.lake.lake import Lake
    from memflow.resources.settings.settings import Settings


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
