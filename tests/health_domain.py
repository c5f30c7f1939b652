"""A domain made to examine the health of memories: messages and queries of every length, script and role.

Each episode has sessions of user messages with one fact each, and replies. The rows are those of the benchmark
`dialogues`, so that every step after them runs unchanged.
"""

import random
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import factories as make
from generated import Generated, generate

from memflow.benchmarks.registry import find_domain
from memflow.records import Probe, Turn

EPISODES, SESSIONS, ROUNDS = 7, 3, 14
"""Rounds of a user message and a reply in a session. A checkpoint follows each session."""
CYRILLIC = str.maketrans("abdefgiklmnoprstuvz", "абдефгиклмнопрстувз")
TOPICS = ("garden", "kitchen", "office", "cellar")
FILLER = (
    "I am telling you this because we spoke about it at length on the phone last evening and it slipped from my mind "
    "before the others came home"
)
LONG_QUESTION = "Since I have to fill in a form today and cannot remember it any more, please tell me again: "


class _Words:
    """Invented words, each of which occurs once."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._used: set[str] = set()

    def new(self) -> str:
        while True:
            word = "".join(
                self._random.choice("bdfgklmnprstvz") + self._random.choice("aeiou") for _ in range(4)
            )
            if word not in self._used:
                self._used.add(word)
                return word


@dataclass(frozen=True)
class HealthDomain:
    """The rows of the domain, as `evaluate` needs them."""

    base: Generated
    turns: list[Turn] = field(default_factory=list)
    probes: list[Probe] = field(default_factory=list)

    @property
    def domain(self) -> Any:
        return self.base.domain

    @property
    def benchmark(self) -> Any:
        return self.base.benchmark

    @property
    def dry_run(self) -> Any:
        return self.base.dry_run

    def rows(self, table: str) -> list[Any]:
        tables: dict[str, list[Any]] = {"utterance.turns": self.turns, "question.probes": self.probes}
        return tables.get(table, [])


@cache
def health_domain(episodes: int = EPISODES) -> HealthDomain:
    """Return the domain with this number of episodes."""
    made = HealthDomain(generate("dialogues_demo"))
    for number in range(episodes):
        _add_episode(made, f"user{number}", _Words(number))
    return made


def _add_episode(made: HealthDomain, episode: str, words: _Words) -> None:
    domain, facts = find_domain("dialogues_demo").name, list[tuple[str, ...]]()
    for session in range(SESSIONS):
        for at in range(ROUNDS):
            thing, value = words.new(), words.new()
            topic = TOPICS[(at + session) % len(TOPICS)]
            kind = ("short", "long", "digits", "script", "repeat")[(at + session) % 5]
            user = f"My {thing} for the {topic} is {value}, and that is fine."
            match kind:
                case "long":
                    user = f"{FILLER}: my {thing} in the {topic} is {value} for the time being."
                case "digits":
                    value = str(1000 + 7 * len(facts))
                    user = f"My {thing} for the {topic} has the number {value} since Friday."
                case "script":
                    thing, value = thing.translate(CYRILLIC), value.translate(CYRILLIC)
                    user = f"{thing} {value}, {words.new().translate(CYRILLIC)}."
                case "repeat" if facts:
                    thing, topic = next(
                        ((fact[0], fact[4]) for fact in reversed(facts) if fact[2] == "long"), (thing, topic)
                    )
                    user = f"{FILLER}: my {thing} in the {topic} is {value} for the time being."
            message = f"{episode}/s{session}.{at}"
            common = {
                "domain": domain,
                "episode_id": episode,
                "checkpoint": session,
                "event": session * ROUNDS + at,
                "kind": "given",
                "sent_at": f"2024-0{session + 1}-11",
            }
            reply = f"Thank you, for the {topic} I wrote down {words.new()} and {words.new()}."
            made.turns.append(make.turn(**common, position=0, message_id=message, role="user", text=user))
            made.turns.append(
                make.turn(**common, position=1, message_id=f"{message}r", role="assistant", text=reply)
            )
            facts.append((thing, value, kind, message, topic))
        _add_probes(made, domain, episode, session, facts)


def _add_probes(
    made: HealthDomain, domain: str, episode: str, session: int, facts: list[tuple[str, ...]]
) -> None:
    for number, (thing, value, kind, message, topic) in enumerate([*facts[-8:], *facts[: 8 * (session > 0)]]):
        question = f"What is my {thing} for the {topic}?"
        if kind == "script":
            question = f"{thing}?"
        elif kind == "digits":
            question = f"What is my {thing} for the {topic}, is it {value} or 9999?"
        elif number % 2:
            question = LONG_QUESTION + question
        made.probes.append(
            make.probe(
                domain=domain,
                probe_id=f"{episode}/c{session}/q{number}",
                episode_id=episode,
                checkpoint=session,
                kind="open",
                dataset="dialogues_sample",
                category=kind if kind != "repeat" else "long",
                metric="answer_f1",
                question=question,
                gold=value,
                revealed=value,
                evidence=[message],
            )
        )
