"""The command `memflow show contracts`: J of the same answers under each judge contract, and its span."""

from collections.abc import Mapping, Sequence
from typing import Any

from memflow.benchmarks.locomo.judging import CONTRACTS
from memflow.benchmarks.locomo.metrics import KEY_CEILING
from memflow.benchmarks.locomo.scoring import CATEGORY_NAMES, WITHOUT_KNOWN_ERRORS
from memflow.benchmarks.views import Answer, Heading, Note, Part, Reader, Table
from memflow.errors import BadInput
from memflow.labels import no_interval
from memflow.records import Score

NO_SCORE = "–"
ScoreKey = tuple[str, str, str]
"""An assistant, a metric and a slice."""
PUBLISHED_LABELS = "recorded"
"""The variant of the labels that were published with imported answers, where memflow's judges judged these too."""
_SLICES = {
    "all": "all",
    WITHOUT_KNOWN_ERRORS: "without known errors",
    **{f"category {number}": f"{number} {name}" for number, name in CATEGORY_NAMES.items()},
}
"""The slices of the table, and the heads of their columns."""


def show_contracts(reader: Reader, domain: Sequence[str] | None, assistant: Sequence[str] | None) -> Answer:
    """Return a table per domain. Raises BadInput if no selected domain or assistant has a J."""

    def is_shown(score: Score) -> bool:
        is_selected = (not domain or score.domain in domain) and (
            not assistant or score.assistant in assistant
        )
        is_judged = score.variant in ("standard", PUBLISHED_LABELS) and score.metric in {
            *CONTRACTS,
            KEY_CEILING,
        }
        return is_selected and is_judged

    scores = [score for score in reader.scores() if is_shown(score)]
    if not any(score.metric in CONTRACTS for score in scores):
        raise BadInput(
            "no J is published for this selection. Create one with `memflow run --domain locomo_demo --memory full`, "
            "or import published answers with `memflow import results`."
        )
    records, parts = [], []
    for name in dict.fromkeys(score.domain for score in scores):
        domain_scores = [score for score in scores if score.domain == name]
        records += _records(domain_scores)
        parts += _parts(name, domain_scores)
    return Answer({"rows": records}, parts, records, scores)


def _records(scores: Sequence[Score]) -> list[dict[str, Any]]:
    return [
        {
            "domain": score.domain,
            "assistant": score.assistant,
            "metric": score.metric,
            "variant": score.variant,
            "slice": score.slice,
            "value": score.value,
            "low": score.low,
            "high": score.high,
            "interval_reason": score.interval_reason,
            "n": score.n,
            "imported": score.imported,
            "reason": score.reason,
        }
        for score in scores
        if score.slice in _SLICES
    ]


def _parts(domain: str, scores: Sequence[Score]) -> list[Part]:
    # By assistant, metric and slice: scores from judges that memflow ran, and from labels in published files.
    judged: dict[tuple[str, str, str], Score] = {}
    published: dict[tuple[str, str, str], Score] = {}
    for score in scores:
        by_key = judged if score.variant == "standard" else published
        by_key[score.assistant, score.metric, score.slice] = score
    slices = [name for name in _SLICES if any(score.slice == name for score in scores)]
    headings = [_SLICES[name] for name in slices]
    rows: list[list[str]] = []
    for assistant in dict.fromkeys(score.assistant for score in scores):
        for suffix, by_key in (("", judged), (", published labels", published)):
            for name, contract in CONTRACTS.items():
                if (assistant, name, "all") in by_key:
                    cells = [_cell(by_key.get((assistant, name, slice_)), name=slice_) for slice_ in slices]
                    rows.append([assistant, f"{contract.title}{suffix}", *cells])
        contracts = [name for name in CONTRACTS if (assistant, name, "all") in judged]
        if len(contracts) > 1:
            spans = [_span(judged, assistant, contracts, slice_) for slice_ in slices]
            rows.append([assistant, "span", *spans])
    ceilings = {score.slice: score for score in scores if score.metric == KEY_CEILING}
    rows.append(["ceiling of the key", "", *(_cell(ceilings.get(slice_)) for slice_ in slices)])
    parts: list[Part] = [Heading(domain), Table(["assistant", "contract", *headings], rows)]
    if imported := sorted({score.assistant for score in scores if score.imported}):
        parts.append(Note(f"Imported, not run by memflow: {', '.join(imported)}."))
    return parts


def _cell(score: Score | None, name: str = "") -> str:
    if score is None or score.value is None:
        return NO_SCORE
    interval = no_interval(score) if score.low is None else f"{score.low:.3f} to {score.high:.3f}"
    return f"{score.value:.4f} ({interval})" if name == "all" and interval else f"{score.value:.4f}"


def _span(
    scores_by_key: Mapping[ScoreKey, Score], assistant: str, contracts: Sequence[str], slice_name: str
) -> str:
    """Return the difference between the highest and the lowest J of the contracts, if all have a value."""
    scores = [scores_by_key.get((assistant, metric, slice_name)) for metric in contracts]
    values = [score.value for score in scores if score is not None and score.value is not None]
    return f"{max(values) - min(values):.4f}" if len(values) == len(contracts) else NO_SCORE
