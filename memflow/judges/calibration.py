"""The calibration of a judge: its sensitivity and specificity on answers that are known to be right or wrong.

calibration.toml has sets of items by language, and the rules that derive known answers from an item: the gold itself,
reworded, another item's answer, a changed number or name, "I do not know", a vague answer, a repeated word.

A judge passes if the lower limit of sensitivity + specificity - 1 (Youden's J) is at least BOUND. The interval of each
share is that of a proportion over items, and the limit of their sum follows from both limits (MOVER, Zou and Donner,
Statistics in Medicine 27, 2008). Constructed answers differ from real ones, so no score is corrected by the result.
"""

import asyncio
import math
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from functools import cache
from importlib.resources import files
from itertools import product
from string import Template
from typing import Any, NamedTuple

from memflow.chat.asking import ask
from memflow.chat.requests import Chat
from memflow.judges.cases import JudgeCase, verdict_of, without_reasons
from memflow.metrics.intervals import Interval, Units, proportion_interval
from memflow.records import Calibration

BOUND = 0.5
"""The smallest lower limit of sensitivity + specificity - 1 with which a judge's verdicts count."""
NO_CASES = "there are no known answers for the prompt {prompt} in {language}"
NOT_SCORED = (
    "not scored: the judge {judge} accepts {accepted_right} of {right} right and {accepted_wrong} of {wrong} wrong "
    "answers ({prompt}, {language})"
)


class KnownAnswer(NamedTuple):
    """An answer to judge, as the fields of the judge's prompt, and whether it is right. `item` is its item's number."""

    fields: dict[str, Any]
    is_right: bool
    item: int


def known_answers(case: JudgeCase, language: str) -> list[KnownAnswer]:
    """Return the known answers for a judge's prompt in a language; empty if there are none."""
    if not case.calibration:
        return []
    data = _sets()
    of_set, phrases = data[case.calibration], data["phrases"]
    items = [dict(zip(of_set["columns"], texts, strict=True)) for texts in of_set.get(language, ())]
    answers = []
    for number, item in enumerate(items):
        words = {**phrases[language], **item, "other": items[(number + 1) % len(items)]["sentence"]}
        fields = {name: item.get(name, value) for name, value in case.fields.items()}
        for is_right, rules in ((True, of_set["right"]), (False, of_set["wrong"])):
            for rule in rules:
                text = Template(rule).substitute(words)
                answers.append(KnownAnswer({**fields, case.field: text}, is_right, number))
    return answers


async def calibrate(
    judge: Chat,
    case: JudgeCase,
    language: str,
    *,
    domain: str = "",
    name: str = "",
    tick: Callable[[], None] = lambda: None,
) -> Calibration:
    """Return the result of the judge `name` on the known answers of a case. Raises the errors of `ask`.

    `tick` is called after each verdict. A verdict other than the two that the case declares is out of form, and counts
    neither as right nor as wrong.
    """
    known = known_answers(case, language)
    verdicts = [without_reasons(case.rejected), without_reasons(case.accepted)]
    failures: list[str] = []

    async def accepts(answer: KnownAnswer) -> bool | None:
        reply = await ask(judge, case.prompt, answer.fields)
        tick()
        if reply.value is None:
            failures.append(reply.reason or "no answer")
        verdict = None if reply.value is None else verdict_of(case, reply.value)
        return bool(verdicts.index(verdict)) if verdict in verdicts else None

    accepted = await asyncio.gather(*map(accepts, known))
    judged = [(answer, value) for answer, value in zip(known, accepted, strict=True) if value is not None]
    right = [(answer.item, value) for answer, value in judged if answer.is_right]
    wrong = [(answer.item, not value) for answer, value in judged if not answer.is_right]
    sensitivity, specificity = _share(right), _share(wrong)
    limit = youden_limit(sensitivity, specificity)
    row = Calibration(
        domain=domain,
        judge=name,
        metric=case.metric,
        prompt=case.prompt.name,
        language=language,
        cases=len(known),
        right=len(right),
        accepted_right=sum(correct for _, correct in right),
        sensitivity=sensitivity.value,
        sensitivity_low=sensitivity.low,
        sensitivity_high=sensitivity.high,
        wrong=len(wrong),
        accepted_wrong=sum(not correct for _, correct in wrong),
        specificity=specificity.value,
        specificity_low=specificity.low,
        specificity_high=specificity.high,
        out_of_form=len(known) - len(judged),
        youden_low=limit,
        passed=limit is not None and limit >= BOUND if known else None,
        scripted=judge.scripted,
        fingerprint=judge.fingerprint,
    )
    return replace(row, reason=_reason(row, failures))


async def calibrate_cases(
    judge: Chat,
    cases: Sequence[JudgeCase],
    chosen: Sequence[str],
    name: str = "",
    *,
    tick: Callable[[], None] = lambda: None,
) -> list[Calibration]:
    """Return the results of a judge on the cases that have known answers in the chosen languages, by prompt."""
    known = [(case, language) for case, language in product(cases, chosen) if known_answers(case, language)]
    return list(
        await asyncio.gather(
            *(calibrate(judge, case, language, name=name, tick=tick) for case, language in known)
        )
    )


def languages() -> list[str]:
    """Return the languages of known answers."""
    return [*_sets()["phrases"]]


def _reason(row: Calibration, failures: Sequence[str]) -> str | None:
    """Return why the verdicts of a judge do not count, or why it is not calibrated; None if it passes.

    `failures` are the reasons of requests without a usable answer: a server that was down is no fault of the judge.
    """
    if row.passed is None:
        return NO_CASES.format(**asdict(row))
    if row.passed:
        return None
    reason = NOT_SCORED.format(**asdict(row))
    if row.out_of_form:
        reason += f"; {row.out_of_form} of {row.cases} verdicts are out of form"
    if failures:
        reason += f"; {len(failures)} requests have no usable answer, the first because of {failures[0]}"
    return reason


def _share(outcomes: Sequence[tuple[int, bool]]) -> Interval:
    items: dict[int, list[bool]] = {}
    for item, correct in outcomes:
        items.setdefault(item, []).append(correct)
    return share_of_items([*items.values()])


def share_of_items(correct: Sequence[Sequence[bool]]) -> Interval:
    """Return the share of correct verdicts on the answers of each item, with its 95 % interval over items."""
    return proportion_interval(Units.of_episodes([*map(sum, correct)], [*map(len, correct)]))


def youden_limit(sensitivity: Interval, specificity: Interval) -> float | None:
    """Return the lower 95 % limit of sensitivity + specificity - 1; None without both intervals."""
    shares = [(share.value, share.low) for share in (sensitivity, specificity)]
    known = [(value, low) for value, low in shares if value is not None and low is not None]
    if len(known) < len(shares):
        return None
    distances = [value - low for value, low in known]
    return sum(value for value, _ in known) - 1 - math.hypot(*distances)


@cache
def _sets() -> dict[str, Any]:
    return tomllib.loads(files("memflow.judges").joinpath("calibration.toml").read_text(encoding="utf-8"))
