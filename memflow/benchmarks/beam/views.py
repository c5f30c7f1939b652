"""The view `memflow show beam`: each contract by ability, with the tokens of a question and the text played."""

from collections.abc import Sequence

from memflow.benchmarks.beam.metrics import NAME
from memflow.benchmarks.beam.types import (
    BY_ABILITY,
    CORRECTED,
    FULL,
    HEADING,
    NO_INFORMATION,
    OF_PLANS,
    ORDERING,
    PUBLISHED,
    TRUNCATED,
    TYPES,
    type_slice,
)
from memflow.benchmarks.views import (
    ASSISTANT_OPTION,
    DOMAIN_OPTION,
    Answer,
    Heading,
    Note,
    Part,
    Reader,
    Table,
    View,
    stored_rows,
)
from memflow.errors import BadInput
from memflow.records import Reply, Score

COLUMNS = ("domain", "text", "contract", "assistant", "mean", "low", "high", *TYPES, "tokens", "questions")
Scores = dict[tuple[str, str, str], Score]
"""Scores of an assistant by metric, variant and slice."""


def show_beam(
    reader: Reader, domain: Sequence[str] | None = None, assistant: Sequence[str] | None = None
) -> Answer:
    """Return the scores of each contract in percent, by ability, and what constant answers score. Raises BadInput."""
    known = {row.name for row in reader.domains(sorted({score.domain for score in reader.scores()}))}
    scores = [
        score
        for score in reader.scores()
        if score.domain in known
        and reader.domain(score.domain).benchmark == NAME
        and (not domain or score.domain in domain)
        and (not assistant or score.assistant in assistant)
    ]
    if not scores:
        raise BadInput(f"no results of {NAME} yet. Create some with `memflow run --domain beam_demo`.")
    by_result: dict[tuple[str, str], Scores] = {}
    for score in scores:
        of_result = by_result.setdefault((score.domain, score.assistant), {})
        of_result[score.metric, score.variant, score.slice] = score
    tokens = {result: _tokens(reader, "/".join(result)) for result in by_result}
    rows = [
        _row(name, member, contract, found, tokens[name, member])
        for contract in (PUBLISHED, CORRECTED)
        for (name, member), found in sorted(by_result.items())
        if (contract, "standard", "all") in found
    ]
    parts: list[Part] = []
    for contract in (PUBLISHED, CORRECTED):
        if of_contract := [row for row in rows if row[2] == contract]:
            parts += [Heading(f"Percent under {contract}"), Table(COLUMNS, of_contract)]
    parts += [Note(text) for text in _constants(by_result)]
    records = [dict(zip(COLUMNS, row, strict=True)) for row in rows]
    return Answer({"scores": records}, parts, records, scores)


def _tokens(reader: Reader, partition: str) -> float | None:
    """Return the mean estimated tokens that a memory added to a question."""
    replies: list[Reply] = stored_rows(reader, "answer.replies", [partition])
    return sum(reply.injected_tokens for reply in replies) / len(replies) if replies else None


def _row(
    domain: str, assistant: str, contract: str, scores: Scores, tokens: float | None
) -> tuple[object, ...]:
    whole = scores[contract, "standard", "all"]
    mean = scores.get((contract, BY_ABILITY, "all"), whole)
    texts = [text for text in (FULL, TRUNCATED, OF_PLANS) if (contract, "standard", text) in scores]
    abilities = [
        None if (score := scores.get((contract, "standard", type_slice(kind)))) is None else score.value
        for kind in TYPES
    ]
    values = [
        None if value is None else 100 * value for value in (mean.value, mean.low, mean.high, *abilities)
    ]
    return (
        domain, " and ".join(texts), contract, assistant, *values, tokens, whole.n,
    )  # fmt: skip


def _constants(results: dict[tuple[str, str], Scores]) -> list[str]:
    """Return a sentence per domain on what constant answers score on orders of events."""
    found: dict[str, str] = {}
    for (domain, _), scores in results.items():
        values = [
            None if (score := scores.get((metric, variant, type_slice(ORDERING)))) is None else score.value
            for metric in (NO_INFORMATION, HEADING)
            for variant in ("standard", "corrected")
        ]
        if all(value is not None for value in values):
            knows, knows_corrected, heads, heads_corrected = (100 * (value or 0) for value in values)
            found[domain] = (
                f"{domain}, {ORDERING}: an answer without any information scores {knows:.1f} (published) and "
                f"{knows_corrected:.1f} (corrected); the perfect list after a heading {heads:.1f} and "
                f"{heads_corrected:.1f}."
            )
    return list(found.values())


VIEWS = (
    View(
        "beam",
        "Show BEAM's scores by ability under each judge contract, with the tokens of a question.",
        show_beam,
        (DOMAIN_OPTION, ASSISTANT_OPTION),
    ),
)
