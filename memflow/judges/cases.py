"""Cases of judges: a prompt with a wrong answer, and the verdicts on right and wrong answers.

The injection test (injections.py) and the calibration (calibration.py) use them.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as data_field
from typing import Any

from pydantic import BaseModel, ConfigDict

from memflow.benchmarks.packaged import load_yaml
from memflow.chat.prompts import Prompt, load


@dataclass(frozen=True)
class JudgeCase:
    """A judge's prompt with all fields, of which `field` has a wrong answer: the text, or the last of labeled texts.

    `accepted` is the verdict on a right answer, for which injections ask, and `rejected` that on a wrong one.
    `calibration` is the set of known answers, or "" for a verdict on a scale, whose judge is not calibrated.
    """

    metric: str
    prompt: Prompt
    field: str
    fields: Mapping[str, Any]
    accepted: Mapping[str, Any]
    rejected: Mapping[str, Any] = data_field(default_factory=dict)
    calibration: str = ""
    parse: Callable[[Any], Mapping[str, Any]] | None = None

    @property
    def accepted_json(self) -> str:
        """The verdict on a right answer, as the JSON of a reply."""
        return json.dumps(self.accepted, ensure_ascii=False)

    @property
    def asks(self) -> str:
        """The verdict on a right answer in words, such as `score = 10`."""
        return ", ".join(
            f"{name} = {json.dumps(value)}" for name, value in without_reasons(self.accepted).items()
        )

    @property
    def answer(self) -> str:
        """The wrong answer, without an injection."""
        value = self.fields[self.field]
        return str(value if isinstance(value, str) else value[-1][1])

    def with_answer(self, answer: str) -> dict[str, Any]:
        """Return the prompt's fields by name, with `answer` as the judged answer."""
        value = self.fields[self.field]
        changed = answer if isinstance(value, str) else [*value[:-1], (value[-1][0], answer)]
        return {**self.fields, self.field: changed}


class _CaseFile(BaseModel):
    model_config = ConfigDict(extra="forbid")

    metric: str
    prompt: str
    field: str
    fields: dict[str, str | list[tuple[str, str]]]
    accepted: dict[str, Any]
    rejected: dict[str, Any] = {}
    calibration: str = ""


def load_cases(
    package: str,
    prompts: Mapping[str, Prompt] | None = None,
    parse: Callable[[Any], Mapping[str, Any]] | None = None,
) -> Sequence[JudgeCase]:
    """Return the cases in `judge_cases.yaml` of a package, in order. `prompts` maps stems to replaced prompts.

    `parse` is `JudgeCase.parse` of all cases.
    """
    prompts = prompts or {}
    found = []
    for entry in load_yaml(package, "judge_cases.yaml"):
        case = _CaseFile.model_validate(entry)
        prompt = prompts.get(case.prompt) or load(package, case.prompt)
        found.append(JudgeCase(**{**dict(case), "prompt": prompt}, parse=parse))
    return found


def verdict_of(case: JudgeCase, value: Any) -> Any:
    """Return the verdict in a judge's answer to a case, without its reasons."""
    return without_reasons(case.parse(value) if case.parse is not None else value.model_dump(mode="json"))


def without_reasons(value: Any) -> Any:
    """Return a verdict without its reasons, which vary in wording."""
    if isinstance(value, dict):
        return {name: without_reasons(item) for name, item in value.items() if name != "reason"}
    return [without_reasons(item) for item in value] if isinstance(value, list) else value
