"""Conversion of unified rows to the cases of the original files, by task.

Markers in the published prompt delimit the question. Without markers, the whole prompt is the question.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pydantic import BaseModel

from memflow.benchmarks import tv_scripts
from memflow.benchmarks.memorybench.tasks import (
    dialsim,
    hellobench,
    ideabench,
    judge,
    lexeval,
    limitgen,
    locomo,
    nfcats,
    scitechnews,
    writingbench,
    writingprompts,
)
from memflow.benchmarks.memorybench.tasks.task import Case, CorpusSession
from memflow.benchmarks.memorybench.tasks.unified_row import UnifiedRow
from memflow.benchmarks.published_file import Said

_ASKED_AT = "in the context of "
"""Text before the date in a DialSim prompt."""


def text_between(text: str, before: str = "", after: str = "") -> str:
    """Return the text between the first `before` and the last `after`. A missing marker removes no text."""
    inner = text.partition(before)[2] if before and before in text else text
    return (inner.rpartition(after)[0] if after and after in inner else inner).strip()


class GoldenAnswer(BaseModel):
    """The gold answer in a row of most unified data sets."""

    golden_answer: Said


def _answer(row: UnifiedRow) -> str:
    return GoldenAnswer.model_validate(row.info).golden_answer


def _id(row: UnifiedRow) -> str:
    """Return the id that the case of a unified row has in the original file."""
    if row.id is None:
        raise ValueError("the column `id` of the row is empty; write a unique id")
    return str(row.id)


def _locomo(row: UnifiedRow, said: Mapping[str, str]) -> Case:
    category, gold = row.info["category"], row.info["golden_answer"]
    # The two options of an adversarial question: a dictionary, or the text of one.
    pair = json.loads(gold) if category == 5 and isinstance(gold, str) else gold
    wrong = [text for text in pair.values() if text != locomo.NOT_MENTIONED] if category == 5 else [None]
    asked = locomo.LocomoQuestion(
        question=row.origin_question or text_between(row.prompt(), "Question: ", " Short answer:"),
        answer=None if category == 5 else gold,
        adversarial_answer=wrong[0],
        evidence=[turn["dia_id"] for turn in row.info["evidence"]],
        category=category,
    )
    return locomo.case(row.test_idx, asked, (pair["a"], pair["b"]) if category == 5 else (), said)


def _dialsim(row: UnifiedRow, said: Mapping[str, str]) -> Case:
    prompt = row.prompt()
    known = _ASKED_AT in prompt and "[Question]" in prompt
    date = text_between(prompt, _ASKED_AT, "[Question]").removesuffix(".") if known else None
    question = text_between(prompt, "[Question]", "[Answer]")
    return dialsim.case(str(row.test_idx), question, _answer(row), date)


def _hellobench(row: UnifiedRow, said: Mapping[str, str]) -> Case:
    items = [
        hellobench.ChecklistItem.model_validate(item).checklist_content for item in row.info["checklist"]
    ]
    return hellobench.case(_id(row), row.prompt().strip(), items, row.category, row.domain)


def _writingbench(row: UnifiedRow, said: Mapping[str, str]) -> Case:
    criteria = [writingbench.Criterion.model_validate(each) for each in row.info["criteria"]]
    return writingbench.case(_id(row), row.prompt().strip(), criteria, row.domain)


def _writingprompts(row: UnifiedRow, said: Mapping[str, str]) -> Case:
    premise = text_between(row.prompt(), after="Write a story")
    return writingprompts.case(str(row.test_idx), premise, _answer(row))


def _nfcats(row: UnifiedRow, said: Mapping[str, str]) -> Case:
    return nfcats.case(str(row.test_idx), text_between(row.prompt(), "Question:"), row.category)


def _lexeval(row: UnifiedRow, said: Mapping[str, str]) -> Case:
    return lexeval.case(str(row.test_idx), row.prompt(), _answer(row))


def _judge(row: UnifiedRow, said: Mapping[str, str]) -> Case:
    facts = text_between(row.prompt(), "案件事实：", "\n请根据上面提供的事实描述")
    return judge.case(str(row.test_idx), facts, _answer(row))


def _ideabench(row: UnifiedRow, said: Mapping[str, str]) -> Case:
    background = text_between(row.prompt(), "Here are the abstracts:", "Using these abstracts")
    return ideabench.case(str(row.test_idx), ideabench.Target.model_validate(row.info), background)


def _scitechnews(row: UnifiedRow, said: Mapping[str, str]) -> Case:
    line = scitechnews.SciTechNewsRow.model_validate({**row.info, "pr-summary": row.info["pr-abstract"]})
    return scitechnews.case(str(row.test_idx), line)


def _limitgen(row: UnifiedRow, said: Mapping[str, str]) -> Case:
    label, kind = limitgen.Label.model_validate(row.info), row.info["category"]
    if kind not in limitgen.ASPECTS:
        raise ValueError(f"{kind!r} is not a limitation kind; the kinds are {', '.join(limitgen.ASPECTS)}")
    paper = text_between(row.prompt(), "Paper to review:")
    # The published code writes `unknown` where a paper has no label.
    return limitgen.case(
        _id(row), kind, paper, None if label.ground_truth == "unknown" else label.ground_truth
    )


CASES: Mapping[str, Callable[[UnifiedRow, Mapping[str, str]], Case]] = {
    "locomo": _locomo,
    **dict.fromkeys(dialsim.CHATBOTS, _dialsim),
    **dict.fromkeys(hellobench.HELLOBENCH_CATEGORIES, _hellobench),
    **dict.fromkeys(writingbench.WRITINGBENCH_DOMAINS, _writingbench),
    "writingprompts": _writingprompts,
    "nfcats": _nfcats,
    "judge": _judge,
    **dict.fromkeys(("lexeval_summarization", "lexeval_judge", "lexeval_qa"), _lexeval),
    "ideabench": _ideabench,
    "scitechnews": _scitechnews,
    "limitgen": _limitgen,
}
"""Converters by task, given a row and corpus texts by message id. They raise KeyError, TypeError, ValueError."""


def _locomo_corpus(text: str) -> Sequence[CorpusSession]:
    published: dict[str, Any] = json.loads(text)
    # Questions are in the rows.
    return locomo.corpus(locomo.Conversation.read({"sample_id": "unified", **published, "qa": []}))


CORPORA: Mapping[str, Callable[[str], Sequence[CorpusSession]]] = {
    "locomo": _locomo_corpus,
    **dict.fromkeys(dialsim.CHATBOTS, lambda text: dialsim.corpus(tv_scripts.scripts(text))),
}
"""Corpus parsers by task. They raise KeyError, TypeError, ValueError."""
