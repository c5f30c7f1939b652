"""Handlers of the scripted chat, which is no language model, for CoMem's prompts.

It reads only what stands in its prompt (reading.py of the benchmarks). Where that says nothing for any option it takes
the one that says that there is no telling, and where there is none it picks by digest, so at chance.
"""

import random

from memflow.benchmarks.choices import LETTERS, Choice
from memflow.benchmarks.comem.contexts import Asked
from memflow.benchmarks.comem.wording import twins
from memflow.benchmarks.reading import best_options
from memflow.chat.requests import ChatRequest
from memflow.chat.scripted import Handler
from memflow.fingerprint import seeded


def _choice(request: ChatRequest) -> Choice:
    options = tuple(line.partition(". ")[2] for line in request.fields["options"].split("\n"))
    before = [message.content for message in request.messages[:-1]]
    shown = "\n".join([*before, request.fields.get("told", "")])
    return Choice(choice=LETTERS[chosen(shown, request, options)])


def chosen(shown: str, request: ChatRequest, options: tuple[str, ...]) -> int:
    """The place, from 0, of the option that what was shown speaks for."""
    best = best_options(shown, request.fields["question"], options)
    unknowing = Asked("", "", options).unknowing
    if unknowing is not None and len(best) > 1 and unknowing - 1 in best:
        return unknowing - 1
    said = [message.content for message in request.messages]
    return random.Random(seeded(request.prompt, said, request.sampling.seed)).choice(best)


_BY_STEM: dict[str, Handler] = dict.fromkeys(("choice", "choice_with_notes", "choice_told"), _choice)

HANDLERS = {f"comem/{stem}": handler for stem, handler in _BY_STEM.items()}
HANDLERS |= {f"comem/{stem}_zh": handler for stem, handler in _BY_STEM.items() if stem in twins()}
