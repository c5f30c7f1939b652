"""The published values of `paper.csv`: those of the curated files but for named differences, and their sources."""

import os
import re
from collections import Counter
from csv import DictReader
from dataclasses import asdict
from pathlib import Path

import pytest

from memflow.benchmarks.paper_values import KEY, read_values
from memflow.papers.cells import measure
from memflow.papers.files import papers, tables_of

OF_TEXT = {"amemgym": 147, "comem": 440, "membench": 366, "memorybench": 306}
"""Values of each paper that its text has line by line and cell by cell. MemoryBench's leaderboard has 826 more."""


def curated(benchmark):
    path = Path(os.environ.get("MEMFLOW_DATA", "missing"), "published", f"{benchmark}.csv")
    if not path.is_file():
        pytest.skip(f"MEMFLOW_DATA has no published/{path.name}")
    return list(DictReader(path.read_text(encoding="utf-8").splitlines()))


def short(row):
    """Return what the renditions of AMemGym's tables have in common: the names of slices and models differ."""
    return row["table"][:8], row["system"].partition(" (AWE")[0], row["metric"], row["value"]


@pytest.mark.parametrize("benchmark", [*OF_TEXT, "locomo", "longmemeval"])
def test_each_published_value_is_a_number_with_a_source_that_a_reader_can_look_up(benchmark):
    source = re.compile(r"(arXiv|OpenReview) \w+|^[\w/-]+@[0-9a-f]{7}|github\.io")
    for value in read_values(f"memflow.benchmarks.{benchmark}"):
        assert source.search(value.source), value
        assert re.fullmatch(r"<?[-+]?[\d.]+[%k]?", value.value), value


@pytest.mark.parametrize("benchmark", sorted(OF_TEXT.keys() & papers().keys()))
def test_every_curated_value_is_printed_in_a_table_but_for_named_differences(benchmark):
    rows = curated(benchmark)
    assert sum(re.match(r"\d{3}_", row["source"]) is not None for row in rows) == OF_TEXT[benchmark]
    cells = [cell for table in tables_of(benchmark) for cell in measure(table, (), lambda view: ()).cells]
    printed = [
        asdict(cell.cell.published) | {"value": cell.plain()["published"]}
        for cell in cells
        if cell.cell.published
    ]
    by_key = {tuple(row[name] for name in KEY): row["value"] for row in printed}
    assert len(by_key) == len(read_values(f"memflow.benchmarks.{benchmark}"))
    differing = [row for row in rows if by_key.get(tuple(row[name] for name in KEY)) != row["value"]]
    if benchmark == "membench":  # the curated rows of Table 5 lack the model
        of_models = [row for row in printed if row["table"] == "Table 5"]
        assert len({row["model"] for row in of_models}) == 4 and len(of_models) == len(differing) == 128
        assert Counter(
            (row["system"], row["slice"], row["metric"], row["value"]) for row in of_models
        ) == Counter((row["system"], row["slice"], row["metric"], row["value"]) for row in differing)
    elif benchmark == "amemgym":  # Changes of rank are there twice, with and without their sign
        ranks = [int(row["value"]) for row in printed if row["metric"] == "rank_change"]
        sizes = [int(row["value"]) for row in rows if row["metric"] == "rank_change_magnitude"]
        assert [abs(rank) for rank in ranks] == sizes and len(sizes) == 18
        signs = [int(row["value"]) for row in rows if row["metric"] == "rank_change"]
        assert ranks[:17] == signs
        others = Counter(short(row) for row in differing if not row["metric"].startswith("rank_change"))
        assert not others - Counter(short(row) for row in printed)
    else:
        assert not differing
