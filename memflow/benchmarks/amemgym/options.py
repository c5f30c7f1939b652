"""The answer options of AMemGym's questions: one option per variant (combination of the state values of a question).

Published options are read from the file. A generated option is accepted if the simulator recovers the variant from the
option alone (paper, section 3.1).
"""

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

from memflow.benchmarks.amemgym.answers import AnswerTexts, answers_of, choice_of
from memflow.benchmarks.amemgym.config import AMemGymConfig, parse_config
from memflow.benchmarks.amemgym.published import PublishedUser
from memflow.benchmarks.amemgym.states import History
from memflow.benchmarks.amemgym.wording import number_options, prompt, written
from memflow.benchmarks.domains import Domain
from memflow.chat.asking import ask
from memflow.chat.requests import Chat
from memflow.fingerprint import digest
from memflow.records import Record

Variant = tuple[str, ...]
"""Values of a question's variables, in order."""


@dataclass(frozen=True)
class QuestionOptions:
    """A question with its options: `options[i]` is the answer for the state values `variants[i]`."""

    question: str
    variables: Sequence[str]
    variants: Sequence[Variant]
    options: Sequence[str]
    reason: str | None = None

    def gold(self, values: Mapping[str, str]) -> str:
        """Return the number (from 1) of the first option whose variables have these values.

        Return "" if no option has these values or if the question is quarantined.
        """
        wanted = tuple(values[name] for name in self.variables)
        return "" if self.reason or wanted not in self.variants else str(1 + self.variants.index(wanted))


def published_options(record: Record) -> list[QuestionOptions]:
    user = PublishedUser.model_validate_json(record.content)
    return [
        QuestionOptions(
            question.query,
            question.required_info,
            [tuple(choice.state) for choice in question.answer_choices],
            [choice.answer for choice in question.answer_choices],
        )
        for question in user.qas
    ]


async def generated_options(domain: Domain, history: History, simulator: Chat) -> list[QuestionOptions]:
    """Return the options of a generated user's questions, with a reason for each question whose options failed.

    With `quarantine = "user"`, one failed question quarantines all questions of the user.
    """
    config = parse_config(domain)
    author = OptionWriter(domain, config, history, simulator)
    made = await asyncio.gather(*(author.write(question) for question in history.questions))
    failed = next((each for each in made if each.reason is not None), None)
    if config.quarantine == "item" or failed is None:
        return made
    reason = f"the user is dropped: question {failed.question!r}: {failed.reason}"
    return [replace(each, reason=each.reason or reason) for each in made]


@dataclass
class OptionWriter:
    """A writer of the options of one generated user's questions."""

    domain: Domain
    config: AMemGymConfig
    history: History
    simulator: Chat

    async def write(self, question: str) -> QuestionOptions:
        """Return the question with one option per variant, or with a reason if an option failed."""
        variables = self.history.questions[question]
        variants = self._variants(question, variables)
        named = [dict(zip(variables, variant, strict=True)) for variant in variants]
        fields = {
            "question": question,
            "variants": _listed(named),
            "count": len(named),
        }
        answer = await ask(
            self.simulator,
            prompt("answers", answers_of(len(named)), self.config.language),
            fields,
            check=_wrong_answers,
        )
        if answer.value is None:
            return QuestionOptions(question, variables, variants, [], answer.reason)
        drafts = enumerate(answer.value.answers)
        settled = await asyncio.gather(*(self._recoverable(question, named, at, text) for at, text in drafts))
        contradictions = [reason for _, reason in settled if reason is not None]
        return QuestionOptions(
            question,
            variables,
            variants,
            [text for text, _ in settled],
            contradictions[0] if contradictions else None,
        )

    def _variants(self, question: str, variables: Sequence[str]) -> list[Variant]:
        """Return the variants (combinations of values) that occur in some period, then more up to `min_variants`.

        Each group is ordered by digest, so the order reveals nothing about periods and is the same on every machine.
        """

        def order(variant: Variant) -> str:
            return digest(self.domain.seed, self.history.profile.user_id, question, variant)

        lived = {tuple(state[name] for name in variables) for state in self.history.periods}
        others = set(product(*(self.history.schema[name] for name in variables))) - lived
        missing = max(0, self.config.min_variants - len(lived))
        return [*sorted(lived, key=order), *sorted(others, key=order)[:missing]]

    async def _recoverable(
        self, question: str, named: Sequence[Mapping[str, str]], at: int, text: str
    ) -> tuple[str, str | None]:
        """Return `text`, rewritten until the simulator recovers variant `at` from the text alone.

        The second item is a reason if the simulator never recovers the variant, otherwise None.
        """
        reader = prompt("recover", choice_of(len(named)), self.config.language)
        writer = prompt("answer_again", language=self.config.language)
        for refinement in range(self.config.refinements + 1):
            fields = {"question": question, "answer": text, "variants": _listed(named)}
            picked = await ask(self.simulator, reader, fields)
            if picked.value is None:
                return text, picked.reason
            taken_for = picked.value.answer - 1
            if taken_for == at:
                return text, None
            if refinement < self.config.refinements:
                fields |= {"meant": written(named[at]), "taken": written(named[taken_for])}
                again = await ask(self.simulator, writer, fields)
                if again.value is None:
                    return text, again.reason
                text = again.value.answer
        meant, taken_as = (", ".join(named[number].values()) for number in (at, taken_for))
        return (
            text,
            f"after {self.config.refinements} refinements the answer for ({meant}) is still recovered as ({taken_as})",
        )


def _listed(named: Sequence[Mapping[str, str]]) -> str:
    return number_options([json.dumps(variant, ensure_ascii=False) for variant in named])


def _wrong_answers(answers: AnswerTexts) -> str | None:
    return None if len(set(answers.answers)) == len(answers.answers) else "two variants have the same answer"
