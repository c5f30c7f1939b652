"""The prompt of a probe, and the parsing of the assistant's answer."""

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from memflow.benchmarks.amemgym.answers import ChoiceAnswer, Values, choice_of, values_of
from memflow.benchmarks.amemgym.wording import number_options, prompt
from memflow.benchmarks.api import Question
from memflow.memories.memory import Recall
from memflow.records import Probe


def build_question(probe: Probe, recall: Recall, gold_context: str | None) -> Question:
    """Return the prompt of a probe. The memory query is the whole prompt, including the options.

    A memory that recalls notes has a system message even if no note was found. Both are as in the published code.
    """
    template = _question_template(probe.kind, probe.language, probe.question, tuple(probe.options))
    suffix = ""
    fields = dict(template.fields)
    if gold_context is not None:
        suffix = "_told"
        fields["told"] = gold_context
    elif recall.with_notes:
        suffix = "_with_notes"
        fields["notes"] = recall.notes
    output = choice_of(len(probe.options)) if probe.kind == "choice" else _values_type(probe.question)
    return Question(prompt(f"{probe.kind}{suffix}", output, probe.language), fields, template.query)


class _QuestionTemplate(NamedTuple):
    """The part of a question that does not depend on the memory."""

    fields: Mapping[str, str]
    query: str


@lru_cache(maxsize=4096)
def _question_template(
    kind: str, language: str, question: str, options: tuple[str, ...]
) -> _QuestionTemplate:
    """Return the part of a question that is equal in all periods, cached."""
    fields = {"schema": question}
    if kind == "choice":
        fields = {"question": question, "options": number_options(options)}
    return _QuestionTemplate(fields, prompt(kind, language=language).render(fields)[-1].content)


@lru_cache(maxsize=256)
def _values_type(schema: str) -> type[Values]:
    """Return the output type of a question for the state, cached for 25 users: all periods have the same question."""
    return values_of(json.loads(schema))


def parse_answer(value: ChoiceAnswer | Values) -> str:
    """Return the number of the chosen option, or the state values as JSON."""
    if isinstance(value, ChoiceAnswer):
        return str(value.answer)
    return json.dumps(value.chosen(), ensure_ascii=False)
