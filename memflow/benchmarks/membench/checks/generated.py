"""Blocking checks of the texts that the simulator words. `rows.py` has the checks that also apply to published data.

What code alone determines, such as user graphs, times and evidence, is tested in the test suite.
"""

import json
from collections import defaultdict
from collections.abc import Sequence

from memflow.benchmarks.membench.config import generated
from memflow.benchmarks.membench.kinds import find_kind
from memflow.checks.rules import (
    AcrossTables,
    PerDomain,
    Rule,
    each_valid_row,
    expect,
)
from memflow.records import Probe, Turn


def if_generated(rule: Rule) -> PerDomain:
    """Return a rule that applies only to domains with generated data."""
    return PerDomain(lambda domain: rule if generated(domain) else None)


def contains_gold_value(turn: Turn) -> bool:
    """Return whether an evidence message contains the gold value of its fact."""
    if turn.exposes is None or find_kind(turn.episode_id.split("/")[-3]).level != "factual":
        return True
    return str(json.loads(turn.exposes)["value"]).casefold() in turn.text.casefold()


def find_missing_wrong_statements(probes: Sequence[Probe], turns: Sequence[Turn]) -> list[int]:
    """Return the positions of probes that violate the check `wrong_value_stated_before_correction`."""
    episodes: dict[str, list[Turn]] = defaultdict(list)
    events = {turn.message_id: turn.event for turn in turns}
    for turn in turns:
        episodes[turn.episode_id].append(turn)
    found = []
    for at, probe in enumerate(probes):
        if probe.reason is not None or probe.category != "knowledge_update":
            continue
        until = min((events.get(message, -1) for message in probe.evidence), default=-1)
        before = "\n".join(turn.text.casefold() for turn in episodes[probe.episode_id] if turn.event < until)
        wrong = [option for option in probe.options if option != probe.revealed]
        if not any(option.casefold() in before for option in wrong):
            found.append(at)
    return found


EXPECTED = (
    *expect(
        "utterance.turns",
        {"generated_evidence_contains_gold_value": if_generated(each_valid_row(contains_gold_value))},
    ),
    *expect(
        "question.probes",
        {
            "wrong_value_stated_before_correction": if_generated(
                AcrossTables(("question.probes", "utterance.turns"), find_missing_wrong_statements)
            )
        },
    ),
)
"""Checks of the texts of generated messages."""
