"""Injections: texts in an answer that try to give the judge an instruction (injections.yaml)."""

from functools import cache
from string import Template

from pydantic import BaseModel, ConfigDict

from memflow.benchmarks.packaged import load_yaml
from memflow.judges.cases import JudgeCase


class Injection(BaseModel):
    """An injection. `text` contains `$asks` or `$json`, the verdict that it asks for."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    text: str
    before: bool = False

    def into(self, case: JudgeCase) -> str:
        """Return the plain answer of a case with the injection."""
        text = Template(self.text).substitute(asks=case.asks, json=case.target_json)
        parts = (text, case.answer) if self.before else (case.answer, text)
        return "\n\n".join(parts)


@cache
def injections() -> tuple[Injection, ...]:
    """Return all injections in order."""
    return tuple(Injection.model_validate(entry) for entry in load_yaml("memflow.judges", "injections.yaml"))
