"""Shared functions of CoMem's checks: rules that need the domain's parameters, dropped questions, message positions."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence

from memflow.benchmarks.comem.config import CoMemConfig, parse_config
from memflow.checks.rules import PerDomain, Rule
from memflow.records import GoldLabel, Probe, Turn

KEYS, PROBES, TURNS, VERDICTS = "question.keys", "question.probes", "utterance.turns", "score.verdicts"


def per_config(rule: Callable[[CoMemConfig], Rule | None]) -> PerDomain:
    """Return the rule that `rule` builds from the parameters of the checked domain."""
    return PerDomain(lambda domain: rule(parse_config(domain)))


def dropped_questions(labels: Iterable[GoldLabel]) -> set[str]:
    """Return the questions that have a dropped label."""
    return {label.question_id for label in labels if label.dropped is not None}


class MessagePositions:
    """The position of each message in its episode, and the number of messages before each checkpoint."""

    def __init__(self, turns: Sequence[Turn]) -> None:
        ordered = sorted(turns, key=lambda turn: (turn.episode_id, turn.event, turn.position))
        self._place: dict[tuple[str, str], int] = {}
        self._before: dict[str, Counter[int]] = defaultdict(Counter)
        for turn in ordered:
            found = self._before[turn.episode_id]
            self._place[turn.episode_id, turn.message_id] = found.total()
            found[turn.checkpoint] += 1

    def said(self, episode: str, checkpoint: int) -> int:
        """Return the number of messages of the episode before the checkpoint."""
        return sum(messages for each, messages in self._before[episode].items() if each <= checkpoint)

    def place(self, episode: str, message: str) -> int | None:
        """Return the message's position in its episode, from 0, or None if the message is missing."""
        return self._place.get((episode, message))

    def asked_after(self, probe: Probe) -> int | None:
        """Return the number of messages before the probe, or None if its `after` message is missing."""
        if probe.after is None:
            return self.said(probe.episode_id, probe.checkpoint)
        place = self.place(probe.episode_id, probe.after)
        return None if place is None else place + 1
