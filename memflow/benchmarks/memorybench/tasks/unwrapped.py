"""A row of the unified set as the case that the original file gives, task by task.

The published prompt is the question with words around it. They are cut off at a few marks, since memflow asks in words
of its own; where the marks are not found, the prompt is the question.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from memflow.benchmarks.memorybench.tasks import ideabench, judge, lexeval, limitgen, locomo, scitechnews
from memflow.benchmarks.memorybench.tasks.row import Row
from memflow.benchmarks.memorybench.tasks.task import Case, Session


def between(text: str, before: str, after: str = "") -> str:
    """What stands after the first `before` and before the last `after`; a mark that is not there cuts nothing."""
    inner = text.partition(before)[2] if before in text else text
    return inner.rpartition(after)[0] if after and after in inner else inner


def _locomo(row: Row, said: Mapping[str, str]) -> Case:
    category, gold = row.info["category"], row.info["golden_answer"]
    # The two options of an adversarial question: a dictionary, or the text of one.
    pair = json.loads(gold) if category == 5 and isinstance(gold, str) else gold
    wrong = [text for text in pair.values() if text != locomo.NOT_MENTIONED] if category == 5 else [None]
    asked = locomo.Asked(
        question=row.origin_question or between(row.prompt(), "Question: ", " Short answer:"),
        answer=None if category == 5 else gold,
        adversarial_answer=wrong[0],
        evidence=[turn["dia_id"] for turn in row.info["evidence"]],
        category=category,
    )
    return locomo.case(row.test_idx, asked, (pair["a"], pair["b"]) if category == 5 else (), said)


def _lexeval(row: Row, said: Mapping[str, str]) -> Case:
    return lexeval.case(str(row.test_idx), row.prompt(), row.info["golden_answer"])


def _judge(row: Row, said: Mapping[str, str]) -> Case:
    facts = between(row.prompt(), "案件事实：", "\n请根据上面提供的事实描述")
    return judge.case(str(row.test_idx), facts, row.info["golden_answer"])


def _ideabench(row: Row, said: Mapping[str, str]) -> Case:
    background = between(row.prompt(), "Here are the abstracts:", "Using these abstracts")
    return ideabench.case(str(row.test_idx), ideabench.Target.model_validate(row.info), background)


def _scitechnews(row: Row, said: Mapping[str, str]) -> Case:
    line = scitechnews.Line.model_validate({**row.info, "pr-summary": row.info["pr-abstract"]})
    return scitechnews.case(str(row.test_idx), line)


def _limitgen(row: Row, said: Mapping[str, str]) -> Case:
    paper = between(row.prompt(), "Paper to review:")
    # The published code writes `unknown` where a paper has no label.
    gold = row.info["ground_truth"]
    return limitgen.case(str(row.id), row.info["category"], paper, None if gold == "unknown" else gold)


CASES: Mapping[str, Callable[[Row, Mapping[str, str]], Case]] = {
    "locomo": _locomo,
    "judge": _judge,
    "lexeval_summarization": _lexeval,
    "lexeval_judge": _lexeval,
    "lexeval_qa": _lexeval,
    "ideabench": _ideabench,
    "scitechnews": _scitechnews,
    "limitgen": _limitgen,
}
"""By task: a row as a case, with what its corpus says by message id. They raise KeyError, TypeError, ValueError."""


def _locomo_corpus(text: str) -> Sequence[Session]:
    published: dict[str, Any] = json.loads(text)
    # The questions that may stand beside are the rows.
    return locomo.corpus(locomo.Conversation.read({"sample_id": "unified", **published, "qa": []}))


CORPORA: Mapping[str, Callable[[str], Sequence[Session]]] = {"locomo": _locomo_corpus}
"""By task: the text of a corpus as its sessions. They raise KeyError, TypeError, ValueError."""
