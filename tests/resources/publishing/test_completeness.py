"""What stored results lack, from the metadata of their partitions."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import factories
import pytest

from memflow.benchmarks.datasets import Dataset
from memflow.benchmarks.domains import Domain
from memflow.resources.data.library import Library
from memflow.resources.lake.lake import Lake
from memflow.resources.publishing.completeness import all_gaps, assistant_gaps, domain_gaps
from memflow.scoring.completeness import INCOMPLETE

DOMAIN = Domain("d", "whatever", ("first", "second"), "")


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake(tmp_path / "lake")


@pytest.fixture
def library(tmp_path: Path) -> Library:
    known = {
        name: Dataset(name, "", "amemgym", (f"{name}.json",), "", "", "", optional=optional)
        for name, optional in (("first", ("more.json",)), ("second", ()))
    }
    return Library(tmp_path / "data", known)


def write(lake: Lake, table: str, partition: str, rows: Sequence[Any], **meta: str) -> None:
    lake.write(table, partition, rows, fingerprint="", meta=meta)


def probes(*reasons: str | None, split: str = "test") -> list[Any]:
    return [
        factories.probe(domain="d", probe_id=f"{split}{number}", split=split, reason=reason)
        for number, reason in enumerate(reasons)
    ]


def test_domain_gaps_name_missing_data_sets_optional_files_and_quarantined_users(
    lake: Lake, library: Library
) -> None:
    domain = replace(DOMAIN, benchmark="amemgym")
    for name in domain.datasets:
        write(lake, "raw.records", name, [factories.record(dataset=name)])
    write(lake, "state.profiles", "d", [factories.profile(domain="d", user_id="u1", reason="no portrait")])
    assert domain_gaps(domain, lake, library) == (
        "without the optional files more.json of first; 1 of 1 users quarantined"
    )
    only_second = Lake(Path(lake.root).parent / "other")
    write(only_second, "raw.records", "second", [factories.record(dataset="second")])
    assert domain_gaps(domain, only_second, library) == "1 of 2 data sets (without first)"


@pytest.mark.parametrize(("limit", "expected"), [(0, None), (2, "sample of 2 of 3 users"), (3, None)])
def test_domain_gaps_contain_the_number_of_users_within_the_limit(
    limit: int, expected: str | None, lake: Lake, library: Library
) -> None:
    domain = Domain("d", "amemgym", ("second",), "", limit=limit)
    users = [factories.record(dataset="second", record_id=f"u{number}") for number in range(3)]
    write(lake, "raw.records", "second", users)
    assert domain_gaps(domain, lake, library) == expected


@pytest.mark.parametrize(("records", "expected"), [(12, "12 of 20 published records of part"), (20, None)])
def test_domain_gaps_contain_the_record_count_of_a_partial_data_set(
    records: int, expected: str | None, lake: Lake, tmp_path: Path
) -> None:
    part = Dataset("part", "", "amemgym", ("part.json",), "", "", "", counts={"records": 20}, partial=True)
    rows = [
        factories.record(dataset="part", record_id=f"u{number}", content="{}", source="part.json")
        for number in range(records)
    ]
    write(lake, "raw.records", "part", rows)
    found = domain_gaps(Domain("d", "amemgym", ("part",), ""), lake, Library(tmp_path, {"part": part}))
    assert found == expected


def test_replies_to_quarantined_test_probes_do_not_count_as_failed(lake: Lake) -> None:
    write(lake, "question.probes", "d", [*probes(None, "no gold", None), *probes("bad case", split="train")])
    reasons = (None, "the probe is quarantined: no gold", "timeout")
    replies = [
        factories.reply(domain="d", assistant="full", probe_id=f"test{number}", reason=reason)
        for number, reason in enumerate(reasons)
    ]
    write(lake, "answer.replies", "d/full", replies)
    write(lake, "memory.transcripts", "d/full", [factories.transcript_message(reason="timeout")])
    assert assistant_gaps("d", "full", lake) == "1 of 1 messages failed; 1 of 3 replies failed"
    assert assistant_gaps("d", "none", lake) is None


def test_all_gaps_joins_the_gaps_stored_with_probes_and_verdicts(lake: Lake) -> None:
    write(lake, "question.probes", "d", probes(None, "no gold"), **{INCOMPLETE: "sample of 2 of 20 users"})
    write(lake, "score.verdicts", "d/full", [], **{INCOMPLETE: "1 of 3 replies failed"})
    of_probes, of_verdicts = lake.facts("question.probes", "d"), lake.facts("score.verdicts", "d/full")
    assert all_gaps(of_probes, of_verdicts) == (
        "sample of 2 of 20 users; 1 of 2 probes quarantined; 1 of 3 replies failed"
    )
    assert all_gaps(None, None) is None
