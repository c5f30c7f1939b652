"""Handlers of the scripted chat for CoMem's prompts, which answer by rules instead of a language model.

The handlers read only the prompt (memflow/benchmarks/scripted_reader.py). If the prompt supports no option, the choice
is the "not enough information" option or a guess by digest. The verifier reads fewer lines than the annotator, so the
two sometimes disagree.
"""

from memflow.benchmarks.comem.answers import LONGEST_GROUNDS, UNKNOWN_CHOICE, Finding, Review
from memflow.benchmarks.comem.contexts import unknown_option
from memflow.benchmarks.comem.question import PACKAGE
from memflow.benchmarks.multiple_choice import LETTERS, Choice, unlettered
from memflow.benchmarks.scripted_reader import best_options, choose, relevant_lines
from memflow.chat.requests import ChatRequest
from memflow.chat.scripted import scripted_handlers


def _choice(request: ChatRequest) -> Choice:
    return choose(request, is_unknown=lambda option: unknown_option([option]) is not None)


def _annotate(request: ChatRequest) -> Finding:
    return _found(request.fields["said"], request)


def _verify(request: ChatRequest) -> Finding:
    """Return an annotation that is based only on lines with a word of the question."""
    return _found(relevant_lines(request.fields["said"], request.fields["question"]), request)


def _found(shown: str, request: ChatRequest) -> Finding:
    """Return an annotation: the only option that the text supports, with the words of the option as rationale.

    If the text supports no option or several options, the choice is `unknown`.
    """
    options = unlettered(request.fields["options"])
    best = best_options(shown, request.fields["question"], options) if shown else ()
    untold = unknown_option(options)
    number = best[0] if len(best) == 1 else None if untold is None else untold - 1
    choice = UNKNOWN_CHOICE if number is None else LETTERS[number]
    why = UNKNOWN_CHOICE if number is None else options[number][:LONGEST_GROUNDS]
    told = request.fields.get("told")
    if told is None:
        return Finding(why=why, choice=choice)
    return Review(why=why, choice=choice, right=told.partition(". ")[0] == choice)


HANDLERS = scripted_handlers(
    PACKAGE,
    {
        **dict.fromkeys(("choice", "choice_with_notes", "choice_told"), _choice),
        **dict.fromkeys(("annotate", "annotate_told"), _annotate),
        "verify": _verify,
    },
)
