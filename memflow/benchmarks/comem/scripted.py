"""Handlers of the scripted chat, which is no language model, for CoMem's prompts.

It reads only what stands in its prompt (reading.py of the benchmarks). Where that says nothing for any option it takes
the one that says that there is no telling, and where there is none it picks by digest, so at chance. Annotating, it
finds nothing where options are level; verifying, it reads otherwise than annotating, and so does not always agree.
"""

import random

from memflow.benchmarks.comem.answers import LONGEST_GROUNDS, UNTOLD, Finding, Review
from memflow.benchmarks.comem.contexts import unknowing
from memflow.benchmarks.comem.wording import twins
from memflow.benchmarks.multiple_choice import LETTERS, Choice, unlettered
from memflow.benchmarks.scripted_reader import best_options, near
from memflow.chat.requests import ChatRequest
from memflow.chat.scripted import Handler
from memflow.fingerprint import seeded


def _choice(request: ChatRequest) -> Choice:
    options = unlettered(request.fields["options"])
    before = [message.content for message in request.messages[:-1]]
    shown = "\n".join([*before, request.fields.get("told", "")])
    return Choice(choice=LETTERS[chosen(shown, request, options)])


def chosen(shown: str, request: ChatRequest, options: tuple[str, ...]) -> int:
    """The place, from 0, of the option that what was shown speaks for."""
    best = best_options(shown, request.fields["question"], options)
    untold = unknowing(options)
    if untold is not None and len(best) > 1 and untold - 1 in best:
        return untold - 1
    said = [message.content for message in request.messages]
    return random.Random(seeded(request.prompt, said, request.sampling.seed)).choice(best)


def _annotate(request: ChatRequest) -> Finding:
    return _found(request.fields["said"], request)


def _verify(request: ChatRequest) -> Finding:
    """Of the lines in which a word of the question stands alone: what is told in other words it does not find."""
    return _found(near(request.fields["said"], request.fields["question"]), request)


def _found(shown: str, request: ChatRequest) -> Finding:
    """The one option that what was shown speaks for; its own words are the reasons."""
    options = unlettered(request.fields["options"])
    best = best_options(shown, request.fields["question"], options) if shown else ()
    untold = unknowing(options)
    number = best[0] if len(best) == 1 else None if untold is None else untold - 1
    choice = UNTOLD if number is None else LETTERS[number]
    why = UNTOLD if number is None else options[number][:LONGEST_GROUNDS]
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
HANDLERS |= {f"comem/{stem}_zh": handler for stem, handler in _BY_STEM.items() if stem in twins()}
