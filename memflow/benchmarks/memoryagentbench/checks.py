"""The checks of MemoryAgentBench's rows: every question has an accepted answer."""

import json

from memflow.checks.rules import (
    add_descriptions,
    each_valid_row,
    expect,
)
from memflow.records import Probe


def _has_answers(probe: Probe) -> bool:
    return any(gold.strip() for gold in json.loads(probe.gold))


EXPECTED = add_descriptions(
    expect("question.probes", {"accepted_answers_are_texts": each_valid_row(_has_answers)}),
    "memflow.benchmarks.memoryagentbench",
)
