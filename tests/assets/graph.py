"""A small graph with the structure of memflow's graph. Its assets write words and call no models.

models.json in the graph's folder names the model of each role. Every asset writes a digest of its models and inputs
to a file. The part of a model's name after `#` changes the fingerprint and not the output.
"""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import dagster as dg

from memflow.assets import automation, models

PLAYED = ("amemgym_base", "amemgym_demo")
"""Domains in which the simulator answers back while an episode is played."""
GENERATED = ("amemgym_demo",)
"""Domains of which it also writes the states; those of the others are published."""
JUDGED = ("memorybench_demo",)
"""Domains with a judge, and with feedback by the simulator."""

domain = dg.StaticPartitionsDefinition([*PLAYED, *JUDGED])
assistant = dg.StaticPartitionsDefinition(["bm25", "rag@qwen"])
domain_assistant = dg.MultiPartitionsDefinition({"domain": domain, "assistant": assistant})

ASSISTANTS = dg.AssetSelection.assets(["model", "assistants"])

NEVER_MADE = "bm25|memorybench_demo"

MODELS = {"simulator": "s1", "judge": "j1", "bm25": "b1", "rag@qwen": "r1"}

Levels = list[set[str]]
Used = Callable[[str, str], list[str]]


def definitions(
    folder: Path, during: Callable[[dg.AssetExecutionContext], None] | None = None
) -> dg.Definitions:
    """Return the graph over `folder`. `during` is called in each asset after it has read its models."""

    known: dict[str, list[str]] = {}
    """The deps of each asset."""

    def model(part: str) -> str:
        return str(json.loads((folder / "models.json").read_text())[part])

    def says(part: str) -> str:
        return model(part).partition("#")[0]

    def simulator(stage: str, domains: tuple[str, ...]) -> dg.SourceAsset:
        return models.observed(
            ("simulator", stage), lambda key: model("simulator") if key in domains else None, domain, ""
        )

    def made(
        key: str,
        partitions: dg.PartitionsDefinition | None,
        deps: list[str],
        condition: Callable[[Levels], dg.AutomationCondition],
        used: Used = lambda domain, assistant: [],
        *,
        group: str | None = None,
    ) -> dg.AssetsDefinition:
        known[key] = deps

        @dg.asset(
            key=key.split("/"),
            deps=[dep.split("/") for dep in deps],
            partitions_def=partitions,
            group_name=group or key.partition("/")[0],
            automation_condition=condition(automation.upstream_levels(key, known)),
        )
        def body(context: dg.AssetExecutionContext) -> dg.MaterializeResult:
            partition = context.partition_key if context.has_partition_key else ""
            *_, of_assistant, of_domain = ("", *partition.split("|"))
            words = [says(part) for part in used(of_domain, of_assistant)]
            for dep in deps:
                for path in sorted((folder / dep).glob("*")):
                    if path.name in ("whole", of_domain, partition) or not partition:
                        words.append(path.read_text())
            if during:
                during(context)
            written = hashlib.md5(" ".join(words).encode()).hexdigest()
            (folder / key).mkdir(parents=True, exist_ok=True)
            (folder / key / (partition or "whole")).write_text(written)
            return dg.MaterializeResult(data_version=dg.DataVersion(written))

        return body

    def generating(of_domain: str, _: str) -> list[str]:
        return ["simulator"] if of_domain in GENERATED else []

    def reacting(of_domain: str, _: str) -> list[str]:
        return ["simulator"] if of_domain in JUDGED else []

    def playing(of_domain: str, of_assistant: str) -> list[str]:
        return [of_assistant, *(["simulator"] if of_domain in PLAYED else [])]

    def answering(_: str, of_assistant: str) -> list[str]:
        return [of_assistant]

    def judging(of_domain: str, _: str) -> list[str]:
        return ["judge"] if of_domain in JUDGED else []

    def at_once(_: Levels) -> dg.AutomationCondition:
        return automation.when_models_change

    settled, gathered = automation.when_inputs_settle, automation.when_scores_settle
    return dg.Definitions(
        assets=[
            simulator("states", GENERATED),
            simulator("feedback", JUDGED),
            simulator("follow_ups", PLAYED),
            models.observed(models.ASSISTANTS, model, assistant, ""),
            models.observed(
                ("model", "judge"), lambda key: model("judge") if key in JUDGED else None, domain, ""
            ),
            made("state/entities", domain, ["simulator/states"], at_once, generating),
            made("utterance/turns", domain, ["state/entities", "simulator/states"], at_once, generating),
            made("question/probes", domain, ["state/entities", "simulator/states"], at_once, generating),
            made("feedback/sessions", domain, ["utterance/turns", "simulator/feedback"], at_once, reacting),
            made(
                "memory/transcripts",
                domain_assistant,
                ["utterance/turns", "feedback/sessions", "model/assistants", "simulator/follow_ups"],
                settled,
                playing,
            ),
            made("memory/indexes", domain_assistant, ["memory/transcripts"], settled),
            made(
                "answer/replies",
                domain_assistant,
                ["memory/indexes", "question/probes", "model/assistants"],
                settled,
                answering,
            ),
            made(
                "score/verdicts",
                domain_assistant,
                ["answer/replies", "question/probes", "model/judge"],
                settled,
                judging,
            ),
            made("score/leaderboard", None, ["score/verdicts"], gathered, group="board"),
        ],
        jobs=[
            dg.define_asset_job("observe_domains", selection=automation.MODELS - ASSISTANTS),
            dg.define_asset_job("observe_assistants", selection=ASSISTANTS),
        ],
        executor=dg.in_process_executor,
    )
