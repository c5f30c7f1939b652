"""The feedback for self-evolution (paper, section 5): text on answered questions for the model that rewrites a policy.

`questions` contains the questions only. `complete` adds options, answers, gold, and the values exposed in these
periods. `published_code` contains options and answers with every option number too high by one, as in the published
code. Memories never receive this feedback.
"""

from collections.abc import Sequence
from typing import Any

from memflow.benchmarks.amemgym.states import exposed_values
from memflow.benchmarks.amemgym.wording import json_lines
from memflow.records import Probe, Reply, Turn


def make_evolution_feedback(
    feedback: str, probes: Sequence[Probe], replies: Sequence[Reply], turns: Sequence[Turn]
) -> str:
    """Return the feedback on one user's choice probes as JSON.

    Each question occurs once, with its answers by period in order.
    """
    if feedback == "questions":
        return json_lines({"questions": list(dict.fromkeys(probe.question for probe in probes))})
    complete = feedback == "complete"
    answers = {reply.probe_id: reply.parsed for reply in replies}
    questions: dict[str, dict[str, Any]] = {}
    for probe in probes:
        options = {str(number): option for number, option in enumerate(probe.options, 1)}
        entry = questions.setdefault(
            probe.question, {"question": probe.question, "options": options, "asked": []}
        )
        answer = answers.get(probe.probe_id)
        answer_entry: dict[str, Any] = {"period": probe.checkpoint, "answered": answer}
        if complete:
            answer_entry["right"] = probe.gold
        elif answer is not None:
            answer_entry["answered"] = str(
                int(answer) + 1
            )  # as in the published feedback, one above the option
        entry["asked"].append(answer_entry)
    feedback_content: dict[str, Any] = {"questions": [*questions.values()]}
    if complete:
        feedback_content["told"] = _revealed_values(probes, turns)
    return json_lines(feedback_content)


def _revealed_values(probes: Sequence[Probe], turns: Sequence[Turn]) -> dict[str, dict[str, str]]:
    """Return the values that messages revealed in each period, by variable."""
    values_by_period: dict[str, dict[str, str]] = {str(probe.checkpoint): {} for probe in probes}
    users = {probe.episode_id for probe in probes}
    for turn in turns:
        if turn.episode_id in users and turn.reason is None and str(turn.checkpoint) in values_by_period:
            values_by_period[str(turn.checkpoint)] |= exposed_values(turn)
    return values_by_period
