"""What a simulated user knows to be right about a case, and no assistant or memory is shown (paper, A.2.2).

Which parts of the gold that are, the data set says; the words around them are prompts, `evaluation_*.md`.
"""

import json
from collections.abc import Mapping
from typing import Any

from memflow.chat.prompts import load
from memflow.records import Probe

PACKAGE = "memflow.benchmarks.memorybench.users"
_KINDS: Mapping[str, str] = {
    **dict.fromkeys(("sample_open", "sample_legal", "sample_academic"), "rule"),
    **dict.fromkeys(("hellobench_creative", "hellobench_qa", "hellobench_writing"), "checklist"),
    **dict.fromkeys(("writingbench_creative", "writingbench_law", "writingbench_academic"), "criteria"),
    "ideabench": "abstract",
    "scitechnews": "popular",
    "limitgen": "limitation",
    "nfcats": "nothing",
    "sample_checklist": "checklist",
    "sample_quality": "nothing",
}
"""Of any other data set, the right answer itself is known."""
_SCORED_APART = ("popular",)
"""Kinds whose scorer is told more than the user (A.2.4, the SciTechNews specialisation)."""


def evaluation(probe: Probe) -> str:
    """What the user knows, as their prompt shows it."""
    return _shown(probe, "evaluation")


def standards(probe: Probe) -> str:
    """What satisfaction is measured against, as the scorer's prompt shows it."""
    return _shown(probe, "standards" if _KINDS.get(probe.dataset) in _SCORED_APART else "evaluation")


def _shown(probe: Probe, stem: str) -> str:
    kind = _KINDS.get(probe.dataset, "answer")
    prompt = load(PACKAGE, f"{stem}_{kind}{'_zh' if probe.language == 'zh' else ''}")
    known = _known(probe, kind)
    return prompt.render({name: known[name] for name in prompt.fields})[0].content


def _known(probe: Probe, kind: str) -> Mapping[str, str]:
    """The parts of the gold by the names that the prompts have for them."""
    if kind in ("answer", "rule"):
        return {"answer": probe.gold, "rule": probe.revealed}
    gold: dict[str, Any] = json.loads(probe.gold)
    if kind == "checklist":
        return {"checklist": "\n".join(f"- {item}" for item in gold["checklist"])}
    if kind == "criteria":
        return {"criteria": "\n".join(f"- {one['name']}: {one['description']}" for one in gold["criteria"])}
    return gold
