"""NF-CATS: questions, prompt, rejected files, and the published split."""

from collections import Counter

from memflow.benchmarks.memorybench.load import build_pools
from memflow.benchmarks.memorybench.selection import select
from memflow.benchmarks.registry import find_domain

FILE, OPEN = "nfcats/test.csv", find_domain("memorybench_open")
TWO = b'annotated_by,category,question\r\nx,REASON,Why is it so?\r\nx,DEBATE,"Is it\nso, or not?"\r\n'


def test_nfcats_cases_have_categories_and_empty_gold(read_files) -> None:
    (pool,) = build_pools(read_files("nfcats", {FILE: TWO}))
    assert [(case.case_id, case.category, case.question, case.gold) for case in pool.cases] == [
        ("0", "REASON", "Why is it so?", "{}"), ("1", "DEBATE", "Is it\nso, or not?", "{}"),
    ]  # fmt: skip


def test_published_nfcats_file_gives_published_split(read_published) -> None:
    records = read_published("nfcats")
    assert len(records) == 2_397
    (selected,) = select(OPEN, records)
    assert (len(selected.test), len(selected.train)) == (50, 200)
    assert [case.case_id for case in selected.test[:5]] == ["1529", "1138", "419", "2360", "1554"]
    (pool,) = build_pools(records)
    assert len(Counter(case.category for case in pool.cases)) == 8
