"""Checks of the times of all messages of MemBench, both published and generated.

They are warnings, because the published data contains decreasing times (33 in data2test's 0-10k files, 6 in its 100k
files). The readers quarantine questions whose options, gold or evidence are invalid (published/questions.py).
"""

from collections.abc import Collection, Sequence
from datetime import datetime

from memflow.benchmarks.membench.wording import parse_time
from memflow.checks.rules import EachRow, Expectation, WholeTable
from memflow.records import Turn


def find_decreasing_times(turns: Sequence[Turn]) -> Collection[int]:
    """Return the positions of messages that are sent before the previous message with a time in the episode."""
    last: dict[str, datetime] = {}
    found: list[int] = []
    for at, turn in sorted(enumerate(turns), key=lambda each: (each[1].event, each[1].position)):
        moment = parse_time(turn.sent_at) if turn.sent_at else None
        if moment is None or turn.reason is not None:
            continue
        if moment < last.get(turn.episode_id, moment):
            found.append(at)
        last[turn.episode_id] = moment
    return sorted(found)


EXPECTED: tuple[Expectation, ...] = (
    Expectation(
        "utterance.turns",
        "message_times_are_parseable",
        EachRow(lambda turn: turn.sent_at is None or parse_time(turn.sent_at) is not None),
        "warn",
    ),
    Expectation("utterance.turns", "message_times_never_decrease", WholeTable(find_decreasing_times), "warn"),
)
"""Checks of the times of messages."""
