"""Judgments of imported answers: the judges of the settings judge answers that other code recorded.

The verdicts of the judges are those of a run of memflow. Recorded labels of judged metrics stay beside them, as the
variant `recorded`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from memflow.benchmarks import registry
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.views import ImportedResults
from memflow.chat.ledger import RequestContext
from memflow.chat.replacements import replacements
from memflow.chat.requests import Chat
from memflow.errors import BadInput
from memflow.metrics.backends import EMBEDDER
from memflow.records import Probe, Reply, Verdict
from memflow.resources.ledger.sql_ledger import SqlLedger
from memflow.resources.metric_backends.backends import build_metric_backends
from memflow.resources.models.models import Models
from memflow.resources.settings.prompt_folders import activate_prompts
from memflow.resources.settings.settings import Settings
from memflow.scoring.judges import STANDARD

RECORDED = "recorded"
"""The variant of a label that was published with an imported answer."""


def judge_imported(
    settings: Settings, domain: Domain, results: ImportedResults, probes: Sequence[Probe]
) -> ImportedResults:
    """Return the results with the verdicts of the domain's judges. All requests are recorded in the ledger.

    Raises BadInput if no metric of the domain is decided by a judge.
    """
    benchmark = registry.benchmark(domain.benchmark)
    activate_prompts(settings)
    prompts = {prompt.name for prompt in benchmark.judge_prompts(domain, "score.verdicts")}
    if not prompts:
        raise BadInput(
            f"no metric of {domain.name} is decided by a judge. Import the results without `--judge`."
        )
    names = settings.judges_of(domain.name)
    judged = judge_replies(settings, domain, results.assistant, probes, results.replies, "import")
    recorded = [row for row in results.verdicts if row.metric in benchmark.judged_metrics]
    return replace(
        results,
        verdicts=[*judged, *(replace(row, variant=_recorded_variant(row.variant)) for row in recorded)],
        settings={**results.settings, "judges": list(names)},
        scripted=any(settings.model(name).kind == "scripted" for name in names),
        replaced_prompts=sorted(
            f"{name}@{file.digest[:8]}" for name, file in replacements().items() if name in prompts
        ),
    )


def judge_replies(
    settings: Settings,
    domain: Domain,
    assistant: str,
    probes: Sequence[Probe],
    replies: Sequence[Reply],
    run: str,
    recorded: Mapping[str, Chat] | None = None,
) -> list[Verdict]:
    """Return the verdicts on replies by the judges of the settings, or by the `recorded` ones.

    The embedder is that of the settings. `run` names the requests in the ledger.
    """
    benchmark = registry.benchmark(domain.benchmark)
    models = Models(settings, SqlLedger(settings.ledger_url))

    async def judge(chats: Any) -> list[Verdict]:
        chats.decoding = domain.decoding
        judges = await chats.judges(domain.name) if recorded is None else recorded
        used = benchmark.metric_backends(domain)
        backends = build_metric_backends(settings, used, judges)
        if EMBEDDER in used:
            backends = replace(backends, embedder=await chats.embedder())
        return await benchmark.verdicts(domain, probes, replies, backends)

    account = RequestContext(run=run, stage="score", domain=domain.name, assistant=assistant)
    try:
        return models.run(account, judge)
    finally:
        models.close()


def _recorded_variant(variant: str) -> str:
    return RECORDED if variant == STANDARD else f"{RECORDED}_{variant}"
