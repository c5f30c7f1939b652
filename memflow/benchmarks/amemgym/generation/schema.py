"""Generation of one user's questions and state schema (paper, section 3.1 and appendix C.1).

There are three requests. The first asks for questions, each with its variables and values. The second merges equivalent
variables under one name. The third asks for new values of merged variables whose values differed.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from pydantic import BaseModel

from memflow.benchmarks.amemgym.answers import (
    Choices,
    DraftQuestion,
    DraftQuestions,
    Refinement,
    choices_of,
    questions_of,
    refinement_of,
)
from memflow.benchmarks.amemgym.config import AMemGymConfig
from memflow.benchmarks.amemgym.wording import json_lines, prompt
from memflow.chat.asking import ask
from memflow.chat.requests import Chat


class GenerationFailed(Exception):
    """The error of a failed generation step for one user, with the reason. `generate_user` catches this error."""


@dataclass(frozen=True)
class UserSimulator:
    """The simulator model of a domain, called with a prompt in the domain's language."""

    chat: Chat
    language: str

    async def __call__(
        self,
        stem: str,
        output: type[BaseModel],
        fields: Mapping[str, object],
        check: Callable[[Any], str | None] | None = None,
    ) -> Any:
        """Send the prompt `stem` and return the parsed answer of type `output`. Raises GenerationFailed."""
        answer = await ask(self.chat, prompt(stem, output, self.language), fields, check=check)
        if answer.value is None:
            raise GenerationFailed(answer.reason or f"the simulator returned no answer to the prompt {stem}")
        return answer.value


@dataclass(frozen=True)
class StateSchema:
    """The values of each variable and the variables of each question, both in order."""

    choices: Mapping[str, list[str]]
    questions: Mapping[str, list[str]]


async def generate_schema(
    config: AMemGymConfig, profile: str, date: str, simulator: UserSimulator
) -> StateSchema:
    """Return the user's questions and state schema. Raises GenerationFailed."""
    months = (config.periods - 1) * config.months_per_period
    drafts: DraftQuestions = await simulator(
        "questions",
        questions_of(config.questions, config.variables_per_question, config.choices_per_variable),
        {
            "profile": profile,
            "date": date,
            "months": months,
            "questions": config.questions,
            "variables": config.variables_per_question,
            "values": config.choices_per_variable,
        },
        DraftQuestions.fault,
    )
    names = await _unify_names(drafts.questions, profile, simulator)
    variables = _merge_variables(drafts.questions, names)
    # By variable: the values that each question gives it. A variable of several questions needs one list of values.
    conflicts = {
        name: lists
        for name, lists in variables.items()
        if len({frozenset(values) for values in lists.values()}) > 1
    }
    choices = {name: next(iter(lists.values())) for name, lists in variables.items()}
    if conflicts:
        unified: Choices = await simulator(
            "unify",
            choices_of(tuple(conflicts), config.choices_per_variable),
            {
                "profile": profile,
                "date": date,
                "months": months,
                "merged": json_lines(conflicts),
                "values": config.choices_per_variable,
            },
            Choices.fault,
        )
        choices |= unified.chosen()
    return StateSchema(
        choices,
        {
            draft.question: [names[variable.name] for variable in draft.variables]
            for draft in drafts.questions
        },
    )


async def _unify_names(
    drafts: Sequence[DraftQuestion], profile: str, simulator: UserSimulator
) -> dict[str, str]:
    """Return a new name for each variable name, equal for variables of several questions that mean the same."""
    names_of_questions = [[variable.name for variable in draft.variables] for draft in drafts]
    old_names = tuple(dict.fromkeys(chain.from_iterable(names_of_questions)))
    refined: Refinement = await simulator(
        "refine",
        refinement_of(old_names),
        {
            "profile": profile,
            "questions": json_lines(
                {
                    draft.question: {variable.name: variable.values for variable in draft.variables}
                    for draft in drafts
                }
            ),
            "names": "\n".join(old_names),
        },
        lambda refined: refined.fault(names_of_questions),
    )
    return refined.chosen()


def _merge_variables(
    drafts: Sequence[DraftQuestion], names: Mapping[str, str]
) -> dict[str, dict[str, list[str]]]:
    """Return the questions that use each variable, with the variable's values in the question, by new variable name."""
    values_by_variable: dict[str, dict[str, list[str]]] = {}
    for draft in drafts:
        for variable in draft.variables:
            values_by_variable.setdefault(names[variable.name], {})[draft.question] = variable.values
    return values_by_variable
