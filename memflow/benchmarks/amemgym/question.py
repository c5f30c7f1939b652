"""The prompt of a probe, and the parsing of the assistant's answer."""

import json

from memflow.benchmarks.amemgym.answers import ChoiceAnswer, Values, choice_of, values_of
from memflow.benchmarks.amemgym.wording import number_options, prompt
from memflow.benchmarks.api import Question
from memflow.memories.memory import Recall
from memflow.records import Probe


def build_question(probe: Probe, recall: Recall, gold_context: str | None) -> Question:
    """Return the prompt of a probe. As in the published code, the memory query is the whole prompt with its options."""
    if probe.kind == "choice":
        fields = {"question": probe.question, "options": number_options(probe.options)}
        output: type = choice_of(len(probe.options))
    else:
        fields = {"schema": probe.question}
        output = values_of(json.loads(probe.question))
    query = prompt(probe.kind, language=probe.language).render(fields)[-1].content
    suffix = ""
    if gold_context is not None:
        suffix, fields["told"] = "_told", gold_context
    elif recall.notes:
        suffix, fields["notes"] = "_with_notes", recall.notes
    return Question(prompt(f"{probe.kind}{suffix}", output, probe.language), fields, query)


def parse_answer(value: ChoiceAnswer | Values) -> str:
    """Return the number of the chosen option, or the state values as JSON."""
    if isinstance(value, ChoiceAnswer):
        return str(value.answer)
    return json.dumps(value.chosen(), ensure_ascii=False)
