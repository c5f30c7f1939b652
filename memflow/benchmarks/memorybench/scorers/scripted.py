"""Scripted judge for MemoryBench's prompts: instead of a language model, a rule scores the share of reference words."""

import re
from collections.abc import Mapping

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


def _right(request: ChatRequest) -> Judged:
    return Judged(correct=_share(request.fields["gold"], request.fields["answer"]) == 1)


def _checked(request: ChatRequest) -> Checked:
    items = []
    for number, question in _NUMBERED.findall(request.fields["checklist"]):
        share = _share(question, request.fields["answer"])
        items.append(
            CheckedItem(number=int(number), reason=_reason(share), score=Share(round(4 * share) / 4))
        )
    return Checked(items=items)


def _scored(wanted: str, said: str) -> Scored:
    share = _share(wanted, said)
    return Scored(reason=_reason(share), score=1 + round(9 * share))


def _by_criteria(request: ChatRequest) -> Scored:
    return _scored(f"{request.fields['request']} {request.fields['criteria']}", request.fields["answer"])


def _solved(request: ChatRequest) -> Solved:
    return Solved(score=1 + round(4 * _share(request.fields["question"], request.fields["answer"])))


def _overlap(request: ChatRequest) -> Scored:
    return _scored(request.fields["abstract"], request.fields["hypothesis"])


def _ranked(request: ChatRequest, *, strange_first: bool) -> Ranking:
    """Rank ideas by the number of words shared with the background. Ties are broken by digest."""

    def place(idea: tuple[str, str]) -> tuple[float, str]:
        known = _share(idea[1], request.fields["background"])
        return (known if strange_first else -known), digest(idea[1])

    ideas = sorted(request.fields["ideas"], key=place)
    order = [label for known in ideas for label in LABELS if label == known[0]]
    return Ranking(reason="by the words shared with the background", order=order)


def _in_aspect(request: ChatRequest) -> InAspect:
    aspect = f"{request.fields['aspect']} {request.fields['description']}"
    return InAspect(belongs=_share(request.fields["limitation"], aspect) > 0)


def _kind(request: ChatRequest) -> Kind:
    shares = {
        int(number): _share(kind, request.fields["limitation"])
        for number, kind in _NUMBERED.findall(request.fields["kinds"])
    }
    best = max(shares, key=lambda number: (shares[number], -number))
    return Kind(number=best if shares[best] else 0)


def _found(request: ChatRequest) -> Found:
    share = _share(request.fields["truth"], request.fields["limitation"])
    return Found(reason=_reason(share), score=round(5 * share))


def _merged(request: ChatRequest) -> Merged:
    return Merged(score=1 + round(9 * _share(request.fields["gold"], request.fields["answer"])))


HANDLERS: Mapping[str, Handler] = {
    "memorybench/dialsim_judge": _right,
    "memorybench/checklist": _checked,
    "memorybench/criterion": _by_criteria,
    "memorybench/criteria": _by_criteria,
    "memorybench/quality": _solved,
    "memorybench/idea_rating": _overlap,
    "memorybench/idea_novelty": lambda request: _ranked(request, strange_first=True),
    "memorybench/idea_feasibility": lambda request: _ranked(request, strange_first=False),
    "memorybench/limitation_aspect": _in_aspect,
    "memorybench/limitation_kind": _kind,
    "memorybench/limitation_score": _found,
    "memorybench/merge_judgment": _merged,
    "memorybench/merge_idea": _merged,
    "memorybench/merge_article": _merged,
}
"""Handlers by prompt name."""
