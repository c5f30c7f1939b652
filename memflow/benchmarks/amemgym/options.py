"""The answer options of AMemGym's questions: one option per variant (combination of the state values of a question).

Published options are read from the file. A generated option is accepted if the simulator recovers the variant from the
option alone (paper, section 3.1).
"""

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product

from memflow.benchmarks.amemgym.answers import AnswerTexts, answers_of, choice_of, repeated
from memflow.benchmarks.amemgym.config import AMemGymConfig, parse_config
from memflow.benchmarks.amemgym.published import PublishedUser
from memflow.benchmarks.amemgym.states import History
from memflow.benchmarks.amemgym.wording import json_lines, number_options, prompt
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
        variant = tuple(values[name] for name in self.variables)
        return "" if self.reason or variant not in self.variants else str(1 + self.variants.index(variant))


def published_options(record: Record) -> list[QuestionOptions]:
    """Return the options of a published user's questions, in order."""
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
    writer = OptionWriter(domain, config, history, simulator)
    options = await asyncio.gather(*(writer.write(question) for question in history.questions))
    failed_question = next((item for item in options if item.reason is not None), None)
    if config.quarantine == "item" or failed_question is None:
        return options
    reason = f"the user is dropped: question {failed_question.question!r}: {failed_question.reason}"
    return [replace(item, reason=item.reason or reason) for item in options]


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
        variant_values = [dict(zip(variables, variant, strict=True)) for variant in variants]
        fields = {
            "question": question,
            "variants": _variant_list(variant_values),
            "count": len(variant_values),
        }
        answer = await ask(
            self.simulator,
            prompt("answers", answers_of(len(variant_values)), self.config.language),
            fields,
            check=_duplicate_answers,
        )
        if answer.value is None:
            return QuestionOptions(question, variables, variants, [], answer.reason)
        texts_and_reasons = await asyncio.gather(
            *(
                self._refine_until_recovered(question, variant_values, index, text)
                for index, text in enumerate(answer.value.answers)
            )
        )
        texts = [text for text, _ in texts_and_reasons]
        first_reason = next((reason for _, reason in texts_and_reasons if reason is not None), None)
        return QuestionOptions(question, variables, variants, texts, first_reason)

    def _variants(self, question: str, variables: Sequence[str]) -> list[Variant]:
        """Return the variants (combinations of values) that occur in some period, and others up to `min_variants`.

        All are ordered together by digest, so the order reveals nothing about periods and is the same on every machine.
        """

        def key(purpose: str, variant: Variant) -> str:
            return digest(self.domain.seed, self.history.profile.user_id, question, purpose, variant)

        period_variants = {tuple(state[name] for name in variables) for state in self.history.periods}
        other_variants = {*product(*(self.history.schema[name] for name in variables))} - period_variants
        missing_count = max(0, self.config.min_variants - len(period_variants))
        # With one key for both, the added variants would tend to come first.
        added_variants = sorted(other_variants, key=partial(key, "selection"))[:missing_count]
        return sorted([*period_variants, *added_variants], key=partial(key, "order"))

    async def _refine_until_recovered(
        self, question: str, variants: Sequence[Mapping[str, str]], index: int, text: str
    ) -> tuple[str, str | None]:
        """Return (text, reason): `text`, rewritten until the simulator recovers variant `index` from the text alone.

        The reason is None unless the simulator never recovers the variant, or a request fails.
        """
        reader = prompt("recover", choice_of(len(variants)), self.config.language)
        writer = prompt("answer_again", language=self.config.language)
        for refinement in range(self.config.refinements + 1):
            fields = {"question": question, "answer": text, "variants": _variant_list(variants)}
            recovery = await ask(self.simulator, reader, fields)
            if recovery.value is None:
                return text, recovery.reason
            choice = recovery.value.answer - 1
            if choice == index:
                return text, None
            if refinement < self.config.refinements:
                fields |= {"meant": json_lines(variants[index]), "taken": json_lines(variants[choice])}
                rewrite = await ask(self.simulator, writer, fields)
                if rewrite.value is None:
                    return text, rewrite.reason
                text = rewrite.value.answer
        gold, guess = (", ".join(variants[number].values()) for number in (index, choice))
        return (
            text,
            f"after {self.config.refinements} refinements the answer for ({gold}) is still recovered as ({guess})",
        )


def _variant_list(variants: Sequence[Mapping[str, str]]) -> str:
    return number_options([json.dumps(variant, ensure_ascii=False) for variant in variants])


def _duplicate_answers(answers: AnswerTexts) -> str | None:
    return "two variants have the same answer" if repeated(answers.answers) else None
