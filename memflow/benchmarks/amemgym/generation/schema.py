"""One user's questions, and the state variables that they depend on (paper, section 3.1 and appendix C.1).

Three requests: questions, each with its own variables and values; one list of names for all variables, where those
that mean the same are joined; and values for those that were joined, where they had different ones.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from memflow.benchmarks.amemgym.answers import (
    Choices,
    DraftQuestion,
    DraftQuestions,
    Refinement,
    choices_of,
    questions_of,
    refinement_of,
)
from memflow.benchmarks.amemgym.config import Sizes
from memflow.benchmarks.amemgym.generation.simulator import Asker
from memflow.benchmarks.amemgym.wording import written


@dataclass(frozen=True)
class Schema:
    """The variables with their values, and the questions with their variables; both in order."""

    choices: Mapping[str, list[str]]
    questions: Mapping[str, list[str]]


async def make_schema(sizes: Sizes, profile: str, date: str, asked: Asker) -> Schema:
    """The user's questions and schema. Raises GivenUp with the reason."""
    months = (sizes.periods - 1) * sizes.months_per_period
    drafts: DraftQuestions = await asked(
        "questions",
        questions_of(sizes.questions, sizes.variables_per_question, sizes.choices_per_variable),
        {
            "profile": profile,
            "date": date,
            "months": months,
            "questions": sizes.questions,
            "variables": sizes.variables_per_question,
            "values": sizes.choices_per_variable,
        },
        DraftQuestions.fault,
    )
    names = await _names(drafts.questions, profile, asked)
    joined = _joined(drafts.questions, names)
    conflicts = {
        name: uses for name, uses in joined.items() if len({frozenset(use) for use in uses.values()}) > 1
    }
    choices = {name: next(iter(uses.values())) for name, uses in joined.items()}
    if conflicts:
        unified: Choices = await asked(
            "unify",
            choices_of(tuple(conflicts), sizes.choices_per_variable),
            {
                "profile": profile,
                "date": date,
                "months": months,
                "merged": written(conflicts),
                "values": sizes.choices_per_variable,
            },
            Choices.fault,
        )
        choices |= unified.chosen()
    return Schema(
        choices,
        {
            draft.question: [names[variable.name] for variable in draft.variables]
            for draft in drafts.questions
        },
    )


async def _names(drafts: Sequence[DraftQuestion], profile: str, asked: Asker) -> dict[str, str]:
    """Old name to new name."""
    questions = [[variable.name for variable in draft.variables] for draft in drafts]
    old = tuple(dict.fromkeys(name for names in questions for name in names))
    refined: Refinement = await asked(
        "refine",
        refinement_of(old),
        {
            "profile": profile,
            "questions": written(
                {draft.question: {one.name: one.values for one in draft.variables} for draft in drafts}
            ),
            "names": "\n".join(old),
        },
        lambda refined: refined.fault(questions),
    )
    return refined.renamed()


def _joined(drafts: Sequence[DraftQuestion], names: Mapping[str, str]) -> dict[str, dict[str, list[str]]]:
    """New name to the questions that depend on it, each with the values it had there; in the questions' order."""
    found: dict[str, dict[str, list[str]]] = {}
    for draft in drafts:
        for variable in draft.variables:
            found.setdefault(names[variable.name], {})[draft.question] = variable.values
    return found
