"""Scripted assistant for MemBench's prompts, without a language model. generation/scripted.py has the simulator.

The assistant reads only its prompt, with `scripted_reader`. Without a supported option, the choice is pseudo-random.
"""

from memflow.benchmarks.membench.generation import scripted as generation
from memflow.benchmarks.membench.wording import PACKAGE
from memflow.benchmarks.multiple_choice import LETTERS, Choice
from memflow.benchmarks.scripted_reader import best_options
from memflow.chat.requests import ChatRequest
from memflow.chat.scripted import scripted_handlers


def _choice(request: ChatRequest) -> Choice:
    options = [line.partition(". ")[2] for line in request.fields["options"].split("\n")]
    before = [message.content for message in request.messages[:-1]]
    shown = "\n".join([*before, request.fields.get("told", "")])
    best = best_options(shown, request.fields["question"], options)
    return Choice(choice=LETTERS[generation.random_of(request).choice(best)])


_CHOICES = dict.fromkeys(("choice", "choice_with_notes", "choice_told"), _choice)
HANDLERS = scripted_handlers(PACKAGE, {**_CHOICES, **generation.BY_STEM})
