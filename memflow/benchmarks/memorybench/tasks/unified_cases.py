"""Rows of the unified data set, and their conversion to the cases of the original files (paper, section 2.3).

Markers in the published prompt delimit the question. Without markers, the whole prompt is the question. Nested fields
are JSON or Python literals, which are parsed but never evaluated.
"""

import ast
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, Field

from memflow.benchmarks import tv_scripts
from memflow.benchmarks.memorybench.tasks import (
    catalog,
    dialsim,
    hellobench,
    ideabench,
    limitgen,
    locomo,
    rows,
    writingbench,
)
from memflow.benchmarks.memorybench.tasks.task import Case, CorpusSession, Part, answered_case
from memflow.benchmarks.published_file import Said

_ASKED_AT = "in the context of "
"""Text before the date in a DialSim prompt."""


def parse_literal(text: str) -> Any:
    """Return the value of a JSON text or a Python literal. Raises ValueError."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    try:
        return ast.literal_eval(text)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError) as error:
        raise ValueError(
            f"the text {text[:40]!r}... is neither JSON nor a Python literal; download the file again"
        ) from error


_Literal = BeforeValidator(lambda value: parse_literal(value) if isinstance(value, str) else value)


class PromptMessage(BaseModel):
    """A message of a prompt."""

    role: str
    content: str


class UnifiedRow(BaseModel):
    """A case: its prompt and gold. The file path determines `part`. Published dialogues are ignored.

    `test_idx` is the position in the original data set.
    """

    test_idx: Annotated[int, Field(ge=0)]
    dataset_name: Said
    lang: Literal["en", "zh"]
    info: Annotated[dict[str, Any], _Literal]
    input_prompt: str | None = None
    input_chat_messages: Annotated[list[PromptMessage] | None, _Literal] = None
    origin_question: str | None = None
    id: str | int | None = None
    domain: str | None = None
    category: str | None = None
    part: Part

    def prompt(self) -> str:
        """Return the user's part of the published prompt."""
        if self.input_prompt:
            return self.input_prompt
        return "\n".join(said.content for said in self.input_chat_messages or () if said.role == "user")

    def question(self, task: str) -> str:
        """Return the text of the prompt between the markers of a task."""
        return text_between(self.prompt(), *catalog.TASKS[task].markers)

    def answer(self) -> str:
        """Return the gold answer, which most unified data sets have."""
        return GoldenAnswer.model_validate(self.info).golden_answer

    def case_id(self) -> str:
        """Return the id that the case has in the original file. Raises ValueError if the column `id` is empty."""
        if self.id is None:
            raise ValueError("the column `id` of the row is empty; write a unique id")
        return str(self.id)


class GoldenAnswer(BaseModel):
    """The gold answer in a row."""

    golden_answer: Said


def text_between(text: str, before: str = "", after: str = "") -> str:
    """Return the text between the first `before` and the last `after`. A missing marker removes no text."""
    inner = text.partition(before)[2] if before and before in text else text
    return (inner.rpartition(after)[0] if after and after in inner else inner).strip()


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
    return answered_case(str(row.test_idx), question, row.answer(), asked_at=date)


def _hellobench(row: UnifiedRow, said: Mapping[str, str]) -> Case:
    items = [
        hellobench.ChecklistItem.model_validate(item).checklist_content for item in row.info["checklist"]
    ]
    return hellobench.case(row.case_id(), row.prompt().strip(), items, row.category, row.domain)


def _writingbench(row: UnifiedRow, said: Mapping[str, str]) -> Case:
    criteria = [writingbench.Criterion.model_validate(each) for each in row.info["criteria"]]
    return writingbench.case(row.case_id(), row.prompt().strip(), criteria, row.domain)


def _answered(task: str) -> "Converter":
    return lambda row, said: answered_case(str(row.test_idx), row.question(task), row.answer())


def _nfcats(row: UnifiedRow, said: Mapping[str, str]) -> Case:
    return rows.nfcats_case(str(row.test_idx), row.question("nfcats"), row.category)


def _ideabench(row: UnifiedRow, said: Mapping[str, str]) -> Case:
    target = ideabench.Target.model_validate(row.info)
    return ideabench.case(str(row.test_idx), target, row.question("ideabench"))


def _scitechnews(row: UnifiedRow, said: Mapping[str, str]) -> Case:
    published = {**row.info, "pr-summary": row.info["pr-abstract"]}
    return rows.scitechnews_case(str(row.test_idx), rows.SciTechNewsRow.model_validate(published))


def _limitgen(row: UnifiedRow, said: Mapping[str, str]) -> Case:
    truth, kind = limitgen.truth_of(row.info), row.info["category"]
    if kind not in limitgen.ASPECTS:
        raise ValueError(f"{kind!r} is not a limitation kind; the kinds are {', '.join(limitgen.ASPECTS)}")
    # The published code writes `unknown` where a paper has no label.
    return limitgen.case(row.case_id(), kind, row.question("limitgen"), "" if truth == "unknown" else truth)


Converter = Callable[[UnifiedRow, Mapping[str, str]], Case]
_CONVERTERS: Mapping[str, Converter] = {
    "locomo": _locomo,
    "dialsim": _dialsim,
    "hellobench": _hellobench,
    "writingbench": _writingbench,
    "nfcats": _nfcats,
    "ideabench": _ideabench,
    "scitechnews": _scitechnews,
    "limitgen": _limitgen,
}
"""Converters by the beginning of a task's name; the gold of other tasks is an answer."""
CASES: Mapping[str, Converter] = {
    name: _CONVERTERS.get(name.partition("_")[0]) or _answered(name)
    for name in catalog.TASKS
    if not name.startswith(("sample_", "memorybench_"))
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
