"""Scripted assistant for MemBench's prompts, without a language model. generation/scripted.py has the simulator.

The assistant reads only its prompt, with `scripted_reader`. Without a supported option, the choice is pseudo-random.
"""

from memflow.benchmarks.membench.generation import scripted as generation
from memflow.benchmarks.membench.wording import PACKAGE
from memflow.benchmarks.scripted_reader import choose
from memflow.chat.scripted import scripted_handlers

_CHOICES = dict.fromkeys(("choice", "choice_with_notes", "choice_told"), choose)
HANDLERS = scripted_handlers(PACKAGE, {**_CHOICES, **generation.BY_STEM})
