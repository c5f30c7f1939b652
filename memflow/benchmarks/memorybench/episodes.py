"""What an assistant lives through in each protocol: corpora and dialogues as episodes.

Corpora are given, and so are dialogues that the backbone had; on-policy, the assistant has them itself (onpolicy.py).
What a dialogue holds is what the two said; what users pressed, their scores and all gold stay outside. What is asked,
where and when, is protocols.py.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from memflow.benchmarks.domains import Domain
from memflow.benchmarks.episodes import message_of
from memflow.benchmarks.memorybench import onpolicy, steps
from memflow.benchmarks.memorybench.config import parameters_of
from memflow.benchmarks.memorybench.protocols import alone
from memflow.benchmarks.memorybench.selection import DIALOGUES
from memflow.benchmarks.memorybench.sessions import messages
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
    """The episodes of the domain's protocol; of `probes`, on_policy needs the training cases, and same their places."""
    parameters = parameters_of(domain)
    corpora = _corpora(turns)
    cases = _grouped(feedback, lambda row: row.case_id)
    dialogues = {case: _remembered(rows, parameters.learn_from) for case, rows in cases.items()}
    match parameters.protocol:
        case "on_policy":
            train = [probe for probe in probes if probe.split == "train" and probe.reason is None]
            before = _given(_all(corpora.values()))
            return [Episode(DIALOGUES, (*before, *onpolicy.events(domain, train, simulator, len(before))))]
        case "stepwise":
            batches = steps.batches(list(dialogues), parameters.batch, domain.seed)
            arrivals = [_all(corpora.values()), *([dialogues[case] for case in batch] for batch in batches)]
            return [Episode(DIALOGUES, _given(*arrivals))]
        case "same":
            places = {probe.probe_id: probe.episode_id for probe in probes}
            bases = {case: places[case] if places[case] in corpora else None for case in dialogues}
            return [
                *(Episode(name, _given(sessions)) for name, sessions in corpora.items()),
                *(Episode(alone(case), _given([], [said]), bases[case]) for case, said in dialogues.items()),
            ]
        case _:
            shared = _given([dialogues[case] for case in steps.shuffled(list(dialogues), domain.seed)])
            talks = (Episode(name, _given(sessions), DIALOGUES) for name, sessions in corpora.items())
            return [Episode(DIALOGUES, shared), *talks]


def _grouped(rows: Iterable[T], key: Callable[[T], str]) -> dict[str, list[T]]:
    groups: dict[str, list[T]] = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    return groups


def _all(corpora: Iterable[Arrivals]) -> Arrivals:
    return [session for sessions in corpora for session in sessions]


def _given(*arrivals: Arrivals) -> tuple[Event, ...]:
    """Events of what arrives before each checkpoint in turn; nothing said is no event."""
    said = [(checkpoint, each) for checkpoint, some in enumerate(arrivals) for each in some if each]
    return tuple(Event(number, at, "given", tuple(each)) for number, (at, each) in enumerate(said))


def _corpora(turns: Sequence[Turn]) -> dict[str, Arrivals]:
    """The sessions of each corpus, by its name."""
    found: dict[str, Arrivals] = {}
    sound = [turn for turn in turns if turn.reason is None]
    for name, said in _grouped(sound, lambda turn: turn.episode_id).items():
        said.sort(key=lambda turn: (turn.event, turn.position))
        sessions = _grouped(said, lambda turn: str(turn.event))
        found[name] = [[message_of(turn) for turn in session] for session in sessions.values()]
    return found


def _remembered(rows: list[FeedbackRound], learn_from: str) -> Sequence[Message]:
    """What is remembered of a dialogue: nothing, where no answer in it was pressed what it takes (paper, A.3.9)."""
    if learn_from != "dialogues" and not any(getattr(row, learn_from) for row in rows):
        return []
    return messages(sorted(rows, key=lambda row: row.round))
