"""The command `memflow show partitions`: min-max and z scores by paper partition (MemoryBench, tables 10 and 11)."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from memflow.benchmarks.domains import Domain
from memflow.benchmarks.memorybench.config import parameters_of
from memflow.benchmarks.memorybench.domains import FIELDS, FORMATS
from memflow.benchmarks.memorybench.partitions import (
    DATASET,
    MACRO,
    MICRO,
    SUBSTITUTED,
    Cell,
    cells,
    missing_datasets,
    partitions,
    pooled_cells,
    scaled_datasets,
)
from memflow.benchmarks.memorybench.views.published import (
    PublishedRow,
    dataset_rows,
    paper_notes,
    partition_rows,
)
from memflow.benchmarks.views import Answer, Dim, Heading, Note, Part, Reader, Table
from memflow.errors import BadInput
from memflow.records import Score

SCALE_HEADS = ("min-max", "z")


def show_partitions(reader: Reader, macro: bool, paper: bool) -> Answer:
    """Return tables of pooled scores and of scores on the published scale, for each measured paper partition.

    Raises BadInput if no partition was measured and published scores (`paper`) are not requested.
    """
    scores = reader.scores()
    domains = partitions(reader.domains(dict.fromkeys(score.domain for score in scores)))
    slice_ = MACRO if macro else MICRO
    pooled = pooled_cells(scores, domains, slice_=slice_)
    standard = cells(scores, domains, slice_=slice_)
    if not (pooled or standard or paper):
        raise BadInput(
            "no partition of MemoryBench has results yet. Measure one with `memflow run --domain "
            "memorybench_legal` (`memflow data` lists the missing files), or show the published scores with --paper."
        )
    by_dataset = [
        cell
        for domain in domains
        for name in scaled_datasets(scores, domain)
        for cell in cells(scores, [domain], slice_=f"{DATASET}{name}")
    ]
    published = partition_rows(macro=macro) if paper else []
    missing = {domain.name: missing_datasets(scores, domain) for domain in domains}
    heads = _heads(domains, missing)
    populations = _populations(scores, domains)
    every = [*pooled, *standard, *by_dataset]
    return Answer(
        {
            "slice": "macro" if macro else "micro",
            "cells": [{**asdict(cell), "reason": cell.reason} for cell in every],
            "populations": {name: list(counts) for name, counts in populations.items()},
            "paper": [cell._asdict() for row in published for cell in row.cells.values()],
        },
        [
            *_pooled(pooled, heads, populations),
            *_standard(standard, heads, published, missing),
            *_partial(domains, missing),
            *_by_dataset(by_dataset, paper=paper),
            *([Note(text) for text in paper_notes(macro=macro)] if paper else []),
        ],
        scores=[score for cell in every for score in cell.scores],
    )


def _populations(scores: Sequence[Score], domains: Sequence[Domain]) -> dict[str, list[int]]:
    """Return the numbers of assistants of each domain, one number per chat model."""
    names = {domain.name for domain in domains}
    of = {(score.domain, score.model, score.assistant) for score in scores if score.domain in names}
    counts = Counter((domain, model) for domain, model, _ in sorted(of))
    return {name: [n for (domain, _), n in counts.items() if domain == name] for name in sorted(names)}


def _pooled(
    found: Sequence[Cell], heads: Mapping[str, str], populations: Mapping[str, Sequence[int]]
) -> Iterator[Part]:
    if not found:
        return
    yield Heading("MemoryBench by partition, pooled: relative to the assistants of each domain")
    yield _table(found, {domain: heads[domain] for domain in dict.fromkeys(cell.domain for cell in found)})
    of = ", ".join(
        f"{heads[domain]}: {' and '.join(map(str, counts))}"
        for domain, counts in populations.items()
        if domain in heads
    )
    yield Note(
        "Pooled scores are relative to the scores of the assistants of the domain that have the same chat model. "
        f"Number of assistants: {of}. Pooled scores change when an assistant is added and are not comparable between "
        "domains."
    )
    if substituted := dict.fromkeys(heads[cell.domain] for cell in found if cell.variant == SUBSTITUTED):
        yield Note(
            f"Substituted in {', '.join(substituted)}: a metric whose backend is missing is replaced by the one that "
            "needs none, such as meteor_nowordnet."
        )
    yield from _missing(found, heads)


def _partial(domains: Sequence[Domain], missing: Mapping[str, Sequence[str]]) -> Iterator[Note]:
    for domain in domains:
        if names := missing[domain.name]:
            partition = parameters_of(domain).partition
            yield Note(
                f"{domain.name} is not the whole partition {partition}: it is without {', '.join(names)}."
            )


def _standard(
    found: Sequence[Cell],
    heads: Mapping[str, str],
    published: Sequence[PublishedRow],
    missing: Mapping[str, Sequence[str]],
) -> Iterator[Part]:
    """Yield tables of scores on the published scale, for domains with all data sets of a partition."""
    shown = [
        cell
        for cell in found
        if not missing[cell.domain] and any(score.value is not None for score in cell.scores)
    ]
    if shown or published:
        yield Heading("MemoryBench by partition, relative to the published scores")
    for names in (FIELDS, FORMATS) if published else ((*FIELDS, *FORMATS),):
        own = [cell for cell in shown if cell.partition in names]
        measured = {domain: head for domain, head in heads.items() if domain in {each.domain for each in own}}
        partition_of = {cell.domain: cell.partition for cell in own}
        if published:
            partition_of |= {name: name for name in names if name not in partition_of.values()}
        if partition_of:
            yield _table(
                own, {name: measured.get(name, name) for name in partition_of}, partition_of, published
            )
    yield from _missing(found, heads, "on the published scale")


def _by_dataset(found: Sequence[Cell], *, paper: bool) -> Iterator[Part]:
    """Yield one table per domain, with the data sets whose scores are on the published scale."""
    for domain in dict.fromkeys(cell.domain for cell in found):
        own = [cell for cell in found if cell.domain == domain]
        heads = {name: name for name in dict.fromkeys(cell.dataset for cell in own)}
        yield Heading(f"{domain} by data set, relative to the published scores")
        published = dataset_rows(own[0].partition, list(heads)) if paper else []
        yield _table(own, heads, published=published)


def _heads(domains: Sequence[Domain], missing: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Return the column heads of domains: the name of the partition or of the domain.

    The domain's name is used if several domains have the partition, if data sets are missing, and for a sample.
    """
    partition_of = {domain.name: str(parameters_of(domain).partition) for domain in domains}
    names = list(partition_of.values())
    return {
        domain.name: domain.name
        if names.count(partition_of[domain.name]) > 1 or missing[domain.name] or domain.limit
        else partition_of[domain.name]
        for domain in domains
    }


def _table(
    found: Sequence[Cell],
    heads: Mapping[str, str],
    partition_of: Mapping[str, str] | None = None,
    published: Sequence[PublishedRow] = (),
) -> Table:
    """Return a table with one row per assistant, then rows of published scores, and two columns per head."""
    columns = [f"{head}\n{scale}" for head in heads.values() for scale in SCALE_HEADS]
    by_place = {(cell.assistant, cell.dataset or cell.domain): cell for cell in found}
    rows: list[list[Any]] = []
    for assistant in dict.fromkeys(cell.assistant for cell in found):
        row: list[Any] = [assistant]
        for name in heads:
            cell = by_place.get((assistant, name))
            both = (None, None) if cell is None else (cell.min_max, cell.z_score)
            row += [None if one is None else one.value for one in both]
        rows.append(row)
    for source in dict.fromkeys(each.source for each in published):
        rows.append([Dim(source), *([""] * len(columns))])
        for each in published:
            if each.source == source:
                of_heads = [each.cells.get((partition_of or {}).get(name, name)) for name in heads]
                values = [("", "") if cell is None else (cell.min_max, cell.z_score) for cell in of_heads]
                rows.append(
                    [
                        Dim(f"  {each.system}"),
                        *(Dim(f"{one:.3f}" if one != "" else "") for both in values for one in both),
                    ]
                )
    return Table(["memory", *columns], rows)


def _missing(found: Sequence[Cell], heads: Mapping[str, str], where: str = "") -> Iterator[Note]:
    """Yield one note for each reason why scores are missing."""
    for reason in dict.fromkeys(cell.reason for cell in found if cell.reason is not None):
        without = [cell for cell in found if cell.reason == reason]
        names: dict[str, list[str]] = {}
        for cell in without:
            names.setdefault(heads[cell.domain], []).append(cell.assistant)
        listed = "; ".join(f"{', '.join(assistants)} in {head}" for head, assistants in names.items())
        yield Note(" ".join(f"No score {where} of {listed}: {reason}.".split()))
