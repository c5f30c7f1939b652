"""Rows of the published form become chunks, probes, verdicts and scores; each damaged part costs itself alone."""

import copy
import json
from pathlib import Path
from typing import Any

import factories
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from memflow.benchmarks import registry
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.memoryagentbench.config import MemoryAgentBenchConfig
from memflow.benchmarks.memoryagentbench.load import count_contents, load_rows, read_records
from memflow.benchmarks.memoryagentbench.probes import make_probes
from memflow.benchmarks.memoryagentbench.sources import SUBSTRING
from memflow.benchmarks.memoryagentbench.turns import INSTRUCTION, chunks, make_turns
from memflow.benchmarks.memoryagentbench.verdicts import make_verdicts
from memflow.benchmarks.registry import find_dataset
from memflow.errors import BadInput
from memflow.metrics.backends import MetricBackends
from memflow.records import Reply
from memflow.tokens import estimate

CONFLICTS = find_dataset("mab_conflict_resolution")
DOMAIN = Domain("d", "memoryagentbench", (CONFLICTS.name,), "Test")
FACTS = "Here is a list of facts:\n0. Ida lives in Tarvik.\n1. Ida plays chess.\n2. Ida lives in Perrun."


def row(source: str = "factconsolidation_sh_6k") -> dict[str, Any]:
    metadata = {"source": source, "qa_pair_ids": [f"{source}_no0", f"{source}_no4"], "demo": None}
    questions = ["In which city does Ida live?", "Which game does Ida play?"]
    return {
        "context": FACTS,
        "questions": questions,
        "answers": [["Perrun"], ["chess"]],
        "metadata": metadata,
    }


def read(tmp_path: Path, *rows: dict[str, Any], name: str = "rows.json") -> list[Any]:
    path = tmp_path / name
    if path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(list(rows)), path)
    else:
        path.write_text(json.dumps(rows), encoding="utf-8")
    return read_records(CONFLICTS, {f"memoryagentbench/{name}": path})


def reply(probe_id: str, text: str | None, reason: str | None = None) -> Reply:
    return factories.reply(assistant="full", probe_id=probe_id, text=text, parsed=None, reason=reason)


@pytest.mark.parametrize("name", ["rows.json", "rows.parquet"])
def test_both_forms_of_a_file_give_the_same_rows(tmp_path: Path, name: str) -> None:
    records = read(tmp_path, row(), row("factconsolidation_mh_6k"), name=name)
    assert [record.record_id for record in records] == ["factconsolidation_sh_6k", "factconsolidation_mh_6k"]
    assert count_contents(records).counts == {"texts": 2, "questions": 4}


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"context": " "}, "at context"),
        ({"answers": [["Perrun"]]}, "2 questions, but 1 answers"),
        ({"metadata": {"source": "factconsolidation_sh_6k", "qa_pair_ids": ["a"]}}, "but 1 qa_pair_ids"),
        ({"metadata": {"source": "recall_of_dreams"}}, "'recall_of_dreams' is no source of MemoryAgentBench"),
        ({"questions": []}, "at questions"),
    ],
)
def test_damaged_row_costs_itself(tmp_path: Path, change: dict[str, Any], fault: str) -> None:
    records = read(tmp_path, {**row(), **change}, row("factconsolidation_mh_6k"))
    assert [record.reason is None for record in records] == [False, True]
    assert fault in str(records[0].reason)


@pytest.mark.parametrize(
    ("field", "value", "fault"),
    [
        ("questions", None, "the question is empty or no text"),
        ("questions", "  ", "the question is empty or no text"),
        ("answers", [], "the accepted answers are no list of texts, or empty"),
        ("answers", [7], "the accepted answers are no list of texts, or empty"),
    ],
)
def test_damaged_question_costs_itself(tmp_path: Path, field: str, value: Any, fault: str) -> None:
    damaged = copy.deepcopy(row())
    damaged[field][0] = value
    records = read(tmp_path, damaged)
    [(dataset, loaded)] = load_rows(DOMAIN, records)
    probes = list(make_probes("d", dataset, loaded, MemoryAgentBenchConfig()))
    assert [probe.reason is None for probe in probes] == [False, True]
    assert fault in str(probes[0].reason)
    assert [fault for _, fault in count_contents(records).quarantined] == [fault]


def test_source_that_the_file_lacks_is_named(tmp_path: Path) -> None:
    domain = Domain(
        "d", "memoryagentbench", (CONFLICTS.name,), "Test", {"sources": ("factconsolidation_mh_6k",)}
    )
    with pytest.raises(
        BadInput, match=r"factconsolidation_mh_6k.*are not in the data, which has factconsolidation_sh"
    ):
        load_rows(domain, read(tmp_path, row()))


def test_chunks_contain_every_line_once_and_respect_the_limit() -> None:
    text = "\n".join(f"{number}. Ida has visited place number {number}." for number in range(200))
    parts = chunks(text, 64)
    assert "\n".join(parts) == text
    assert len(parts) > 10
    assert max(map(estimate, parts)) <= 64


def test_line_that_is_longer_than_a_chunk_is_split_after_sentences() -> None:
    line = " ".join(f"Sentence {number} of the novel ends here." for number in range(40))
    parts = chunks(line, 50)
    assert " ".join(parts) == line
    assert all(part.endswith("here.") for part in parts)


def test_messages_have_fixed_times_and_may_be_single_lines(tmp_path: Path) -> None:
    [(_, loaded)] = load_rows(DOMAIN, read(tmp_path, row()))
    turns = list(make_turns("d", loaded, MemoryAgentBenchConfig(chunk_tokens=0, instruction=False)))
    assert [turn.text for turn in turns] == FACTS.splitlines()
    assert [turn.sent_at for turn in turns][:2] == ["2026-01-05 09:00", "2026-01-05 09:01"]
    assert next(make_turns("d", loaded, MemoryAgentBenchConfig())).text == INSTRUCTION + FACTS


async def test_failed_answer_has_no_value_and_an_empty_one_is_wrong(tmp_path: Path) -> None:
    [(dataset, loaded)] = load_rows(DOMAIN, read(tmp_path, row()))
    probes = list(make_probes("d", dataset, loaded, MemoryAgentBenchConfig()))
    failed, empty = (probe.probe_id for probe in probes)
    verdicts = await make_verdicts(
        DOMAIN, probes, [reply(failed, None, "timeout"), reply(empty, " ")], MetricBackends()
    )
    found = {
        (row.probe_id, row.variant): (row.value, row.reason) for row in verdicts if row.metric == SUBSTRING
    }
    assert found[failed, "standard"] == (None, "timeout")
    assert found[failed, "published_code"] == (None, "timeout")
    assert found[empty, "standard"] == (0.0, None)
    assert found[empty, "published_code"] == (
        None,
        "the answer is empty, and the published code leaves it out",
    )


@pytest.fixture(scope="module")
def published(data: Path) -> list[Any]:
    files = {f"memoryagentbench/{path.name}": path for path in sorted(data.glob("factconsolidation_*.json"))}
    return read_records(CONFLICTS, files)


def test_published_files_have_the_known_numbers_of_facts(published: list[Any]) -> None:
    rows = {loaded.metadata.source: loaded for _, loaded in load_rows(DOMAIN, published)}
    facts = {
        source: sum(line.partition(".")[0].isdecimal() for line in loaded.context.splitlines())
        for source, loaded in rows.items()
    }
    sizes = {"6k": 455, "32k": 2_310, "64k": 4_580, "262k": 18_332}
    assert facts == {
        f"factconsolidation_{hops}_{size}": n for hops in ("sh", "mh") for size, n in sizes.items()
    }


def test_every_domain_of_the_conflicts_finds_its_text(published: list[Any]) -> None:
    spec = next(spec for spec in registry.specs() if spec.name == "memoryagentbench")
    for domain in spec.domains:
        if domain.datasets == (CONFLICTS.name,):
            assert load_rows(domain, published)
