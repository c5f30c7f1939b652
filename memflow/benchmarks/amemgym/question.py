"""The prompt of a probe, and the parsing of the assistant's answer."""

import json
from functools import lru_cache

from memflow.benchmarks.amemgym.answers import ChoiceAnswer, Values, choice_of, values_of
from memflow.benchmarks.amemgym.wording import number_options, prompt
from memflow.benchmarks.api import Question
from memflow.memories.memory import Recall
from memflow.records import Probe


def build_question(probe: Probe, recall: Recall, gold_context: str | None) -> Question:
    """Return the prompt of a probe. The memory query is the whole prompt, including the options.

    A memory that recalls notes has a system message even if no note was found. Both are as in the published code.
    """
    fields = {"schema": probe.question}
    if probe.kind == "choice":
        fields = {"question": probe.question, "options": number_options(probe.options)}
    query = prompt(probe.kind, language=probe.language).render(fields)[-1].content
    suffix = ""
    if gold_context is not None:
        suffix, fields["told"] = "_told", gold_context
    elif recall.with_notes:
        suffix, fields["notes"] = "_with_notes", recall.notes
    output = choice_of(len(probe.options)) if probe.kind == "choice" else _values_type(probe.question)
    return Question(prompt(f"{probe.kind}{suffix}", output, probe.language), fields, query)


@lru_cache(maxsize=256)
def _values_type(schema: str) -> type[Values]:
    """Return the output type of a question for the state, cached for 25 users: all periods have the same question."""
    return values_of(json.loads(schema))


def parse_answer(value: ChoiceAnswer | Values) -> str:
    """Return the number of the chosen option, or the state values as JSON."""
    if isinstance(value, ChoiceAnswer):
        return str(value.answer)
    return json.dumps(value.chosen(), ensure_ascii=False)
