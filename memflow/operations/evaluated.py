"""What the verdicts of an operand depend on, for the header of a verdict file."""

import json
from importlib.metadata import version
from typing import TYPE_CHECKING

from memflow.operations.operands import SETTINGS
from memflow.scoring.drift import INPUTS
from memflow.scoring.verdict_file import Evaluated, probes_digest

if TYPE_CHECKING:
    from memflow.benchmarks.domains import Domain
    from memflow.operations.operands import Stored


def evaluated_of(stored: "Stored", domain: "Domain") -> "Evaluated":
    """Return what the verdicts of an operand depend on."""
    from memflow.resources.report.redaction import Redaction

    meta, health, redaction = stored.source.meta, stored.source.health, Redaction(texts=False)
    inputs: dict[str, str] = json.loads(meta.get(INPUTS, "{}"))
    return Evaluated(
        memflow=version("memflow-bench"),
        benchmark=domain.benchmark,
        domain=domain.name,
        assistant=stored.operand.assistant,
        model=meta["model"],
        scripted=meta.get("scripted") == "yes",
        inputs={name: redaction.text(value) or "" for name, value in inputs.items()},
        settings={name: redaction.text(meta[name]) or "" for name in SETTINGS if meta.get(name, "0") != "0"},
        probes=probes_digest(stored.probes.values()),
        health=None if health is None else health.state,
        health_reason=None if health is None else redaction.statement(health.statement),
        run=meta.get("run"),
    )
