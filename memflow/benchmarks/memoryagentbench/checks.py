"""The checks of MemoryAgentBench's rows: every question has an accepted answer."""

import json

from memflow.checks.rules import Expectation, each_valid_row, of_benchmark
from memflow.records import Probe


def _has_answers(probe: Probe) -> bool:
    return any(gold.strip() for gold in json.loads(probe.gold))


EXPECTED = of_benchmark(
    "memoryagentbench",
    (
        Expectation(
            "question.probes",
            "accepted_answers_are_texts",
            each_valid_row(_has_answers),
            text="The gold of each probe is a JSON list of accepted answers, of which one is not blank.",
        ),
    ),
)
