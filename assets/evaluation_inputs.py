"""What an evaluation depends on, by role and in words: models, memory, parameters, prompts, data and code.

The verdicts of an assistant store these inputs, so that resources/publishing/drift.py can name the input that changed
between two publications. They are no part of the input fingerprints, which decide what is stale (fingerprints.py).
"""

from collections.abc import Iterable
from typing import Any

from memflow.assets.fingerprints import Fingerprints
from memflow.benchmarks import registry
from memflow.benchmarks.domains import Domain
from memflow.fingerprint import digest
from memflow.pipeline import steps_of
from memflow.resources.settings.chat_models import Model
from memflow.resources.settings.settings import Settings
from memflow.scoring.judges import JUDGES
from memflow.scoring.scripted import SCRIPTED_JUDGE

SHOWN = 8
"""Digits of a content hash that are shown."""


def judges_meta(settings: Settings, domain: Domain, rows: Iterable[Any]) -> dict[str, str]:
    """Return metadata that names the judges of verdicts or claims, and states whether one is scripted.

    It is empty without judged rows: a configured judge that no row needed has judged nothing.
    """
    if not any(row.completion for row in rows):
        return {}
    names = settings.judges_of(domain.name)
    scripted = any(settings.model(name).kind == "scripted" for name in names)
    return {JUDGES: "\n".join(names), SCRIPTED_JUDGE: "yes" if scripted else "no"}


def evaluation_inputs(fingerprints: Fingerprints, domain: Domain, assistant: str) -> dict[str, str]:
    """Return each input of an assistant's verdicts by kind, such as `judge` or `data`: name or short content hash."""
    settings, benchmark = fingerprints.settings, registry.benchmark(domain.benchmark)
    roles, chosen = settings.roles, settings.memory_of(assistant)
    stages = benchmark.simulator_stages(domain)
    answering = settings.model_of(assistant)
    names = {
        "simulator": [roles.simulator] if stages else [],
        "annotators": [roles.annotator, roles.verifier] if fingerprints.annotators(domain) else [],
        "backbone": [roles.backbone] if "feedback" in stages else [],
        "answering model": [answering],
        "judge": settings.judges_of(domain.name) if fingerprints.judge(domain) is not None else [],
    }
    bounds = settings.token_limits.fingerprint(
        "simulator", "assistant", "memory", "backbone", "annotator", "judge"
    )
    parameters = digest(domain.parameters, domain.seed, domain.limit, domain.decoding, bounds)
    replaced = fingerprints.behind(domain, assistant).get("replaced_prompts", "")
    data = [fingerprints.content("raw.records", name) for name in domain.datasets]
    code = [
        fingerprints.code_of(step, domain, assistant if "assistant" in step.scope else "")
        for step in (*steps_of("domain"), *steps_of("domain x assistant"))
    ]
    models = {
        role: ", ".join(_model(settings.model(name)) for name in models_of_role)
        for role, models_of_role in names.items()
        if models_of_role
    }
    if chosen.system.needs_embedder:
        models["embedder"] = settings.embedder.name
    optional = {"replaced prompts": replaced} if replaced else {}
    return {
        **models,
        "memory": f"{chosen.name} ({chosen.fingerprint()[:SHOWN]})",
        "parameters": parameters[:SHOWN],
        **optional,
        "data": digest(data)[:SHOWN],
        "code": digest(code)[:SHOWN],
    }


def _model(model: Model) -> str:
    return f"{model.model} ({model.fingerprint()[:SHOWN]})"
