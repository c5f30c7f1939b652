"""The command `memflow show partitions`: min-max and z scores by paper partition (MemoryBench, tables 10 and 11)."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from memflow.benchmarks.memorybench.partitions import MACRO, MICRO, Cell, cells, partitions
from memflow.benchmarks.views import Answer, Heading, Note, Part, Reader, Table
from memflow.errors import BadInput


def show_partitions(reader: Reader, macro: bool, pooled: bool) -> Answer:
    """Return a table of scores for each measured paper partition. Raises BadInput if no partition was measured."""
    scores = reader.scores()
    domains = partitions(reader.domains(dict.fromkeys(score.domain for score in scores)))
    variant = "pooled" if pooled else "standard"
    found = cells(scores, domains, variant=variant, slice_=MACRO if macro else MICRO)
    if not found:
        raise BadInput(
            "no partition of MemoryBench has results yet. Measure one with `memflow run --domain "
            "memorybench_legal` (`memflow data` lists the missing files)."
        )
    data = {
        "variant": variant,
        "slice": "macro" if macro else "micro",
        "cells": [{**asdict(cell), "reason": cell.reason} for cell in found],
    }
    return Answer(data, list(_parts(found)), scores=[score for cell in found for score in cell.scores])


def _parts(found: Sequence[Cell]) -> Iterator[Part]:
    domains = list(dict.fromkeys((cell.domain, cell.partition) for cell in found))
    heads = {
        domain: partition if [other for _, other in domains].count(partition) == 1 else domain
        for domain, partition in domains
    }
    columns = [f"{head}\n{scale}" for head in heads.values() for scale in ("min-max", "z")]
    by_place = {(cell.assistant, cell.domain): cell for cell in found}
    rows: list[list[Any]] = []
    for assistant in dict.fromkeys(cell.assistant for cell in found):
        row: list[Any] = [assistant]
        for domain in heads:
            cell = by_place[assistant, domain]
            row += [None if one is None else one.value for one in (cell.min_max, cell.z_score)]
        rows.append(row)
    yield Heading("MemoryBench by partition")
    yield Table(["memory", *columns], rows, columns)
    for reason in dict.fromkeys(cell.reason for cell in found if cell.reason is not None):
        missing = (f"{cell.assistant} in {heads[cell.domain]}" for cell in found if cell.reason == reason)
        yield Note(f"No score of {', '.join(missing)}: {reason}.")
