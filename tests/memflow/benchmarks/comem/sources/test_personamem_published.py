"""PersonaMem 32k as published, its first 25 contexts, compared with an independent reader."""

import ast
import csv
import json
import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from memflow.benchmarks.comem.benchmark import CoMem
from memflow.benchmarks.comem.contexts import Context
from memflow.benchmarks.comem.load import load_contexts
from memflow.benchmarks.comem.sources.personamem import ALIASES
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


def test_25_published_personamem_contexts_have_known_question_counts(plain: Plain):
    asked = [asked for context in plain.read for asked in context.questions]
    assert (len(plain.contexts), len(plain.rows)) == (25, 386)
    assert (len(plain.read), len(asked), len(plain.records)) == (25, 386, 411)
    assert Counter(each["correct_answer"] for each in plain.rows) == {
        "(c)": 104, "(b)": 97, "(d)": 94, "(a)": 91,
    }  # fmt: skip
    assert Counter(each.answer for each in asked) == {3: 104, 2: 97, 4: 94, 1: 91}
    types = Counter(each["question_type"] for each in plain.rows)
    assert sorted(types.values(), reverse=True) == [89, 85, 64, 57, 42, 39, 10]
    merged = Counter(ALIASES.get(each["question_type"], each["question_type"]) for each in plain.rows)
    assert Counter(each.category for each in asked) == merged
    assert sorted(merged.values(), reverse=True) == [99, 85, 64, 57, 42, 39]


def test_messages_roles_and_sessions_match_published_personamem_file(plain: Plain):
    neighbours: Counter[tuple[str, str]] = Counter()
    for context in plain.read:
        said = plain.contexts[context.context_id]
        personas = [place for place, each in enumerate(said) if each["role"] == "system"]
        assert 4 <= len(personas) <= 7
        assert len({said[place]["content"] for place in personas}) == 1
        assert [place for place, line in enumerate(context.messages) if line.speaker == "Persona"] == personas
        assert [line.session for line in context.messages] == [
            sum(place <= here for place in personas) - 1 for here in range(len(said))
        ]
        for line, each in zip(context.messages, said, strict=True):
            assert line.role == ("assistant" if each["role"] == "assistant" else "user")
            mark = "" if each["role"] == "system" else f"{each['role'].title()}: "
            assert line.text == each["content"].removeprefix(mark)
        neighbours.update((before["role"], after["role"]) for before, after in pairwise(said))
    lengths = [len(context.messages) for context in plain.read]
    assert (sum(lengths), min(lengths), max(lengths)) == (4347, 117, 237)
    assert (neighbours["user", "user"], neighbours["assistant", "assistant"]) == (343, 3)


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
