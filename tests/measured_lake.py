"""A lake with measured partitions of two small domains, in which single partitions can be replaced or removed."""

import random
from pathlib import Path

import factories

from memflow.pipeline import tables_of
from memflow.records import Probe
from memflow.resources.lake.lake import Lake
from memflow.resources.settings.settings import Settings, load

DATASETS = {"comem_demo": "comem_demo", "memorybench_demo": "memorybench_sample"}
"""The domains, and the data set of their probes. The scores of the second are aggregated in SQL."""
DOMAINS = (*DATASETS,)
ASSISTANTS = ("none", "oracle", "full", "bm25_message", "full@big", "none@big")


def settings_of(home: Path) -> Settings:
    """Return settings whose domains are DOMAINS."""
    return load(over={"home": home}).model_copy(update={"domains": DOMAINS})


def write_probes(lake: Lake, domain: str, seed: int = 0) -> None:
    """Write the probes of a domain; another seed writes others."""
    chance = random.Random(seed)
    metric = "accuracy" if domain == "comem_demo" else "locomo_f1"
    probes = [
        factories.probe(
            domain=domain, probe_id=f"q{question}/{at}", question_id=f"q{question}", episode_id=f"e{question % 3}",
            checkpoint=at, opens=at == 0, metric=metric, dataset=DATASETS[domain], options=["a", "b", "c"],
            category=str(1 + question % 2), gold=str(chance.randint(1, 3)),
        )
        for question in range(6)
        for at in range(3)
    ]  # fmt: skip
    lake.write("question.probes", domain, probes, fingerprint="")


def write_assistant(lake: Lake, domain: str, assistant: str, seed: int) -> None:
    """Write every table of an assistant, for the current probes; another seed writes other values."""
    chance = random.Random(f"{domain} {assistant} {seed}")
    probes: list[Probe] = lake.read("question.probes", domain)
    model = assistant.partition("@")[2] or "small"
    facts = lake.facts("question.probes", domain)
    meta = {
        "probes": "" if facts is None else facts.digest, "model": model, "simulator": "s",
        "scripted": "yes", "k": str(chance.choice([5, 10])),
    }  # fmt: skip
    of = {"domain": domain, "assistant": assistant}
    asked = [
        {**of, "probe_id": each.probe_id, "episode_id": each.episode_id, "checkpoint": each.checkpoint}
        for each in probes
    ]
    verdicts = [
        factories.verdict(
            **each, dataset=probe.dataset, metric=probe.metric, category=probe.category,
            value=None if chance.random() < 0.02 else float(chance.random() < 0.6),
        )
        for each, probe in zip(asked, probes, strict=True)
    ]  # fmt: skip
    replies = [
        factories.reply(**each, model=model, own_s=chance.random(), models_s=chance.random(), model_calls=1)
        for each in asked
    ]
    attributions = [
        factories.attribution(
            **each, evidence=2, stored=2, recalled=chance.randint(0, 2), entries=3, relevant=1
        )
        for each in asked
    ]
    messages = [
        factories.transcript_message(
            **of, episode_id=f"e{number % 3}", message_id=f"m{number}", own_s=chance.random(),
            models_s=0.5, model_calls=1,
        )
        for number in range(4)
    ]  # fmt: skip
    rows = {
        "score.verdicts": verdicts,
        "score.attributions": attributions,
        "answer.replies": replies,
        "memory.transcripts": messages,
    }
    for table, of_table in rows.items():
        lake.write(table, f"{domain}/{assistant}", of_table, fingerprint="", meta=meta)


def write_health(lake: Lake, domain: str, assistant: str, state: str) -> None:
    """Write the health of an assistant: one measure in this state."""
    row = factories.health_measure(
        domain=domain, assistant=assistant, measure="empty_reads", state=state, statement=f"it is {state}"
    )
    lake.write("score.health", f"{domain}/{assistant}", [row], fingerprint="")


def remove_assistant(lake: Lake, domain: str, assistant: str) -> None:
    """Delete the files of an assistant, if there are any."""
    for table in tables_of("domain x assistant"):
        Path(lake.path(table, f"{domain}/{assistant}")).unlink(missing_ok=True)
