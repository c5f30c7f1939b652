"""What must hold of what an assistant lived through in a MemoryBench domain, as data.

Nothing of a test case may reach a memory: that is an error, and blocks. The protocols `training` and `same` ask what
was learnt from, so that their golds may well have been said.
"""

from collections.abc import Callable, Collection, Sequence

from memflow.benchmarks.memorybench import leaks
from memflow.benchmarks.memorybench.config import Parameters, parameters_of
from memflow.benchmarks.memorybench.feedback import ANSWERS
from memflow.benchmarks.memorybench.probes import case_of
from memflow.benchmarks.memorybench.protocols import AGAIN
from memflow.checks.rules import Across, Expectation, PerDomain, Rule, Together, of_benchmark
from memflow.records import PlayedRound, TranscriptMessage

_ASKED = "question.probes"


def _where(rule: Rule, applies: Callable[[Parameters], bool]) -> PerDomain:
    """A rule of the domains whose parameters it applies to."""
    return PerDomain(lambda domain: rule if applies(parameters_of(domain)) else None)


def _held_out(parameters: Parameters) -> bool:
    return parameters.protocol not in AGAIN


def _golds(table: str) -> PerDomain:
    return _where(Across((table, _ASKED, "utterance.turns"), leaks.told_golds), _held_out)


def unanswered(rounds: Sequence[PlayedRound]) -> list[int]:
    """Rounds whose user has asked for more, and was given no further round."""
    led = {(row.checkpoint, row.case_id, row.round) for row in rounds}
    return [
        at
        for at, row in enumerate(rounds)
        if row.critique is not None and not row.ended and row.round < ANSWERS - 1
        if (row.checkpoint, row.case_id, row.round + 1) not in led
    ]


def forgotten(rounds: Sequence[PlayedRound], said: Sequence[TranscriptMessage]) -> Collection[int]:
    """Rounds whose answer the memory was never given."""
    given = {
        (line.checkpoint, case_of(line.message_id), line.text)
        for line in said
        if line.reason is None and line.role == "assistant"
    }
    return [
        at
        for at, row in enumerate(rounds)
        if row.reason is None and (row.checkpoint, row.case_id, row.answer) not in given
    ]


EXPECTED = of_benchmark(
    "memorybench",
    (
        Expectation(
            "memory.transcripts",
            "dialogues_of_training_cases_only",
            Across(("memory.transcripts", _ASKED), leaks.other_dialogues),
        ),
        Expectation("memory.transcripts", "test_gold_not_in_transcripts", _golds("memory.transcripts")),
        Expectation(
            "memory.indexes",
            "entries_from_training_cases_only",
            Across(("memory.indexes", _ASKED), leaks.other_sources),
        ),
        Expectation("memory.indexes", "test_gold_not_in_entries", _golds("memory.indexes")),
        Expectation(
            "memory.feedback",
            "continued_dialogues_have_next_answer",
            _where(Together(unanswered), lambda parameters: parameters.follow_ups == "standard"),
        ),
        Expectation(
            "memory.feedback",
            "answers_in_transcript",
            Across(("memory.feedback", "memory.transcripts"), forgotten),
        ),
    ),
)
"""MemoryBench's own expectations of the tables of stage memory."""
