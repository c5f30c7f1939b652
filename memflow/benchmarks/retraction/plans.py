"""The plan of a user: the facts, what happens to each, and at which checkpoint.

Checkpoint 0 ends when all facts were told, 1 after the corrections, requests and contradictions, 2 after some facts
were told again. Every fourth user takes back everything before checkpoint 3.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from memflow.benchmarks.domains import Domain
from memflow.benchmarks.retraction.config import Language, parse_config
from memflow.benchmarks.retraction.load import Words, load_words
from memflow.fingerprint import seeded
from memflow.records import Record

TOLD, CHANGED, LATER, CLEARED = range(4)
"""The checkpoints."""
SINGLE = (
    *("keep",) * 4,
    *("never",) * 2,
    *("correct", "update", "retract", "retract", "retract_twice", "retract_foreign"),
    *("retract_day", "retract_day", "restrict_work", "restrict_family", "restate", "restate_changed"),
    *("contradict_person", "contradict_document", "contradict_assistant", "retract_never"),
)
"""What happens to the facts that belong to no topic."""
RETRACTED = frozenset(
    {
        "retract",
        "retract_twice",
        "retract_foreign",
        "retract_day",
        "retract_topic",
        "cascade",
        "restate",
        "restate_changed",
    }
)
NEVER_TOLD = frozenset({"never", "retract_never"})
RESTATED = frozenset({"restate", "restate_changed"})
RESTRICTED = {"restrict_work": "work", "restrict_family": "family"}
CONTRADICTED = frozenset({"contradict_person", "contradict_document", "contradict_assistant"})
NEIGHBOR = "neighbor"
_WITH_NEIGHBOR = ("correct", "retract", "retract", "retract_twice", "retract_day", "retract_topic")
_CLEARED_EVERY, _CLEARED_FACTS = 4, 8


@dataclass(frozen=True)
class Fact:
    """A fact of a user or of a relative (`owner`; empty for the user), and what happens to it (`fate`).

    `second` is the value after a correction, an update or a changed restatement; `poison` is what others claim.
    """

    name: str
    owner: str
    fate: str
    value: str
    second: str | None = None
    poison: str | None = None

    @property
    def key(self) -> str:
        """The name that identifies the fact for its user."""
        return f"{self.owner} {self.name}".strip()

    def value_at(self, checkpoint: int) -> str | None:
        """Return the value that holds after a checkpoint, or None if the user never told it or took it back."""
        if self.fate in NEVER_TOLD or checkpoint >= CLEARED:
            return None
        if self.fate in RESTATED:
            told_again = self.second or self.value
            return {TOLD: self.value, CHANGED: None}.get(checkpoint, told_again)
        if checkpoint == TOLD:
            return self.value
        return None if self.fate in RETRACTED else self.second or self.value


@dataclass(frozen=True)
class Plan:
    """A user and the facts, in the order in which they are told."""

    user_id: str
    name: str
    number: int
    words: Words
    foreign: Words
    facts: tuple[Fact, ...]
    relative: str
    clears: bool
    seed: int

    def random(self, purpose: str) -> random.Random:
        """Return a generator of random numbers for one purpose."""
        return random.Random(seeded(self.seed, self.user_id, purpose))

    @property
    def checkpoints(self) -> int:
        """The number of checkpoints."""
        return CLEARED + self.clears

    @property
    def cleared_facts(self) -> tuple[Fact, ...]:
        """The facts, at most _CLEARED_FACTS, that are asked about after the user took back everything."""
        told = [fact for fact in self.facts if fact.value_at(LATER) is not None]
        return tuple(told[:_CLEARED_FACTS])


def make_plans(domain: Domain, records: Sequence[Record]) -> list[Plan]:
    """Return the plans of a domain's users. The same seed gives the same users on-policy and off-policy."""
    config, words = parse_config(domain), load_words(records)
    users = [(language, number) for number in range(config.users) for language in config.languages]
    return [_plan(words, language, number, domain.seed) for language, number in users[: domain.limit or None]]


def _plan(words_by_language: dict[str, Words], language: Language, number: int, seed: int) -> Plan:
    words = words_by_language[language]
    foreign = words_by_language["en" if language == "zh" else "zh"]
    user_id = f"{language}_{number:02}"
    choice = random.Random(seeded(seed, user_id, "plan"))
    relative = choice.choice(sorted(words.relatives))
    facts = list(_facts(words, choice, relative))
    choice.shuffle(facts)
    # A topic is told in order, as its later facts refer to the first.
    for topic in words.topics:
        places = sorted(at for at, fact in enumerate(facts) if words.facts[fact.name].topic == topic)
        members = sorted(
            (facts[at] for at in places), key=lambda fact: (fact.owner != "", _order(words, fact))
        )
        for at, fact in zip(places, members, strict=True):
            facts[at] = fact
    clears = number % _CLEARED_EVERY == _CLEARED_EVERY - 1
    name = words.users[number % len(words.users)]
    return Plan(user_id, name, number, words, foreign, tuple(facts), relative, clears, seed)


def _order(words: Words, fact: Fact) -> int:
    return list(words.facts).index(fact.name)


def _facts(words: Words, choice: random.Random, relative: str) -> Iterator[Fact]:
    singles = [name for name, fact in words.facts.items() if fact.topic is None]
    choice.shuffle(singles)
    fates = {}
    for fate in reversed(SINGLE):  # The last fates fit the fewest facts, the first fit all.
        frames = (fate, RESTRICTED.get(fate, ""), "relative" if fate in _WITH_NEIGHBOR else "")
        name = next(name for name in singles if words.fits(name, *frames))
        singles.remove(name)
        fates[name] = fate
    topics = list(words.topics)
    choice.shuffle(topics)
    for topic in topics:
        members = [name for name, fact in words.facts.items() if fact.topic == topic]
        retracted = topic == topics[0]
        fates |= {
            name: ("cascade" if at else "retract_topic") if retracted else "keep"
            for at, name in enumerate(members)
        }
    neighbors = list(_WITH_NEIGHBOR)
    for name, fate in fates.items():
        first, second, third, other = choice.sample(words.facts[name].values, 4)
        changed = fate in ("correct", "update", "restate_changed")
        yield Fact(
            name, "", fate, first, second if changed else None, third if fate in CONTRADICTED else None
        )
        if fate in neighbors:
            neighbors.remove(fate)
            yield Fact(name, relative, NEIGHBOR, other)
