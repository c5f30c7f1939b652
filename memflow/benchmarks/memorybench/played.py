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
from memflow.checks.rules import AcrossTables, Expectation, PerDomain, Rule, WholeTable, of_benchmark
from memflow.records import PlayedRound, TranscriptMessage

_ASKED = "question.probes"


def _where(rule: Rule, applies: Callable[[Parameters], bool]) -> PerDomain:
    """A rule of the domains whose parameters it applies to."""
    return PerDomain(lambda domain: rule if applies(parameters_of(domain)) else None)


def _held_out(parameters: Parameters) -> bool:
    return parameters.protocol not in AGAIN


def _golds(table: str) -> PerDomain:
    return _where(AcrossTables((table, _ASKED, "utterance.turns"), leaks.told_golds), _held_out)


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
            "only_training_cases_have_dialogues",
            AcrossTables(("memory.transcripts", _ASKED), leaks.other_dialogues),
        ),
        Expectation(
            "memory.transcripts", "no_message_holds_the_gold_of_a_test_case", _golds("memory.transcripts")
        ),
        Expectation(
            "memory.indexes",
            "no_entry_comes_from_a_test_case",
            AcrossTables(("memory.indexes", _ASKED), leaks.other_sources),
        ),
        Expectation("memory.indexes", "no_entry_holds_the_gold_of_a_test_case", _golds("memory.indexes")),
        Expectation(
            "memory.feedback",
            "users_who_want_more_get_another_answer",
            _where(WholeTable(unanswered), lambda parameters: parameters.follow_ups == "standard"),
        ),
        Expectation(
            "memory.feedback",
            "every_answer_is_remembered",
            AcrossTables(("memory.feedback", "memory.transcripts"), forgotten),
        ),
    ),
)
"""MemoryBench's own expectations of the tables of stage memory."""
