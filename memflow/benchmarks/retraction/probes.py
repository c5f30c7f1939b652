"""The probes: each fact is asked for before anything happens to it, right after, and later, in several forms.

The options of a form of question are the same at all checkpoints. Two questions about a fact have options in another
order and other wrong values, so that a guess by position or by a liked value seldom finds both answers. One option is
that the answer cannot be said: it is the gold where the user never told the fact, took it back, or does not want it
passed on to the audience of the question.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from memflow.benchmarks.domains import Domain
from memflow.benchmarks.retraction.plans import (
    CHANGED,
    CLEARED,
    LATER,
    NEIGHBOR,
    NEVER_TOLD,
    RESTRICTED,
    RETRACTED,
    TOLD,
    Fact,
    Plan,
    make_plans,
)
from memflow.benchmarks.retraction.turns import checkpoint_end
from memflow.records import STORED, Probe, Record, Turn

ACCURACY, OPEN_ACCURACY, STORE_LEAK, KNOWN = "accuracy", "open_accuracy", "store_leak", "known_before"
STORE = "store"
DIRECT, TASK, ELIMINATE, CONFIRM, OPEN = "direct", "task", "eliminate", "confirm", "open"
BEFORE = "before"
VALUES = 4
"""Options that are values."""


def make_probes(domain: Domain, records: Sequence[Record], turns: Sequence[Turn]) -> list[Probe]:
    """Return the probes of all users, in the order of users and checkpoints."""
    by_episode: dict[str, list[Turn]] = {}
    for turn in turns:
        by_episode.setdefault(turn.episode_id, []).append(turn)
    return [
        probe
        for plan in make_plans(domain, records)
        for turns_of_user in [by_episode.get(plan.user_id, [])]
        for probe in _UserProbes(domain, plan, turns_of_user).probes()
        # A user with a quarantined message has no probes.
        if all(turn.reason is None for turn in turns_of_user)
    ]


def form_of(probe: Probe) -> str:
    """Return the form of a probe's question, such as `direct` or `confirm`."""
    return (probe.question_id or "").rpartition("/")[2].partition(" ")[0]


@dataclass
class _UserProbes:
    domain: Domain
    plan: Plan
    turns: Sequence[Turn]
    options: dict[str, tuple[str | None, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.choice = self.plan.random("probes")
        values = {fact.key: fact for fact in self.plan.facts}
        for fact in self.plan.facts:
            twin = values.get(fact.name if fact.owner else f"{self.plan.relative} {fact.name}")
            used = [fact.value, fact.second, fact.poison, twin.value if twin else None]
            for name in (fact.key, f"{fact.key}/{TASK}"):
                self.options[name] = self._options(fact.name, [value for value in used if value])
            alone = [value for value in self._pool(fact.name) if value not in used]
            self.options[f"{fact.key}/{ELIMINATE}"] = self._shuffled(
                [fact.value, *self.choice.sample(alone, VALUES - 1)]
            )

    def probes(self) -> Iterator[Probe]:
        for checkpoint in range(self.plan.checkpoints):
            facts = self.plan.facts if checkpoint < CLEARED else self.plan.cleared_facts
            for at, fact in enumerate(facts):
                for form in self._forms(fact, checkpoint, at + self.plan.number):
                    yield self._probe(fact, checkpoint, form)
            yield self._look(checkpoint)

    def _forms(self, fact: Fact, checkpoint: int, turn: int) -> tuple[str, ...]:
        if fact.fate in NEVER_TOLD:
            return (DIRECT if turn % 2 else TASK,) if checkpoint == LATER else ()
        if checkpoint == TOLD:
            return (DIRECT, TASK)
        if checkpoint == CLEARED:
            return (DIRECT,)
        stays = fact.fate in ("keep", NEIGHBOR)
        if fact.fate in RESTRICTED:
            return (RESTRICTED[fact.fate], DIRECT)
        if checkpoint == CHANGED:
            # No form of a question is asked about forbidden or deleted facts alone: it would tell its answer.
            audiences = [
                name for name in sorted(RESTRICTED.values()) if self.plan.words.fits(fact.name, name)
            ]
            second = TASK if fact.owner else audiences[turn % len(audiences)]
            return (DIRECT, second) if stays else (DIRECT,)
        forms = [DIRECT, CONFIRM, OPEN] if stays or fact.second or fact.poison else [ELIMINATE, CONFIRM, OPEN]
        forms += [ELIMINATE] * stays
        return (TASK if stays or fact.second or fact.poison else DIRECT, forms[turn % len(forms)])

    def _probe(self, fact: Fact, checkpoint: int, form: str) -> Probe:
        words, plan = self.plan.words, self.plan
        value = fact.value_at(checkpoint)
        earlier = (fact.value_at(at) for at in reversed(range(checkpoint)))
        before = next((held for held in earlier if held != value), value)
        if RESTRICTED.get(fact.fate) == form:
            value, before = None, value
        named = None
        if form == CONFIRM:
            named = self.choice.choice([fact.value, fact.second or fact.poison or self._other(fact)])
        question = self._question(fact, form, named)
        options: tuple[str, ...]
        variants: list[str]
        if form == CONFIRM:
            texts, kinds = self._confirm_options(named or "")
            options, variants = texts, kinds
        elif form == OPEN:
            options, variants = (), []
        else:
            chosen = self.options.get(f"{fact.key}/{form}", self.options[fact.key])
            options = tuple(words.cannot_say if option is None else option for option in chosen)
            variants = [json.dumps([option], ensure_ascii=False) for option in chosen]

        def gold(held: str | None) -> str:
            if held is None:
                return words.cannot_say
            return (words.yes if held == named else words.no) if form == CONFIRM else held

        text = gold(value)
        suffix = f" {named}" if named else ""
        claims = {fact.poison: fact.fate, fact.second: "changed"} if fact.poison else {}
        evidence = self._evidence(fact, checkpoint, form)
        return Probe(
            domain=self.domain.name,
            probe_id=f"{plan.user_id}/{checkpoint}/{fact.key.replace(' ', '_')}/{form}",
            episode_id=plan.user_id,
            checkpoint=checkpoint,
            kind="open" if form == OPEN else "choice",
            dataset=self.domain.datasets[0],
            category="clear" if checkpoint == CLEARED else fact.fate,
            language=words.language,
            asked_at=f"{checkpoint_end(checkpoint):%Y-%m-%d %H:%M}",
            metric=OPEN_ACCURACY if form == OPEN else ACCURACY,
            question=question,
            options=list(options),
            variables=[fact.key],
            gold=text if form == OPEN else str(options.index(text) + 1),
            revealed=text,
            previous=gold(before),
            evidence=evidence,
            variants=variants,
            question_id=f"{plan.user_id}/{fact.key}/{form}{suffix}",
            true_of=[claims.get(option, "") for option in options] if claims else [],
            slices=[f"form {form}", BEFORE if checkpoint == TOLD else "after"],
        )

    def _look(self, checkpoint: int) -> Probe:
        """Return the look into the memory for the facts that the user takes back before a checkpoint, or later."""
        gone = [fact for fact in self.plan.facts if fact.value_at(checkpoint) is None]
        if checkpoint == TOLD:
            gone = [fact for fact in self.plan.facts if fact.fate in RETRACTED or self.plan.clears]
        searched = {
            fact.key: {
                "value": (fact.value_at(LATER) if checkpoint == CLEARED else None) or fact.value,
                "wordings": self._wordings(fact, [fact.value, fact.second]),
                "neighbors": self._wordings(self._twin(fact), [self._twin(fact).value]),
            }
            for fact in gone
            if fact.fate not in NEVER_TOLD
        }
        gold = json.dumps(searched, ensure_ascii=False)
        return Probe(
            domain=self.domain.name,
            probe_id=f"{self.plan.user_id}/{checkpoint}/store",
            episode_id=self.plan.user_id,
            checkpoint=checkpoint,
            kind=STORED,
            dataset=self.domain.datasets[0],
            category=STORE,
            language=self.plan.words.language,
            asked_at=f"{checkpoint_end(checkpoint):%Y-%m-%d %H:%M}",
            metric=KNOWN if checkpoint == TOLD else STORE_LEAK,
            question="What does the memory contain?",
            options=[],
            variables=list(searched),
            gold=gold,
            revealed=STORE,
            evidence=[],
            question_id=f"{self.plan.user_id}/{STORE}",
            slices=[BEFORE if checkpoint == TOLD else "after"],
        )

    def _twin(self, fact: Fact) -> Fact:
        """Return the same fact of another person, with a value of its own if nobody told one."""
        owner = "" if fact.owner else self.plan.relative
        told = (other for other in self.plan.facts if (other.name, other.owner) == (fact.name, owner))
        rest = [value for value in self._pool(fact.name) if value not in (fact.value, fact.second)]
        return next(told, Fact(fact.name, owner, NEIGHBOR, rest[0]))

    def _wordings(self, fact: Fact, values: Sequence[str | None]) -> list[str]:
        templates = len(self.plan.words.facts[fact.name].tell)
        return [
            self.plan.words.statement(fact.name, value, fact.owner, variant=variant, second_person=second)
            for value in values
            if value is not None
            for variant in range(templates)
            for second in (False, True)
        ]

    def _question(self, fact: Fact, form: str, named: str | None) -> str:
        words, own = self.plan.words, self.plan.words.facts[fact.name]
        if form in (DIRECT, OPEN):
            return words.filled(own.ask, fact.owner)
        if form == TASK:
            return words.filled(own.task, fact.owner)
        statement = words.statement(fact.name, named, fact.owner) if named else ""
        ask, indirect = words.filled(own.ask, fact.owner), words.indirect(fact.name)
        return words.filled(words.questions[form], ask=ask, indirect=indirect, statement=statement)

    def _confirm_options(self, named: str) -> tuple[tuple[str, ...], list[str]]:
        words = self.plan.words
        kinds = {words.yes: [named], words.no: ["not", named], words.cannot_say: [None]}
        texts = list(kinds)
        self.choice.shuffle(texts)
        return tuple(texts), [json.dumps(kinds[text], ensure_ascii=False) for text in texts]

    def _evidence(self, fact: Fact, checkpoint: int, form: str) -> list[str]:
        """Return the messages that determine the gold: the statement that holds, or the request that ended it."""
        stating, ending = "", ""
        for turn in self.turns:
            if turn.checkpoint > checkpoint or turn.role != "user":
                continue
            if turn.exposes is not None and fact.key in json.loads(turn.exposes):
                stating, ending = turn.message_id, ""
            elif turn.forgets is not None and self._ends(turn, fact):
                ending = turn.message_id
        if RESTRICTED.get(fact.fate) == form:
            return [message for message in (stating, self._restriction(fact)) if message]
        return [ending or stating] if ending or stating else []

    def _ends(self, turn: Turn, fact: Fact) -> bool:
        """Return whether a request of the user takes back a fact."""
        request = json.loads(turn.forgets or "{}")
        match request["by"]:
            case "message":
                stated = {
                    message.message_id
                    for message in self.turns
                    if message.exposes is not None and fact.key in json.loads(message.exposes)
                }
                return not stated.isdisjoint(request["message_ids"])
            case "time":
                return "since" not in request or fact.fate == "retract_day"
        words = self.plan.words
        topic = words.facts[fact.name].topic
        return not fact.owner and request["text"] in (
            words.noun(fact.name),
            words.topics.get(topic or "", ""),
        )

    def _restriction(self, fact: Fact) -> str:
        noun = self.plan.words.noun(fact.name)
        matching = (
            turn.message_id
            for turn in self.turns
            if turn.role == "user" and turn.checkpoint == CHANGED and noun in turn.text
        )
        return next(matching, "")

    def _pool(self, name: str) -> tuple[str, ...]:
        return self.plan.words.facts[name].values

    def _other(self, fact: Fact) -> str:
        values = [value for value in self.options[fact.key] if value not in (None, fact.value)]
        return self.choice.choice([value for value in values if value is not None])

    def _options(self, name: str, used: Sequence[str]) -> tuple[str | None, ...]:
        values = list(dict.fromkeys(used))[:VALUES]
        rest = [value for value in self._pool(name) if value not in values]
        return self._shuffled([*values, *self.choice.sample(rest, VALUES - len(values))])

    def _shuffled(self, values: Sequence[str]) -> tuple[str | None, ...]:
        options: list[str | None] = [*values, None]
        self.choice.shuffle(options)
        return tuple(options)
