"""Output types of AMemGym's prompts. Every field is bounded, so that a server can enforce the schema.

A prompt file names the general type. The functions here narrow it to one request, such as the values of a variable or
the number of options.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from functools import cache, reduce
from operator import or_
from typing import Annotated, Any, Literal, TypeVar, cast

from pydantic import Field, StringConstraints

from memflow.benchmarks.models import StrictModel, narrowed
from memflow.fingerprint import digest

Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=64)]
Value = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=48)]
Sentence = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=300)]
Paragraph = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=800)]
MessageText = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=1200)]
"""A first message or a life event. Published ones have at most 570 and 618 characters (first 12 users of v1.base)."""
PeriodSummary = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=2400)]
"""What a period is about. Published ones have 800 characters on average and 1,158 at most (the same users)."""
Schema = Mapping[str, list[str]]
"""State variables and their possible values."""
N = TypeVar("N", bound="_ByName")


def repeated(items: Iterable[str]) -> list[str]:
    """Return the items that occur more than once, in order."""
    return [item for item, count in Counter(items).items() if count > 1]


class DraftVariable(StrictModel):
    """A state variable and its possible values."""

    name: Name
    values: list[Value] = Field(min_length=2, max_length=6)


class DraftQuestion(StrictModel):
    """A question and the state variables that its answer depends on."""

    question: Sentence
    variables: list[DraftVariable] = Field(min_length=1, max_length=4)


class DraftQuestions(StrictModel):
    """All questions of a user."""

    questions: list[DraftQuestion] = Field(min_length=1, max_length=20)

    def fault(self) -> str | None:
        """Return the first duplicate among questions, names or values; None where there is none."""
        if repeated(draft.question for draft in self.questions):
            return "two questions have the same text"
        for draft in self.questions:
            if repeated(variable.name for variable in draft.variables):
                return f"a question names the same variable twice: {draft.question!r}"
            for variable in draft.variables:
                if repeated(variable.values):
                    return f"the variable {variable.name!r} has a value twice"
        return None


class _ByName(StrictModel):
    """An answer for each of the names in the request, which may be those of attributes."""

    def chosen(self) -> dict[str, Any]:
        """Return the answer for each name, by name."""
        return self.model_dump(by_alias=True)


class Refinement(_ByName):
    """A new name for each variable's name in single questions; the old names are the request's (see
    `refinement_of`), so that none is lost and none stands there twice."""

    def fault(self, questions: Iterable[Collection[str]]) -> str | None:
        """Return an error if two variables of one question get the same new name; otherwise None."""
        renamed = self.chosen()
        for names in questions:
            if repeated(renamed[name] for name in names):
                return f"circumstances of one question are joined, and have to stay apart: {', '.join(names)}"
        return None


class Choices(_ByName):
    """The values of each joined variable; the variables are the request's (see `choices_of`)."""

    def fault(self) -> str | None:
        """Return an error if a variable has a duplicate value; otherwise None."""
        for name, values in self.chosen().items():
            if repeated(values):
                return f"{name!r} has a value twice"
        return None


class Portrait(StrictModel):
    """A person's name, and what is told of them at length, summed up."""

    name: Name
    about: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=6000)]


class Values(_ByName):
    """One value, or null, for each variable; the variables are the request's (see `values_of`)."""

    def chosen(self) -> dict[str, str]:
        """Return the value of each variable by name, without nulls."""
        return {name: value for name, value in super().chosen().items() if value is not None}


class Move(StrictModel):
    """A variable that changes, and its new value."""

    variable: Name
    value: Value


class Updates(StrictModel):
    """What a period is about, and what changes in it."""

    summary: PeriodSummary
    moves: list[Move] = Field(min_length=1, max_length=80)

    def values(self) -> dict[str, str]:
        """Return the new value of each changed variable, by name."""
        return {move.variable: move.value for move in self.moves}

    def fault(self) -> str | None:
        """Return an error if a variable changes more than once; otherwise None."""
        names = repeated(move.variable for move in self.moves)
        return f"{', '.join(names)}: more than once" if names else None


class Group(StrictModel):
    """State variables that belong together, and the text for them."""

    variables: list[Name] = Field(min_length=1, max_length=3)
    text: MessageText


class Groups(StrictModel):
    """Life events, or first messages, each for one to three variables."""

    groups: list[Group] = Field(min_length=1, max_length=80)

    def fault(self, variables: Iterable[str]) -> str | None:
        """Return None if each of `variables` is in exactly one group and all texts differ; otherwise an error."""
        names = [name for group in self.groups for name in group.variables]
        if missing_names := [name for name in variables if name not in names]:
            return f"no group names {', '.join(missing_names)}"
        if repeated_names := repeated(names):
            return f"more than one group names {', '.join(repeated_names)}"
        if repeated(group.text for group in self.groups):
            return "two groups have the same text"
        return None


class Utterance(StrictModel):
    """One message of the user."""

    text: MessageText


class AnswerTexts(StrictModel):
    """One personalised answer for each variant, in order."""

    answers: list[Paragraph] = Field(min_length=1, max_length=32)


class AnswerText(StrictModel):
    """One personalised answer."""

    answer: Paragraph


class ChoiceAnswer(StrictModel):
    """The number of an option."""

    answer: int = Field(ge=1, le=32)


class Findings(StrictModel):
    """Of each claim, in order, whether it is borne out."""

    supported: list[Literal["yes", "no"]] = Field(min_length=1, max_length=100)


@cache
def questions_of(questions: int, variables: int, values: int) -> type[DraftQuestions]:
    """Return DraftQuestions with exactly these numbers of questions, variables per question and values per variable."""
    variable = narrowed(DraftVariable, values=(list[Value], _exactly(values)))
    question = narrowed(DraftQuestion, variables=(_list(variable), _exactly(variables)))
    return narrowed(DraftQuestions, questions=(_list(question), _exactly(questions)))


def values_of(schema: Schema, *, optional: bool = False) -> type[Values]:
    """Return Values with one of its values for each variable of `schema`; `optional` allows null as well."""
    types = {name: _one_of(values) for name, values in schema.items()}
    return _by_name(Values, {name: type_ | None if optional else type_ for name, type_ in types.items()})


def refinement_of(names: tuple[str, ...]) -> type[Refinement]:
    """Return Refinement of exactly these old names."""
    return _by_name(Refinement, dict.fromkeys(names, Name))


def choices_of(names: tuple[str, ...], values: int) -> type[Choices]:
    """Return Choices with exactly `values` values for each of these variables."""
    return _by_name(Choices, dict.fromkeys(names, Annotated[list[Value], _exactly(values)]))


def updates_of(schema: Schema, min_changes: int, max_changes: int) -> type[Updates]:
    """Return Updates of `min_changes` to `max_changes` of these variables, to these values.

    The output type has a variant per variable, which allows only the variable's own values.
    """
    # A unique class name: pydantic tells classes of the same name apart by their module path in the schema.
    moves = [
        narrowed(
            Move,
            f"Move_{digest(name, tuple(values))[:8]}",
            variable=(_one_of((name,)), ...),
            value=(_one_of(values), ...),
        )
        for name, values in schema.items()
    ]
    move = reduce(or_, moves)
    return narrowed(Updates, moves=(_list(move), Field(min_length=min_changes, max_length=max_changes)))


def groups_of(variables: tuple[str, ...]) -> type[Groups]:
    """Return Groups over exactly these variables."""
    names = Field(min_length=1, max_length=min(3, len(variables)))
    group = narrowed(Group, variables=(_list(_one_of(variables)), names))
    return narrowed(Groups, groups=(_list(group), Field(min_length=1, max_length=len(variables))))


@cache
def answers_of(variants: int) -> type[AnswerTexts]:
    """Return AnswerTexts with exactly one answer per variant."""
    return narrowed(AnswerTexts, answers=(list[Paragraph], _exactly(variants)))


@cache
def choice_of(options: int) -> type[ChoiceAnswer]:
    """Return ChoiceAnswer with a valid option number."""
    return narrowed(ChoiceAnswer, answer=(int, Field(ge=1, le=options)))


@cache
def findings_of(claims: int) -> type[Findings]:
    """Return Findings with exactly one answer per claim."""
    return narrowed(Findings, supported=(_list(_one_of(("no", "yes"))), _exactly(claims)))


def _by_name(base: type[N], types: Mapping[str, Any]) -> type[N]:
    """Return `base` with a field of each name. Any text can be an alias, also the name of an attribute."""
    fields = {
        f"variable_{index}": (type_, Field(alias=name)) for index, (name, type_) in enumerate(types.items())
    }
    return narrowed(base, **fields)


def _one_of(names: Iterable[str]) -> Any:
    """Return a Literal of these names, sorted: typing caches Literals regardless of order, which would change request
    digests between processes."""
    return cast(Any, Literal)[tuple(sorted(set(names)))]


def _list(item: Any) -> Any:
    return cast(Any, list)[item]


def _exactly(count: int) -> Any:
    return Field(min_length=count, max_length=count)
