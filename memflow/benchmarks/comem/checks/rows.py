"""What the sentences about CoMem's rows have in common: whose domains they are of, and what of which question."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence

from memflow.benchmarks.comem.config import Parameters, parameters_of
from memflow.checks.rules import PerDomain, Rule
from memflow.records import GoldLabel, Probe, Turn

KEYS, PROBES, TURNS, VERDICTS = "question.keys", "question.probes", "utterance.turns", "score.verdicts"


def by_parameters(rule: Callable[[Parameters], Rule | None]) -> PerDomain:
    """A rule that depends on the domain's parameters."""
    return PerDomain(lambda domain: rule(parameters_of(domain)))


def dropped(keys: Iterable[GoldLabel]) -> set[str]:
    """The questions that some key says are not asked."""
    return {key.question_id for key in keys if key.dropped is not None}


class Places:
    """Where the messages of each episode stand, and how many have been said at each checkpoint."""

    def __init__(self, turns: Sequence[Turn]) -> None:
        ordered = sorted(turns, key=lambda turn: (turn.episode_id, turn.event, turn.position))
        self._place: dict[tuple[str, str], int] = {}
        self._before: dict[str, Counter[int]] = defaultdict(Counter)
        for turn in ordered:
            held = self._before[turn.episode_id]
            self._place[turn.episode_id, turn.message_id] = held.total()
            held[turn.checkpoint] += 1

    def said(self, episode: str, checkpoint: int) -> int:
        """How many messages of the episode have been said at the checkpoint."""
        return sum(messages for each, messages in self._before[episode].items() if each <= checkpoint)

    def place(self, episode: str, message: str) -> int | None:
        """The message's place in its episode, from 0; None where it is not there."""
        return self._place.get((episode, message))

    def asked_after(self, probe: Probe) -> int | None:
        """How many messages have been said when the probe is asked; None where it names one that is not there."""
        if probe.after is None:
            return self.said(probe.episode_id, probe.checkpoint)
        place = self.place(probe.episode_id, probe.after)
        return None if place is None else place + 1
