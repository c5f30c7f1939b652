"""Scripted judge for MemoryBench's prompts: instead of a language model, a rule scores the share of reference words."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from memflow.benchmarks.memorybench.scorers.answers import (
    LABELS,
    Checked,
    CheckedItem,
    Found,
    InAspect,
    Judged,
    Kind,
    Merged,
    Ranking,
    Scored,
    Share,
    Solved,
)
from memflow.chat.requests import ChatRequest
from memflow.chat.scripted import Handler
from memflow.fingerprint import digest
from memflow.words import search_words

_NUMBERED = re.compile(r"^(\d+)\. (.*)$", re.MULTILINE)


def _share(wanted: str, said: str) -> float:
    """Return the share of the words of `wanted` that occur in `said`."""
    words = set(search_words(wanted))
    return len(words & set(search_words(said))) / len(words) if words else 0.0


def _reason(share: float) -> str:
    return f"{share:.2f} of the words"


def _by_share(wanted: str, said: str, judgment: Callable[[float], Any]) -> Handler:
    """Return a handler that judges by the share of words; `wanted` and `said` name fields, with spaces between."""

    def handle(request: ChatRequest) -> Any:
        texts = (" ".join(request.fields[name] for name in names.split()) for names in (wanted, said))
        return judgment(_share(*texts))

    return handle


def _scored(share: float) -> Scored:
    return Scored(reason=_reason(share), score=1 + round(9 * share))


def _checked(request: ChatRequest) -> Checked:
    items = []
    for number, question in _NUMBERED.findall(request.fields["checklist"]):
        share = _share(question, request.fields["answer"])
        score = Share(round(4 * share) / 4)
        items.append(CheckedItem(number=int(number), reason=_reason(share), score=score))
    return Checked(items=items)


def _ranked(request: ChatRequest, *, strange_first: bool) -> Ranking:
    """Rank ideas by the number of words shared with the background. Ties are broken by digest."""

    def place(idea: tuple[str, str]) -> tuple[float, str]:
        known = _share(idea[1], request.fields["background"])
        return (known if strange_first else -known), digest(idea[1])

    ideas = sorted(request.fields["ideas"], key=place)
    order = [label for known in ideas for label in LABELS if label == known[0]]
    return Ranking(reason="by the words shared with the background", order=order)


def _kind(request: ChatRequest) -> Kind:
    shares = {
        int(number): _share(kind, request.fields["limitation"])
        for number, kind in _NUMBERED.findall(request.fields["kinds"])
    }
    best = max(shares, key=lambda number: (shares[number], -number))
    return Kind(number=best if shares[best] else 0)


_merged = _by_share("gold", "answer", lambda share: Merged(score=1 + round(9 * share)))
_by_criteria = _by_share("request criteria", "answer", _scored)

HANDLERS: Mapping[str, Handler] = {
    "memorybench/dialsim_judge": _by_share("gold", "answer", lambda share: Judged(correct=share == 1)),
    "memorybench/checklist": _checked,
    "memorybench/criterion": _by_criteria,
    "memorybench/criteria": _by_criteria,
    "memorybench/quality": _by_share("question", "answer", lambda share: Solved(score=1 + round(4 * share))),
    "memorybench/idea_rating": _by_share("abstract", "hypothesis", _scored),
    "memorybench/idea_novelty": lambda request: _ranked(request, strange_first=True),
    "memorybench/idea_feasibility": lambda request: _ranked(request, strange_first=False),
    "memorybench/limitation_aspect": _by_share(
        "limitation", "aspect description", lambda share: InAspect(belongs=share > 0)
    ),
    "memorybench/limitation_kind": _kind,
    "memorybench/limitation_score": _by_share(
        "truth", "limitation", lambda share: Found(reason=_reason(share), score=round(5 * share))
    ),
    "memorybench/merge_judgment": _merged,
    "memorybench/merge_idea": _merged,
    "memorybench/merge_article": _merged,
}
"""Handlers by prompt name."""
