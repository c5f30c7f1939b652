"""The training cases of a sample: only those that its questions need, if the protocol allows it."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from memflow.benchmarks.memorybench import SPEC, selection
from memflow.benchmarks.memorybench.selection import leaves_out_training, select
from memflow.benchmarks.memorybench.tasks.catalog import TASKS
from memflow.benchmarks.memorybench.tasks.task import Case, CorpusMessage, CorpusSession, Pool
from memflow.benchmarks.registry import find_domain
from memflow.records import Record

DEMO = find_domain("memorybench_demo")
CORPUS = (CorpusSession("2024-01-01", (CorpusMessage("m", "Ann", "I own a kite."),)),)


def proportional(domain: Any) -> Any:
    return replace(domain, parameters={**domain.parameters, "sample_training": "proportional"})


def counts(domain: Any, records: Sequence[Record]) -> dict[str, tuple[int, int, int]]:
    """Return the test cases, the training cases and the cases left out of each pool."""
    found = select(domain, records)
    return {each.pool.name: (len(each.test), len(each.train), each.left_out) for each in found}


def test_sample_leaves_out_training_cases_about_a_corpus_only(sample: list[Record]) -> None:
    corpora = {each.pool.name for each in select(DEMO, sample) if each.pool.corpus}
    former = counts(proportional(DEMO).limited(4), sample)
    now = counts(DEMO.limited(4), sample)
    assert corpora and set(former) == set(now) > corpora
    for pool, (test, train, left_out) in now.items():
        assert test == former[pool][0] and train + left_out == former[pool][1] > 0 == former[pool][2]
        assert (train == 0) == (pool in corpora)


@pytest.mark.parametrize("domain", SPEC.domains, ids=lambda each: each.name)
def test_only_off_policy_domains_with_complete_dialogues_leave_out_training_cases(domain: Any) -> None:
    further = ("_stepwise", "_onpolicy", "_training", "_same", "_liked", "_copied")
    assert leaves_out_training(domain.limited(1)) == (not domain.name.endswith(further))
    assert not leaves_out_training(domain) and not leaves_out_training(proportional(domain).limited(1))


def test_needed_training_cases_and_those_without_a_corpus_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    cases = [
        Case(case_id=str(n), question=f"Q{n}", gold="g", revealed="g", part="test" if n < 2 else "train")
        for n in range(8)
    ]
    cases[0] = replace(cases[0], rests_on=("5",))
    pools = [Pool("locomo-0", TASKS["locomo"], cases, CORPUS), Pool("nfcats", TASKS["nfcats"], cases)]
    monkeypatch.setattr(selection, "build_pools", lambda records: pools)
    with_corpus, without = select(DEMO.limited(2), [])
    assert [case.case_id for case in with_corpus.test] == ["0"]
    assert [case.case_id for case in with_corpus.train] == ["5"] and with_corpus.left_out == 2
    assert [case.case_id for case in without.train] == ["2", "3", "5"] and without.left_out == 0
