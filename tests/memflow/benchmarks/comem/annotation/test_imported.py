"""Label files: import is the inverse of export, and mismatched files are rejected with the line number."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from memflow.benchmarks.api import States
from memflow.benchmarks.comem.annotation.imported import import_labels
from memflow.benchmarks.comem.annotation.label_file import LabelFile, format_label_file
from memflow.benchmarks.comem.benchmark import CoMem
from memflow.benchmarks.comem.config import CoMemConfig, parse_config
from memflow.benchmarks.comem.load import load_contexts
from memflow.benchmarks.datasets import Dataset
from memflow.benchmarks.domains import Domain
from memflow.errors import BadInput
from memflow.records import GoldLabel, Probe, Record
from memflow.resources.lake.lake import Lake

ANNOTATED = Dataset("keys_of_ours", "Keys", "comem", ("ours/keys.jsonl",), "", "", "Ask for it.")
IMPORTING = {"keys": "imported"}
Damage = Callable[[list[dict[str, Any]]], object]


@pytest.fixture(scope="module")
def own(bench: CoMem, demo: Domain, records: list[Record]) -> list[GoldLabel]:
    """Return the demo's labels as if from two models. The first question is dropped; the second has a failed label."""
    keys = asyncio.run(bench.gold_labels(demo, records, [], None))
    first, second = list(dict.fromkeys(key.question_id for key in keys))[:2]
    found = []
    for key in keys:
        hands = [
            replace(key, made_by="annotator", model="one", why="It was said.", answer="1"),
            replace(key, made_by="verifier", model="two", why=None, agrees=True),
        ]
        if key.question_id == first:
            hands = [replace(hand, dropped="they disagree") for hand in hands]
        if key.question_id == second:
            hands[1] = replace(hands[1], answer=None, reason="no usable answer")
        found += hands
    return found


@pytest.fixture(scope="module")
def exported(demo: Domain, records: list[Record], own: list[GoldLabel]) -> LabelFile:
    return format_label_file(demo, load_contexts(demo, records), own, {"one": "Model One"})


@pytest.fixture
def imports(
    bench: CoMem, demo: Domain, records: list[Record], tmp_path: Path
) -> Callable[..., list[GoldLabel]]:
    """Return the labels of the demo after it imports a file with this text."""

    def keys(text: str, limit: int = 0, **settled: Any) -> list[GoldLabel]:
        path = tmp_path / "keys.jsonl"
        path.write_text(text, encoding="utf-8")
        held = [*records, *bench.records(ANNOTATED, {"ours/keys.jsonl": path})]
        domain = replace(demo, parameters={**IMPORTING, **settled}, limit=limit)
        return asyncio.run(bench.gold_labels(domain, held, [], None))

    return keys


def lines_of(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def text_of(lines: list[dict[str, Any]]) -> str:
    return "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines)


def test_exported_label_file_has_no_dialogue_text(exported: LabelFile, demo: Domain, records: list[Record]):
    for context in load_contexts(demo, records):
        for line in context.messages:
            assert line.text not in exported.text
        for asked in context.questions:
            assert asked.question not in exported.text
            assert not [option for option in asked.options if json.dumps(option) in exported.text]


def test_imported_labels_give_same_probes_as_exported_labels(
    bench: CoMem, demo: Domain, records: list[Record], imports: Callable[..., list[GoldLabel]], tmp_path: Path
):
    nobody: Any = None
    keys = asyncio.run(bench.gold_labels(demo, records, [], None))
    text = format_label_file(demo, load_contexts(demo, records), keys, {}).text

    def stored(folder: str, domain: Domain, held: list[GoldLabel]) -> str:
        probes: list[Probe] = asyncio.run(bench.probes(domain, records, States(), [], nobody, held))
        lake = Lake(tmp_path / folder)
        assert len(probes) == 5 * 22 and any(probe.evidence for probe in probes)
        return lake.write("question.probes", domain.name, probes, fingerprint="test").content

    taken = imports(text)
    assert {key.made_by for key in taken} == {"imported"}
    assert stored("there", demo, keys) == stored("here", replace(demo, parameters=IMPORTING), taken)


def test_question_without_labels_is_dropped(exported: LabelFile, imports: Callable[..., list[GoldLabel]]):
    gone = [key for key in imports(exported.text) if key.dropped is not None]
    assert {key.question_id for key in gone} == set(exported.left_out)
    assert {(key.dropped, key.answer, key.reason) for key in gone} == {
        ("no label file contains the question", None, None)
    }
    assert len(gone) == 2 * 4


def edit(line: int, **values: Any) -> Damage:
    return lambda lines: lines[line].update(values)


def edit_key(key: int, **values: Any) -> Damage:
    """Return the corruption of one label in line 3."""
    return lambda lines: lines[2]["keys"][key].update(values)


SHARES = r"line 3: question \S+: the labels are at \[0\.25, "
DAMAGES: list[tuple[Damage, str]] = [
    (lambda lines: lines.pop(0), r"line 1: at format: Field required"),
    (edit(0, format="memflow keys 2"), r"line 1: at format: Input should be 'memflow keys 1'"),
    (lambda lines: lines.pop(), r"the file has 19 questions, but its header states 20"),
    (
        edit(2, question_id="ana/shoes"),
        r"keys_of_ours: ours/keys.jsonl, line 3: question ana/shoes: the domain has no such question",
    ),
    (edit(2, digest="0" * 32), r"line 3: question \S+: the labels belong to a different wording"),
    (
        edit_key(3, answer=9),
        r"line 3: question \S+: the label at 1\.0 is option 9, but the question has 4 options",
    ),
    (
        edit_key(1, visible=13),
        r"line 3: question \S+: the label at 0\.5 was made from 13 messages, but 12 are visible",
    ),
    (edit_key(1, share=0.6), rf"{SHARES}0\.6, 0\.75, 1\.0\] of the context, but"),
    (lambda lines: lines[2]["keys"].pop(), rf"{SHARES}0\.5, 0\.75\] of the context, but"),
]


@pytest.mark.parametrize(("damage", "said"), DAMAGES)
def test_label_file_with_mismatched_line_is_rejected(
    exported: LabelFile, imports: Callable[..., list[GoldLabel]], damage: Damage, said: str
):
    lines = lines_of(exported.text)
    damage(lines)
    with pytest.raises(BadInput, match=said):
        imports(text_of(lines))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda text: "", "the label file is empty"),
        (lambda text: text.replace("\n", "\n\n", 1), "line 2 of the label file is empty"),
    ],
)
def test_label_import_rejects_invalid_file(
    exported: LabelFile, imports: Callable[..., list[GoldLabel]], change: Callable[[str], str], said: str
):
    with pytest.raises(BadInput, match=said):
        imports(change(exported.text))


@pytest.mark.parametrize(
    "damage",
    [edit(2, note="!"), edit_key(1, answer="B"), edit_key(1, answer=True), edit(2, keys=None)],
)
def test_invalid_line_of_label_file_removes_only_the_labels_of_its_question(
    exported: LabelFile, imports: Callable[..., list[GoldLabel]], damage: Damage
):
    lines = lines_of(exported.text)
    question = lines[2]["question_id"]
    labeled = {label.question_id for label in imports(exported.text) if label.dropped is None}
    damage(lines)
    found = {label.question_id for label in imports(text_of(lines)) if label.dropped is None}
    assert labeled - found == {question}


def test_label_import_rejects_domain_without_label_file_or_keys_parameter(
    demo: Domain, records: list[Record], exported: LabelFile, imports: Callable[..., list[GoldLabel]]
):
    importing = replace(demo, parameters=IMPORTING)
    with pytest.raises(BadInput, match=r"none of its data sets \(comem_sample\) has a label file"):
        import_labels(importing, records, parse_config(importing))
    with pytest.raises(BadInput, match="keys_of_ours contains imported labels, but its parameter keys"):
        imports(exported.text, keys="rule")


def test_label_export_rejects_stale_labels(demo: Domain, records: list[Record], own: list[GoldLabel]):
    contexts = load_contexts(demo, records)
    halves = replace(demo, parameters={"checkpoints": (0.5, 1.0)})
    assert CoMemConfig.model_validate(halves.parameters).checkpoints == (0.5, 1.0)
    with pytest.raises(BadInput, match="truncation that differs from the domain's; rebuild question/keys"):
        format_label_file(halves, contexts, own, {})
    with pytest.raises(
        BadInput, match=r"the stored labels include house/.*, which is not a question of the domain"
    ):
        format_label_file(demo, contexts[:1], [key for key in own if key.episode_id in ("ana", "house")], {})
