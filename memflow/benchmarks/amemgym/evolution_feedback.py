"""What an evolver is told of the questions asked so far: the feedback of self-evolution (paper, section 5).

`questions` are the questions alone. `complete` adds the options, what was answered, what would have been right, and
the states that were told in the periods asked about. `published_code` is what the published configuration of that
name gives: options and answers alone, and every answer named one too high.

All but the questions is gold or rests on it. It is for an evolver, and no memory is given it. How it comes to be
asked for is evolution.py of memflow.
"""

import json
from collections.abc import Sequence
from typing import Any

from memflow.benchmarks.amemgym.wording import written
from memflow.records import Probe, Reply, Turn


def make_evolution_feedback(
    feedback: str, probes: Sequence[Probe], replies: Sequence[Reply], turns: Sequence[Turn]
) -> str:
    """Feedback on one user's choices, as JSON: each question once, and what became of it in each period."""
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
    lesson: dict[str, Any] = {"questions": [*asked.values()]}
    if complete:
        lesson["told"] = _told(probes, turns)
    return written(lesson)


def _told(probes: Sequence[Probe], turns: Sequence[Turn]) -> dict[str, dict[str, str]]:
    """Period to the states that its messages told, for the periods that `probes` are of."""
    told: dict[str, dict[str, str]] = {str(probe.checkpoint): {} for probe in probes}
    users = {probe.episode_id for probe in probes}
    for turn in turns:
        if turn.episode_id in users and turn.reason is None and str(turn.checkpoint) in told:
            told[str(turn.checkpoint)] |= json.loads(turn.exposes or "{}")
    return told
