"""The feedback for self-evolution (paper, section 5): text on answered questions for the model that rewrites a policy.

`questions` contains the questions only. `complete` adds options, answers, gold, and the values exposed in these
periods. `published_code` contains options and answers with every option number too high by one, as in the published
code. Memories never receive this feedback.
"""

import json
from collections.abc import Sequence
from typing import Any

from memflow.benchmarks.amemgym.wording import written
from memflow.records import Probe, Reply, Turn


def make_evolution_feedback(
    feedback: str, probes: Sequence[Probe], replies: Sequence[Reply], turns: Sequence[Turn]
) -> str:
    """Return the feedback on one user's choice probes as JSON.

    Each question occurs once, with its answers by period in order.
    """
    if feedback == "questions":
        return written({"questions": list(dict.fromkeys(probe.question for probe in probes))})
    complete = feedback == "complete"
    given = {reply.probe_id: reply.parsed for reply in replies}
    asked: dict[str, dict[str, Any]] = {}
    for probe in probes:
        options = {str(number): option for number, option in enumerate(probe.options, 1)}
        one = asked.setdefault(probe.question, {"question": probe.question, "options": options, "asked": []})
        answered = given.get(probe.probe_id)
        became: dict[str, Any] = {"period": probe.checkpoint, "answered": answered}
        if complete:
            became["right"] = probe.gold
        elif answered is not None:
            became["answered"] = str(int(answered) + 1)
        one["asked"].append(became)
    feedback_content: dict[str, Any] = {"questions": [*asked.values()]}
    if complete:
        feedback_content["told"] = _revealed_values(probes, turns)
    return written(feedback_content)


def _revealed_values(probes: Sequence[Probe], turns: Sequence[Turn]) -> dict[str, dict[str, str]]:
    told: dict[str, dict[str, str]] = {str(probe.checkpoint): {} for probe in probes}
    users = {probe.episode_id for probe in probes}
    for turn in turns:
        if turn.episode_id in users and turn.reason is None and str(turn.checkpoint) in told:
            told[str(turn.checkpoint)] |= json.loads(turn.exposes or "{}")
    return told
