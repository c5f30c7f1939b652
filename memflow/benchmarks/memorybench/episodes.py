"""Episodes of MemoryBench: the corpora and dialogues that are written to an assistant's memory, by protocol.

The evaluated assistant generates the answers of on-policy dialogues (on_policy.py). User actions, scores and all gold
are excluded. `protocols.py` schedules the probes.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from memflow.benchmarks.domains import Domain
from memflow.benchmarks.episodes import arrivals, message_of
from memflow.benchmarks.memorybench import on_policy
from memflow.benchmarks.memorybench.config import parameters_of
from memflow.benchmarks.memorybench.feedback import remembered_messages
from memflow.benchmarks.memorybench.protocols import batches, own_episode, shuffled
from memflow.benchmarks.memorybench.selection import DIALOGUES
from memflow.chat.requests import Chat
from memflow.memories.memory import Message
from memflow.records import FeedbackRound, Probe, Turn
from memflow.run.play import Episode, Event

T = TypeVar("T")
Arrivals = list[Sequence[Message]]
"""Messages that arrive together, in order: sessions of a corpus, or dialogues."""


def episodes(
    domain: Domain,
    turns: Sequence[Turn],
    feedback: Sequence[FeedbackRound],
    probes: Sequence[Probe],
    simulator: Chat,
) -> list[Episode]:
    """Return the episodes of the domain's protocol. Only `on_policy` and `same` use `probes`."""
    parameters = parameters_of(domain)
    corpora = _corpora(turns)
    cases = _grouped(feedback, lambda row: row.case_id)
    dialogues = {case: _remembered(rows, parameters.learn_from) for case, rows in cases.items()}
    match parameters.protocol:
        case "on_policy":
            train = [probe for probe in probes if probe.split == "train" and probe.reason is None]
            before = _given(_all(corpora.values()))
            return [Episode(DIALOGUES, (*before, *on_policy.events(domain, train, simulator, len(before))))]
        case "stepwise":
            steps = batches(list(dialogues), parameters.batch, domain.seed)
            learned = ([dialogues[case] for case in step] for step in steps)
            return [Episode(DIALOGUES, _given(_all(corpora.values()), *learned))]
        case "same":
            places = {probe.probe_id: probe.episode_id for probe in probes}
            bases = {case: places[case] if places[case] in corpora else None for case in dialogues}
            return [
                *(Episode(name, _given(sessions)) for name, sessions in corpora.items()),
                *(
                    Episode(own_episode(case), _given([], [said]), bases[case])
                    for case, said in dialogues.items()
                ),
            ]
        case _:
            shared = _given([dialogues[case] for case in shuffled(list(dialogues), domain.seed)])
            talks = (Episode(name, _given(sessions), DIALOGUES) for name, sessions in corpora.items())
            return [Episode(DIALOGUES, shared), *talks]


def _grouped(rows: Iterable[T], key: Callable[[T], str]) -> dict[str, list[T]]:
    groups: dict[str, list[T]] = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    return groups


def _all(corpora: Iterable[Arrivals]) -> Arrivals:
    return [session for sessions in corpora for session in sessions]


def _given(*lists: Arrivals) -> tuple[Event, ...]:
    """Return one event for each non-empty list of messages. `lists` has those before each checkpoint, from 0."""
    said = [(checkpoint, each) for checkpoint, some in enumerate(lists) for each in some if each]
    return tuple(Event(number, at, "given", tuple(each)) for number, (at, each) in enumerate(said))


def _corpora(turns: Sequence[Turn]) -> dict[str, Arrivals]:
    """Return the sessions of each corpus, by name of the corpus."""
    sound = [turn for turn in turns if turn.reason is None]
    return {
        name: [[message_of(turn) for turn in session] for session in arrivals(said)]
        for name, said in _grouped(sound, lambda turn: turn.episode_id).items()
    }


def _remembered(rows: list[FeedbackRound], learn_from: str) -> Sequence[Message]:
    """Return the messages of a dialogue to write to memory; empty if no answer has the required action (A.3.9)."""
    if learn_from != "dialogues" and not any(getattr(row, learn_from) for row in rows):
        return []
    return remembered_messages(sorted(rows, key=lambda row: row.round))
