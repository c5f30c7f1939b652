"""LexEval, JuDGE, IdeaBench, SciTechNews and LimitGen-Syn: small files of our own making, damaged ones, real ones."""

import csv
import io
import json
import math
import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from memflow.benchmarks.api import States
from memflow.benchmarks.datasets import dataset
from memflow.benchmarks.domains import Domain, find
from memflow.benchmarks.memorybench.benchmark import MemoryBench
from memflow.benchmarks.memorybench.question import build_prompt
from memflow.benchmarks.memorybench.selection import select
from memflow.benchmarks.memorybench.tasks.limitgen import ASPECTS
from memflow.benchmarks.memorybench.tasks.readers import build_pools
from memflow.benchmarks.memorybench.tasks.task import Case, Pool
from memflow.chat.asking import first_request
from memflow.chat.scripted import ScriptedChat
from memflow.errors import BadInput
from memflow.records import Record
from resources.library import Library

Reading = Callable[[str, Mapping[str, str | bytes]], list[Record]]


@pytest.fixture
def reading(tmp_path: Path) -> Reading:
    """Reads a data set from the given files."""

    def read(name: str, files: Mapping[str, str | bytes]) -> list[Record]:
        for source, content in files.items():
            path = tmp_path / source
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return MemoryBench().records(dataset(name), {source: tmp_path / source for source in files})

    return read


def lines(*rows: Mapping[str, Any]) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def table(*rows: Mapping[str, Any]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def cases(records: list[Record]) -> list[Case]:
    (pool,) = build_pools(records)
    return list(pool.cases)


LEXEVAL = {
    "instruction": "请回答下列问题。\n",
    "input": "什么是要约？",
    "answer": "要约是希望订立合同的意思表示。",
}
JUDGE = {"text_id": "j-1", "text": " 被告人甲盗窃自行车一辆。 ", "la": [264], "fd": "刑事判决书 判决如下：……"}
NEWS = {
    "sc-title": "On Kites",
    "sc-abstract": "Kites rise. They also fall.",
    "sc-article": "The whole paper.",
    "pr-title": "Kites go up",
    "pr-summary": "A kite is a thing that goes up.",
    "pr-article": "The whole release.",
}
TARGET = {"paperId": "p1", "title": "Of wind", "abstract": "Wind lifts {greater than or equal to} one kite."}
REFERENCES = [{"targetPaperId": "p1", "abstract": f"Finding {{number}} {number}."} for number in range(5)]
PAPER = {
    "title": "On Kites",
    "abstract": "We fly kites.",
    "sections": [
        {"section_id": "1", "parent_section_id": "None", "section_name": "Wind", "text": "It blows."},
        {"section_id": "2", "parent_section_id": "None", "section_name": "Rope", "text": "It holds."},
    ],
}
LABEL = {"element": "rope", "ground_truth": "No ablation of the rope."}
PAPERS = {
    "limitgen_syn/annotated/ablation/2403.1v1.json": json.dumps(PAPER),
    "limitgen_syn/sections/ablation.json": json.dumps({"2403.1v1": LABEL, "2403.9v1": LABEL}),
}
IDEAS = {
    "ideabench/target_papers.csv": table(TARGET),
    "ideabench/filtered_references.csv": table(*REFERENCES),
}
SMALL: dict[str, Mapping[str, str | bytes]] = {
    "lexeval_qa": {"lexeval/5_4.json": lines(LEXEVAL, {**LEXEVAL, "input": "什么是承诺？"})},
    "judge": {"judge/test.json": lines(JUDGE)},
    "scitechnews": {"scitechnews/test.json": lines(NEWS)},
    "ideabench": IDEAS,
    "limitgen": PAPERS,
}


def test_lexeval_joins_instruction_and_input(reading: Reading) -> None:
    first, second = cases(reading("lexeval_qa", SMALL["lexeval_qa"]))
    assert (first.case_id, first.language) == ("0", "zh")
    assert first.question == "请回答下列问题。\n什么是要约？"
    assert first.gold == first.revealed == LEXEVAL["answer"]
    assert (second.case_id, second.question) == ("1", "请回答下列问题。\n什么是承诺？")


def test_judge_orders_training_before_test(reading: Reading) -> None:
    files = {
        "judge/test.json": lines(JUDGE),
        "judge/train.json": lines({**JUDGE, "text_id": "j-0", "text": "甲无罪。"}),
    }
    first, second = cases(reading("judge", files))
    assert (first.case_id, first.question) == ("0", "甲无罪。")
    assert (second.case_id, second.question, second.gold) == ("1", "被告人甲盗窃自行车一辆。", JUDGE["fd"])
    assert second.language == "zh"


def test_scitechnews_truncates_abstract_to_1024_words(reading: Reading) -> None:
    long = " ".join(f"w{number}" for number in range(1030))
    short, cut = cases(
        reading("scitechnews", {"scitechnews/test.json": lines(NEWS, {**NEWS, "sc-abstract": long})})
    )
    assert short.question == "On Kites\n\nKites rise. They also fall."
    assert json.loads(short.gold) == {
        "title": "On Kites",
        "abstract": "Kites rise. They also fall.",
        "pr_title": "Kites go up",
        "pr_summary": "A kite is a thing that goes up.",
    }
    assert short.revealed == "Kites go up\nA kite is a thing that goes up."
    assert cut.question.endswith(" w1023") and json.loads(cut.gold)["abstract"] == long


def test_paper_without_press_release_is_quarantined(reading: Reading) -> None:
    files = {"scitechnews/test.json": lines({**NEWS, "pr-summary": " "}, NEWS)}
    empty, whole = cases(reading("scitechnews", files))
    assert empty.reason == "the paper has no pr-summary in the published file"
    assert (whole.case_id, whole.reason) == ("1", None)


def test_ideabench_references_are_reproducible(reading: Reading) -> None:
    (one,) = cases(reading("ideabench", IDEAS))
    shown = one.question.split("\n\n")
    assert [text.partition(": ")[0] for text in shown] == ["Abstract 1", "Abstract 2", "Abstract 3"]
    told = {text.partition(": ")[2] for text in shown}
    assert len(told) == 3 and told < {f"Finding number {number}." for number in range(5)}
    assert cases(reading("ideabench", IDEAS)) == [one]
    assert json.loads(one.gold) == {"title": "Of wind", "abstract": TARGET["abstract"]}
    assert one.reason is None and TARGET["title"] not in one.question


def test_ideabench_references_depend_on_paper(reading: Reading) -> None:
    papers = [{**TARGET, "paperId": f"p{number}"} for number in range(20)]
    references = [{**row, "targetPaperId": paper["paperId"]} for paper in papers for row in REFERENCES]
    files = {
        "ideabench/target_papers.csv": table(*papers),
        "ideabench/filtered_references.csv": table(*references),
    }
    assert len({case.question for case in cases(reading("ideabench", files))}) > 5


def test_target_without_references_is_quarantined(reading: Reading) -> None:
    other = {**TARGET, "paperId": "p2"}
    references = [*REFERENCES[:2], {"targetPaperId": "p1", "abstract": " "}]
    files = {
        "ideabench/target_papers.csv": table(other, TARGET),
        "ideabench/filtered_references.csv": table(*references),
    }
    without, two = cases(reading("ideabench", files))
    assert without.reason and "p2 has no abstract of a reference" in without.reason
    assert two.reason is None and two.question.count("Abstract") == 2


def test_target_without_abstract_is_quarantined(reading: Reading) -> None:
    files = {**IDEAS, "ideabench/target_papers.csv": table({**TARGET, "abstract": ""})}
    (case,) = cases(reading("ideabench", files))
    assert case.reason == "the paper p1 has no abstract in the published file"


def test_limitgen_prompt_has_paper_and_aspect(reading: Reading) -> None:
    (one,) = cases(reading("limitgen", PAPERS))
    assert (one.case_id, one.category) == ("ablation/2403.1v1", "ablation")
    assert (
        one.question == "Title: On Kites\nAbstract: We fly kites.\n1 Wind:\nIt blows.\n\n2 Rope:\nIt holds."
    )
    assert json.loads(one.gold) == {"ground_truth": "No ablation of the rope.", "category": "ablation"}
    assert one.revealed == "No ablation of the rope."


def test_limitgen_orders_by_kind_and_name(reading: Reading) -> None:
    files = {
        "limitgen_syn/sections/data.json": json.dumps({"b": LABEL}),
        "limitgen_syn/annotated/data/b.json": json.dumps(PAPER),
        "limitgen_syn/annotated/data/a.json": json.dumps(PAPER),
        **PAPERS,
    }
    found = cases(reading("limitgen", files))
    assert [case.case_id for case in found] == ["ablation/2403.1v1", "data/a", "data/b"]
    assert [case.reason is None for case in found] == [True, False, True]
    assert found[1].reason == "the paper a has no label in sections/data.json; get that file"


def cut(name: str) -> Mapping[str, str | bytes]:
    """The small files of a data set, the last of them cut off."""
    *whole, (source, content) = SMALL[name].items()
    return {**dict(whole), source: content[:-20]}


def over(name: str, source: str, content: str | bytes) -> Mapping[str, str | bytes]:
    return {**SMALL[name], source: content}


def without(row: Mapping[str, Any], field: str) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name != field}


TARGETS = "ideabench/target_papers.csv"
ANNOTATED = "limitgen_syn/annotated/ablation/2403.1v1.json"
LABELS = "limitgen_syn/sections/ablation.json"
DAMAGED = [
    ("lexeval_qa", cut("lexeval_qa"), "line 2 is truncated"),
    ("lexeval_qa", {"lexeval/5_4.json": lines(without(LEXEVAL, "answer"))}, "line 1: at answer"),
    ("lexeval_qa", {"lexeval/5_4.json": lines({**LEXEVAL, "input": " "})}, "line 1: at input"),
    ("lexeval_qa", {"lexeval/5_4.json": ""}, "it has no questions"),
    ("lexeval_qa", {"lexeval/5_4.json": lines(LEXEVAL).encode("gb18030")}, "not UTF-8"),
    ("lexeval_qa", {"lexeval/5_4.json": "a text\n"}, "line 1 is truncated or invalid JSON"),
    ("lexeval_qa", {"lexeval/5_4.json": "[1]\n"}, "line 1: at the whole"),
    ("judge", cut("judge"), "line 1 is truncated"),
    ("judge", {"judge/test.json": lines(without(JUDGE, "fd"))}, "line 1: at fd"),
    ("judge", {"judge/test.json": lines(JUDGE, JUDGE)}, "duplicate id j-1"),
    ("judge", {"judge/train.json": lines(JUDGE), "judge/test.json": lines(JUDGE)}, "duplicate id j-1"),
    ("judge", {"judge/test.json": "\n\n"}, "it has no cases"),
    ("judge", {"judge/test.json": lines(JUDGE).encode("gb18030")}, "not UTF-8"),
    ("scitechnews", cut("scitechnews"), "line 1 is truncated"),
    ("scitechnews", {"scitechnews/test.json": lines(without(NEWS, "pr-summary"))}, "line 1: at pr-summary"),
    ("scitechnews", {"scitechnews/test.json": lines({**NEWS, "sc-title": None})}, "line 1: at sc-title"),
    ("scitechnews", {"scitechnews/test.json": ""}, "it has no papers"),
    ("scitechnews", {"scitechnews/test.json": b"\xff\xfe{"}, "not UTF-8"),
    ("ideabench", over("ideabench", TARGETS, table(TARGET, TARGET)), "duplicate id p1"),
    (
        "ideabench",
        over("ideabench", TARGETS, table(without(TARGET, "title"))),
        "the header lacks the columns",
    ),
    ("ideabench", over("ideabench", TARGETS, table({**TARGET, "paperId": ""})), "row 1: at paperId"),
    ("ideabench", over("ideabench", TARGETS, table(TARGET) + "p2,A title\n"), "row 2: at abstract"),
    ("ideabench", over("ideabench", TARGETS, table(TARGET) + "p2,a,b,c\n"), "row 2 has more fields"),
    ("ideabench", over("ideabench", TARGETS, "paperId,title,abstract\n"), "it has no papers"),
    ("ideabench", over("ideabench", TARGETS, ""), "the header lacks the columns"),
    ("ideabench", over("ideabench", TARGETS, "paperId,title,abstract\n" + "x" * 140_000), "is invalid CSV"),
    ("ideabench", over("ideabench", TARGETS, b"\xff\xfe\x00"), "not UTF-8"),
    ("limitgen", cut("limitgen"), "truncated or invalid JSON"),
    ("limitgen", over("limitgen", ANNOTATED, json.dumps(PAPER)[:-9]), "truncated or invalid JSON"),
    (
        "limitgen",
        over("limitgen", ANNOTATED, json.dumps(without(PAPER, "sections"))),
        "2403.1v1: at sections",
    ),
    ("limitgen", over("limitgen", ANNOTATED, "[]"), "non-empty JSON object"),
    ("limitgen", over("limitgen", ANNOTATED, ""), "truncated or invalid JSON"),
    ("limitgen", over("limitgen", ANNOTATED, b"\xff\xfe"), "not UTF-8"),
    ("limitgen", over("limitgen", LABELS, json.dumps({"a": {"element": "x"}})), "paper a: at ground_truth"),
    ("limitgen", over("limitgen", LABELS, "{}"), "non-empty JSON object"),
    ("limitgen", over("limitgen", "limitgen_syn/annotated/new/a.json", "{}"), "new is not a limitation kind"),
]


@pytest.mark.parametrize(("name", "files", "complaint"), DAMAGED)
def test_reader_rejects_invalid_file(
    reading: Reading, name: str, files: Mapping[str, str | bytes], complaint: str
) -> None:
    with pytest.raises(BadInput, match=complaint) as refused:
        reading(name, files)
    assert any(source in str(refused.value) for source in files)
    assert dataset(name).how in str(refused.value)


def taken(pool: Pool, records: list[Record]) -> Any:
    (found,) = select(Domain("legal", "memorybench", (pool.task.name,), "a test"), records)
    return found


def test_judge_split_matches_published(reading: Reading) -> None:
    """Of 2,004 and 501 cases in two files, the golden ids of 2,505."""

    def many(first: int, count: int) -> str:
        return lines(*({**JUDGE, "text_id": f"j-{place}"} for place in range(first, first + count)))

    records = reading("judge", {"judge/test.json": many(2004, 501), "judge/train.json": many(0, 2004)})
    (pool,) = build_pools(records)
    found = taken(pool, records)
    assert [case.case_id for case in found.test][:5] == ["676", "653", "419", "241", "700"]
    assert (len(found.test), len(found.train)) == (50, 200)


@pytest.fixture
def library() -> Library:
    folder = os.environ.get("MEMFLOW_DATA")
    if not folder:
        pytest.skip("set MEMFLOW_DATA to the data folder")
    return Library(folder)


def real(library: Library, name: str) -> list[Record]:
    return MemoryBench().records(library.dataset(name), library.paths(name))


def test_lexeval_5_4_has_500_questions(library: Library) -> None:
    records = real(library, "lexeval_qa")
    found = cases(records)
    assert len(found) == 500 and all(case.reason is None for case in found)
    assert len({case.question for case in found}) == 500
    (pool,) = build_pools(records)
    assert (len(taken(pool, records).test), len(taken(pool, records).train)) == (50, 200)


def test_every_published_judgment_is_a_case(library: Library) -> None:
    records = real(library, "judge")
    found = cases(records)
    assert len(found) in (300, 501, 2505)
    assert all("判决" in case.gold and case.language == "zh" for case in found)


def test_every_published_limitgen_paper_has_label(library: Library) -> None:
    records = real(library, "limitgen")
    labels = {r.record_id: json.loads(r.content) for r in records if r.record_id.startswith("sections/")}
    assert set(labels) == {f"sections/{kind}" for kind in ASPECTS}
    assert sum(len(label) for label in labels.values()) == 1000
    found = cases(records)
    assert len(found) in (55, 1000) and all(case.reason is None for case in found)
    assert set(Counter(case.category for case in found)) == set(ASPECTS)


def test_ideabench_targets_are_quarantined_individually(library: Library) -> None:
    """They come without their references: nothing can be asked of them, and each says why."""
    source = "ideabench/ablation_target_papers.csv"
    assert library.folder is not None
    records = MemoryBench().records(dataset("ideabench"), {source: library.folder / source})
    assert len(records) == 461
    found = cases(records)
    assert len(found) == 461
    assert all(case.reason and "no abstract of a reference" in case.reason for case in found)


@pytest.mark.parametrize(
    ("name", "mine"),
    [("memorybench_legal", ("judge", "lexeval_qa")), ("memorybench_academic", ("limitgen",))],
)
async def test_domain_uses_available_data_sets(library: Library, name: str, mine: Sequence[str]) -> None:
    """As many test and training questions as are drawn of the parts at hand; nothing of them is in a stream."""
    domain, bench, none = find(name), MemoryBench(), States([], [], [])
    chat = ScriptedChat(bench.handlers())
    records = [record for each in library.datasets_of(domain)[0] for record in real(library, each.name)]
    turns = await bench.turns(domain, records, none, chat)
    probes = await bench.probes(domain, records, none, turns, chat)
    assert turns == [] and all(probe.reason is None and probe.evidence == [] for probe in probes)
    counts = Counter((probe.dataset, probe.split) for probe in probes)
    for task in mine:
        drawn = min(250, len(cases(real(library, task))))
        test = math.ceil(drawn / 5)
        assert (counts[task, "test"], counts[task, "train"]) == (test, drawn - test)
    assert len({probe.probe_id for probe in probes}) == len(probes)
    for probe in probes:
        assert first_request(chat, *build_prompt(probe, "")).messages[-1].content.count(probe.question) == 1
