"""Handlers of the scripted chat for CoMem's prompts, which answer by rules instead of a language model.

The handlers read only the prompt (memflow/benchmarks/scripted_reader.py). If the prompt supports no option, the choice
is the "not enough information" option or a guess by digest. The verifier reads fewer lines than the annotator, so the
two sometimes disagree.
"""

import random

from memflow.benchmarks.comem.answers import LONGEST_GROUNDS, UNKNOWN_CHOICE, Finding, Review
from memflow.benchmarks.comem.contexts import unknown_option
from memflow.benchmarks.comem.question import bilingual_prompts
from memflow.benchmarks.multiple_choice import LETTERS, Choice, unlettered
from memflow.benchmarks.scripted_reader import best_options, relevant_lines
from memflow.chat.requests import ChatRequest
from memflow.chat.scripted import Handler
from memflow.fingerprint import seeded


def _choice(request: ChatRequest) -> Choice:
    options = unlettered(request.fields["options"])
    before = [message.content for message in request.messages[:-1]]
    shown = "\n".join([*before, request.fields.get("told", "")])
    return Choice(choice=LETTERS[chosen(shown, request, options)])


def chosen(shown: str, request: ChatRequest, options: tuple[str, ...]) -> int:
    """Return the index of the option that the text supports best. Ties are broken by a seeded random choice."""
    best = best_options(shown, request.fields["question"], options)
    untold = unknown_option(options)
    if untold is not None and len(best) > 1 and untold - 1 in best:
        return untold - 1
    said = [message.content for message in request.messages]
    return random.Random(seeded(request.prompt, said, request.sampling.seed)).choice(best)


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


_BY_STEM: dict[str, Handler] = {
    **dict.fromkeys(("choice", "choice_with_notes", "choice_told"), _choice),
    **dict.fromkeys(("annotate", "annotate_told"), _annotate),
    "verify": _verify,
}

HANDLERS = {f"comem/{stem}": handler for stem, handler in _BY_STEM.items()}
HANDLERS |= {f"comem/{stem}_zh": handler for stem, handler in _BY_STEM.items() if stem in bilingual_prompts()}
