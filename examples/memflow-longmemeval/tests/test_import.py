"""Import of recorded replies with labels."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from longmemeval_rows import domain, instance, rows
from memflow_longmemeval.results_import import MISSING, import_results

from memflow.errors import BadInput
from memflow.records import Probe, Record

Read = Callable[[Any], list[Record]]


class Lake:
    """A reader of one table of probes."""

    def __init__(self, probes: list[Probe]) -> None:
        self.probes = probes

    def facts(self, table: str, partition: str) -> object | None:
        return self.probes or None

    def rows(self, table: str, partition: str) -> list[Any]:
        return self.probes


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Return a log with labels of two questions, one of which is in no domain."""
    rows = [
        {"question_id": "a", "hypothesis": "It is.", "autoeval_label": {"model": "gpt-4o", "label": True}},
        {"question_id": "x", "hypothesis": "No.", "autoeval_label": {"model": "gpt-4o", "label": False}},
    ]
    path = tmp_path / "My run.eval-results-gpt-4o.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    return path


async def test_labels_become_verdicts_and_missing_ones_a_reason(read: Read, log: Path) -> None:
    _, probes = await rows(domain(), read([instance("a"), instance("b")]))
    found = import_results(Lake(probes), domain(), log)  # type: ignore[arg-type]
    assert found.assistant == "imported_my_run@recorded"
    assert [(reply.text, reply.reason) for reply in found.replies] == [("It is.", None), (None, MISSING)]
    assert [(row.value, row.reason) for row in found.verdicts] == [(1.0, None), (None, MISSING)]
    assert found.settings == {"judges": {"gpt-4o": 2}} and "judged by gpt-4o" in found.source
    assert list(found.faults) == ["labels of 1 questions that are not in longmemeval_oracle"]


async def test_log_of_another_domain_and_domain_without_probes_are_rejected(read: Read, log: Path) -> None:
    _, probes = await rows(domain(), read([instance("b")]))
    with pytest.raises(BadInput, match="none of its 2 questions"):
        import_results(Lake(probes), domain(), log)  # type: ignore[arg-type]
    with pytest.raises(BadInput, match="the lake has no probes"):
        import_results(Lake([]), domain(), log)  # type: ignore[arg-type]
