"""PersonaMem 32k as published, its first 25 contexts, compared with an independent reader."""

import ast
import csv
import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from memflow.benchmarks.comem.benchmark import CoMem
from memflow.benchmarks.comem.contexts import Context
from memflow.benchmarks.comem.load import load_contexts
from memflow.benchmarks.registry import find_domain
from memflow.records import Record
from resources.data.library import Library

DOMAIN = replace(find_domain("comem_personamem_32k"), parameters={"keys": "published"})


@dataclass(frozen=True)
class Plain:
    rows: Sequence[Mapping[str, str]]
    contexts: Mapping[str, Sequence[Mapping[str, str]]]
    records: list[Record]

    @property
    def read(self) -> list[Context]:
        return load_contexts(DOMAIN, self.records)


@pytest.fixture(scope="module")
def plain() -> Plain:
    folder = Path(os.environ.get("MEMFLOW_DATA", "-"))
    if not (folder / "personamem").is_dir():
        pytest.skip("set MEMFLOW_DATA to a folder with personamem/")
    with (folder / "personamem/questions_32k.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    lines = (folder / "personamem/shared_contexts_32k.jsonl").read_text(encoding="utf-8").splitlines()
    contexts = {name: said for line in lines for name, said in json.loads(line).items()}
    library = Library(folder)
    known = library.dataset("personamem_32k")
    return Plain(rows, contexts, CoMem().records(known, library.paths(known)))


def test_published_probes_have_gold_options_and_last_visible_message(build: Callable[..., Any], plain: Plain):
    rows = {f"{each['shared_context_id']}/{each['question_id']}": each for each in plain.rows}
    domain = replace(DOMAIN, parameters={**DOMAIN.parameters, "ends": "question"})
    probes = build(domain, plain.records).probes
    assert len(probes) == 5 * 386
    sound = 0
    for probe in probes:
        each = rows[probe.question_id or ""]
        options = [" ".join(option[4:].split()) for option in ast.literal_eval(each["all_options"])]
        assert probe.options == options
        key = "abcd".index(each["correct_answer"][1])
        if options.count(options[key]) > 1:
            assert probe.reason is not None and "its gold option occurs 2 times" in probe.reason
            continue
        sound += 1
        assert (probe.gold, probe.reason) == (str(key + 1), None)
        if probe.checkpoint == 4:
            last = int(each["end_index_in_shared_context"]) - 1
            session = sum(m["role"] == "system" for m in plain.contexts[probe.episode_id][: last + 1]) - 1
            assert probe.after == f"{probe.episode_id}/{session}.{last}"
        else:
            assert probe.after is None
    assert sound == 5 * 375
