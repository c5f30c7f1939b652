"""What is asked after every period: each of the user's questions, and state probes of what they depend on.

A question's options (paper, section 3.1) are personalised answers, one for each variant of the states it
depends on: read from the published file, or written by the simulator and accepted when it can tell from an
answer alone which variant was meant. Options keep one order over all periods. How a probe is put to an
assistant is episodes.py.
"""

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

from memflow.benchmarks.amemgym.answers import AnswerTexts, answers_of, choice_of
from memflow.benchmarks.amemgym.config import Sizes, generated, sizes_of
from memflow.benchmarks.amemgym.generation.personas import people
from memflow.benchmarks.amemgym.off_policy import users_of
from memflow.benchmarks.amemgym.published import PublishedUser
from memflow.benchmarks.amemgym.states import History, histories, taken
from memflow.benchmarks.amemgym.wording import numbered, prompt, written
from memflow.benchmarks.api import States
from memflow.benchmarks.domains import Domain
from memflow.chat.asking import ask
from memflow.chat.requests import Chat
from memflow.fingerprint import digest
from memflow.records import Probe, Record, Turn

Variant = tuple[str, ...]
"""Values of a question's variables, in their order."""


@dataclass(frozen=True)
class Asked:
    """A question with its options: `variants[i]` is what `options[i]` is the answer for."""

    question: str
    variables: Sequence[str]
    variants: Sequence[Variant]
    options: Sequence[str]
    reason: str | None = None

    def gold(self, values: Mapping[str, str]) -> str:
        """The number of the option for `values`, the first if there are several. Nothing where there is none, or where
        the question is quarantined: a check says so."""
        wanted = tuple(values.values())
        return "" if self.reason or wanted not in self.variants else str(1 + self.variants.index(wanted))


async def make_probes(
    domain: Domain, records: Sequence[Record], states: States, turns: Sequence[Turn], simulator: Chat
) -> list[Probe]:
    """The probes of the domain's users: by user, period and question, the choice before its state probe; state
    probes of single variables come after a period's questions."""
    lives = histories(states)
    if generated(domain):
        datasets = {person.persona.id: person.dataset for person in people(domain, users_of(domain, records))}
        asked = await asyncio.gather(*(_made(domain, life, simulator) for life in lives.values()))
    else:
        mine = {record.record_id: record for record in taken(domain, records)}
        datasets = {user_id: record.dataset for user_id, record in mine.items()}
        asked = [_published(mine[user_id]) for user_id in lives]
    return [
        probe
        for (user_id, life), questions in zip(lives.items(), asked, strict=True)
        for probe in _probes(
            domain,
            datasets[user_id],
            life,
            questions,
            [turn for turn in turns if turn.episode_id == user_id],
        )
    ]


def _published(record: Record) -> list[Asked]:
    user = PublishedUser.model_validate_json(record.content)
    return [
        Asked(
            question.query,
            question.required_info,
            [tuple(choice.state) for choice in question.answer_choices],
            [choice.answer for choice in question.answer_choices],
        )
        for question in user.qas
    ]


def _probes(
    domain: Domain, dataset: str, life: History, questions: Sequence[Asked], turns: Sequence[Turn]
) -> Iterator[Probe]:
    told: dict[str, Turn] = {}
    by_variable = sizes_of(domain).state_probes == "variable"
    needed = [name for name in life.schema if any(name in asked.variables for asked in questions)]
    for period in range(len(life.periods)):
        for turn in turns:
            if turn.checkpoint == period:
                told.update(dict.fromkeys(json.loads(turn.exposes or "{}"), turn))
        at = _Checkpoint(domain, dataset, life, period, told)
        for number, asked in enumerate(questions):
            choice = at.choice(number, asked)
            yield choice
            if not by_variable:
                yield replace(at.state(f"s{number}", asked.variables, asked.reason), parent=choice.probe_id)
        if by_variable:
            for number, name in enumerate(needed):
                yield at.state(f"v{number}", [name])


@dataclass(frozen=True)
class _Checkpoint:
    """Makes the probes of one user after one period. `told` holds, for each variable, the turn that tells its
    value."""

    domain: Domain
    dataset: str
    life: History
    period: int
    told: Mapping[str, Turn]

    def choice(self, number: int, asked: Asked) -> Probe:
        values = self._values(asked.variables)
        return replace(
            self._probe(f"q{number}", asked.variables, asked.reason),
            question_id=f"{self.life.profile.user_id}/q{number}",
            kind="choice",
            metric="accuracy",
            question=asked.question,
            options=list(asked.options),
            gold=asked.gold(values),
            variants=[json.dumps(variant, ensure_ascii=False) for variant in asked.variants],
        )

    def state(self, label: str, variables: Sequence[str], reason: str | None = None) -> Probe:
        """Asks for the values of `variables`, which it names with all values they may have."""
        return replace(
            self._probe(label, variables, reason),
            question=written({name: self.life.schema[name] for name in variables}),
            gold=written(self._values(variables)),
        )

    def _probe(self, label: str, variables: Sequence[str], reason: str | None) -> Probe:
        values = self._values(variables)
        sources = [self.told[name] for name in variables if name in self.told]
        user_id = self.life.profile.user_id
        return Probe(
            domain=self.domain.name,
            probe_id=f"{user_id}/p{self.period}/{label}",
            episode_id=user_id,
            checkpoint=self.period,
            kind="state",
            dataset=self.dataset,
            language=sizes_of(self.domain).language,
            metric="state_match",
            question="",
            options=[],
            variables=list(variables),
            gold="",
            revealed=written(values),
            evidence=list(dict.fromkeys(turn.message_id for turn in sources)),
            reason=reason or _unheard(values, self.told),
        )

    def _values(self, variables: Sequence[str]) -> dict[str, str]:
        return {name: self.life.periods[self.period][name] for name in variables}


def _unheard(values: Mapping[str, str], told: Mapping[str, Turn]) -> str | None:
    """Why no assistant can know one of `values`: the message that tells it is quarantined."""
    for name in values:
        if name not in told:
            return f"no message tells the value of {name}"
        if told[name].reason is not None:
            return f"the message {told[name].message_id}, which tells the value of {name}, is quarantined"
    return None


async def _made(domain: Domain, life: History, simulator: Chat) -> list[Asked]:
    author = _Author(domain, sizes_of(domain), life, simulator)
    return list(await asyncio.gather(*(author.write(question) for question in life.questions)))


@dataclass
class _Author:
    """Writes the options of one generated user's questions."""

    domain: Domain
    sizes: Sizes
    life: History
    simulator: Chat

    async def write(self, question: str) -> Asked:
        """The question with an option for each variant; with a reason where one of them failed."""
        variables = self.life.questions[question]
        variants = self._variants(question, variables)
        named = [dict(zip(variables, variant, strict=True)) for variant in variants]
        fields = {
            "profile": self.life.profile.profile,
            "question": question,
            "variants": _listed(named),
            "count": len(named),
        }
        answer = await ask(
            self.simulator,
            prompt("answers", answers_of(len(named)), self.sizes.language),
            fields,
            check=_wrong_answers,
        )
        if answer.value is None:
            return Asked(question, variables, variants, [], answer.reason)
        drafts = enumerate(answer.value.answers)
        settled = await asyncio.gather(*(self._recoverable(question, named, at, text) for at, text in drafts))
        faults = [reason for _, reason in settled if reason is not None]
        return Asked(
            question, variables, variants, [text for text, _ in settled], faults[0] if faults else None
        )

    def _variants(self, question: str, variables: Sequence[str]) -> list[Variant]:
        """Variants that some period brings, then others until there are enough; each part in an order of
        its own.

        The order says nothing of when a variant comes; it is the same on every machine.
        """

        def order(variant: Variant) -> str:
            return digest(self.domain.seed, self.life.profile.user_id, question, variant)

        lived = {tuple(state[name] for name in variables) for state in self.life.periods}
        others = set(product(*(self.life.schema[name] for name in variables))) - lived
        missing = max(0, self.sizes.min_variants - len(lived))
        return [*sorted(lived, key=order), *sorted(others, key=order)[:missing]]

    async def _recoverable(
        self, question: str, named: Sequence[Mapping[str, str]], at: int, text: str
    ) -> tuple[str, str | None]:
        """`text`, written again until a reader picks variant `at` for it; and a reason where none does."""
        reader = prompt("recover", choice_of(len(named)), self.sizes.language)
        writer = prompt("answer_again", language=self.sizes.language)
        for refinement in range(self.sizes.refinements + 1):
            fields = {"question": question, "answer": text, "variants": _listed(named)}
            picked = await ask(self.simulator, reader, fields)
            if picked.value is None:
                return text, picked.reason
            taken_for = picked.value.answer - 1
            if taken_for == at:
                return text, None
            if refinement < self.sizes.refinements:
                fields = {
                    "question": question,
                    "variants": _listed(named),
                    "answer": text,
                    "meant": written(named[at]),
                    "taken": written(named[taken_for]),
                }
                again = await ask(self.simulator, writer, fields)
                if again.value is None:
                    return text, again.reason
                text = again.value.answer
        meant, taken_as = (", ".join(named[number].values()) for number in (at, taken_for))
        return (
            text,
            f"after {self.sizes.refinements} refinements the answer for ({meant}) is still taken for ({taken_as})",
        )


def _listed(named: Sequence[Mapping[str, str]]) -> str:
    return numbered([json.dumps(variant, ensure_ascii=False) for variant in named])


def _wrong_answers(answers: AnswerTexts) -> str | None:
    return None if len(set(answers.answers)) == len(answers.answers) else "two variants have the same answer"
