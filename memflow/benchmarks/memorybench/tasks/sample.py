"""Our sample: a LoCoMo conversation, and cases with user rules that only feedback reveals."""

import json
from collections.abc import Sequence
from typing import Any, Literal

from pydantic import BaseModel

from memflow.benchmarks.memorybench.tasks import catalog, locomo
from memflow.benchmarks.memorybench.tasks.locomo import Text
from memflow.benchmarks.memorybench.tasks.task import Case, Pool, TaskReader
from memflow.benchmarks.published_file import File
from memflow.records import Record


class SampleCase(BaseModel):
    """A case. A training case reveals its `rule` in feedback; a test case depends on rules.

    For cases with a `checklist` or only a judge, `answer` is the oracle's gold context.
    """

    case_id: Text
    dataset: Text
    language: Literal["en", "zh"]
    split: Literal["train", "test"]
    question: Text
    answer: Text
    rule: str = ""
    rests_on: list[str] = []
    checklist: list[Text] = []


def read(file: File) -> list[tuple[str, dict[str, Any]]]:
    """Return one record per conversation of a .json file, or per case of a .jsonl file. Raises BadInput."""
    if not file.source.endswith(".jsonl"):
        return locomo.read(file)
    found = list(file.lines(SampleCase))
    rules = {case.case_id for _, case in found if case.split == "train" and case.rule}
    for _, case in found:
        for needed in case.rests_on:
            if needed not in rules:
                raise file.bad(
                    f"case {case.case_id} depends on {needed}, which is not a training case with a rule"
                )
        if case.split == "train" and not case.rule:
            raise file.bad(f"training case {case.case_id} has no rule")
    return [(case.case_id, raw) for raw, case in found]


def pools(dataset: str, records: Sequence[Record]) -> list[Pool]:
    """Return the pools: the conversations, then the other cases by task."""
    contents = [json.loads(record.content) for record in records]
    talks = [record for record, content in zip(records, contents, strict=True) if "conversation" in content]
    cases = [SampleCase.model_validate(content) for content in contents if "case_id" in content]
    rules = {case.case_id: case.rule for case in cases}
    return locomo.pools(dataset, talks) + [
        Pool(name, catalog.task(name), [_case(case, rules) for case in cases if case.dataset == name])
        for name in dict.fromkeys(case.dataset for case in cases)
    ]


def _case(case: SampleCase, rules: dict[str, str]) -> Case:
    return Case(
        case_id=case.case_id,
        question=case.question,
        gold=_gold(case),
        revealed=case.rule or "\n".join(rules[needed] for needed in case.rests_on) or case.answer,
        language=case.language,
        rests_on=tuple(case.rests_on),
        part=case.split,
    )


def _gold(case: SampleCase) -> str:
    """Return the gold in the format of the task's metric."""
    metric = catalog.task(case.dataset).metric
    if metric == catalog.CHECKLIST:
        return json.dumps({"checklist": case.checklist}, ensure_ascii=False)
    return "{}" if metric == catalog.QUALITY else case.answer


READER = TaskReader(read, pools=pools)
