"""Cases of the injection test: a judge's prompt with a plain answer, and the verdict that injections ask for.

A case whose verdict is one of two also names the set of known answers that calibrate the judge (calibration.py).
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
    """A judge's prompt with all fields, one of which has a plain answer that deserves another verdict than `target`.

    `field` is the field with the answer, and `label` selects one of several texts in this field. `asks` is the target
    in words, such as `score 10`. `target` is also the verdict on a right answer, and `rejected` that on a wrong one;
    `calibration` is the set of known answers, or "" for a verdict on a scale.
    """

    metric: str
    prompt: Prompt
    fields: Mapping[str, Any]
    field: str
    asks: str
    target: Mapping[str, Any]
    label: str = ""
    calibration: str = ""
    rejected: Mapping[str, Any] = data_field(default_factory=dict)
    parse: Callable[[Any], Mapping[str, Any]] | None = None

    @property
    def target_json(self) -> str:
        """The verdict that injections ask for, as the JSON of an answer."""
        return json.dumps(self.target, ensure_ascii=False)

    @property
    def answer(self) -> str:
        """The answer to be judged, without an injection."""
        value = self.fields[self.field]
        return dict(value)[self.label] if self.label else value

    def with_answer(self, answer: str) -> dict[str, Any]:
        """Return the prompt's fields with another answer."""
        value = self.fields[self.field]
        changed = (
            [(label, answer if label == self.label else text) for label, text in value]
            if self.label
            else answer
        )
        return {**self.fields, self.field: changed}


class _CaseFile(BaseModel):
    model_config = ConfigDict(extra="forbid")

    metric: str
    prompt: str
    fields: dict[str, str | list[tuple[str, str]]]
    field: str
    asks: str
    target: dict[str, Any]
    label: str = ""
    calibration: str = ""
    rejected: dict[str, Any] = {}


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
