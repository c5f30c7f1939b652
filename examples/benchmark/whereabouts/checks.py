"""The check of the benchmark: the evidence message of each probe contains the text of the gold option."""

from memflow.checks.rules import EachRow, Expectation

EXPECTED = (
    Expectation(
        "question.probes",
        "gold_in_evidence",
        EachRow(lambda probe: probe.options[int(probe.gold) - 1] in probe.revealed),
        text="The text of each probe's evidence message contains the text of the gold option.",
    ),
)
