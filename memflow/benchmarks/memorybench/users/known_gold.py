"""The gold context in the prompts of simulated users, which assistants and memories never see (paper, A.2.2).

The texts are in `evaluation_*.md`.
"""

import json
from collections.abc import Mapping
from typing import Any

from memflow.benchmarks.memorybench.tasks.catalog import task
from memflow.chat.prompts import load
from memflow.records import Probe

PACKAGE = "memflow.benchmarks.memorybench.users"
_SCORED_APART = ("popular",)
"""Kinds whose scorer gets more context than the user (A.2.4, SciTechNews)."""


def user_knowledge(probe: Probe) -> str:
    """Return the gold context for the prompt of the simulated user."""
    return _shown(probe, "evaluation")


def scoring_standards(probe: Probe) -> str:
    """Return the gold context for the prompt that scores satisfaction."""
    return _shown(probe, "standards" if task(probe.dataset).user_knows in _SCORED_APART else "evaluation")


def _shown(probe: Probe, stem: str) -> str:
    kind = task(probe.dataset).user_knows
    prompt = load(PACKAGE, f"{stem}_{kind}{'_zh' if probe.language == 'zh' else ''}")
    known = _known(probe, kind)
    return prompt.render({name: known[name] for name in prompt.fields})[0].content


def _known(probe: Probe, kind: str) -> Mapping[str, str]:
    """Return the parts of the gold by prompt field."""
    if kind in ("answer", "rule"):
        return {"answer": probe.gold, "rule": probe.revealed}
    gold: dict[str, Any] = json.loads(probe.gold)
    if kind == "checklist":
        return {"checklist": "\n".join(f"- {item}" for item in gold["checklist"])}
    if kind == "criteria":
        return {"criteria": "\n".join(f"- {one['name']}: {one['description']}" for one in gold["criteria"])}
    return gold
