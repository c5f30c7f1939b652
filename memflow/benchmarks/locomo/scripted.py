"""Handlers of the scripted chat for LoCoMo's prompts, which answer and judge by rules instead of a language model.

Questions are answered as in MemoryBench. A judge compares the words of the gold answer and of the generated answer: the
more generous the contract, the fewer words of the gold answer are needed.
"""

from memflow.benchmarks.locomo.answers import Label, ReasonedLabel
from memflow.benchmarks.memorybench import scripted as memorybench
from memflow.chat.requests import ChatRequest
from memflow.chat.scripted import Handler
from memflow.metrics.stems import stem
from memflow.words import search_words

_ANSWERS = memorybench.handlers()


def _share(request: ChatRequest) -> float:
    """Return the share of the words of the gold answer that the generated answer contains."""
    gold_words = {stem(word) for word in search_words(request.fields["gold"])}
    answer_words = {stem(word) for word in search_words(request.fields["answer"])}
    return len(gold_words & answer_words) / len(gold_words) if gold_words else 0.0


def _generous(request: ChatRequest) -> Label:
    return Label(label="CORRECT" if _share(request) >= 0.5 else "WRONG")


def _more_generous(request: ChatRequest) -> ReasonedLabel:
    return _label_above(_share(request), 0.0)


def _strict(request: ChatRequest) -> ReasonedLabel:
    return _label_above(_share(request), 0.99)


def _label_above(share: float, above: float) -> ReasonedLabel:
    return ReasonedLabel(reason=f"{share:.2f} of the words", label="CORRECT" if share > above else "WRONG")


HANDLERS: dict[str, Handler] = {
    "locomo/answer_memories": _ANSWERS["memorybench/locomo_short"],
    "locomo/answer_short": _ANSWERS["memorybench/locomo_short"],
    "locomo/answer_date": _ANSWERS["memorybench/locomo_date"],
    "locomo/answer_choice": _ANSWERS["memorybench/locomo_choice"],
    "locomo/j_2025": _generous,
    "locomo/j_2026": _more_generous,
    "locomo/j_strict": _strict,
}
