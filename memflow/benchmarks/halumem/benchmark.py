"""The `Benchmark` implementation of HaluMem, which calls the other modules of this package."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from memflow.benchmarks.api import AssistantResults, Benchmark, Question, States
from memflow.benchmarks.datasets import Contents, Dataset
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.halumem.answers import Accuracy, Integrity
from memflow.benchmarks.halumem.attribution import recalled_texts, stage_verdicts
from memflow.benchmarks.halumem.config import parse_config
from memflow.benchmarks.halumem.judging import judge_operations, judge_prompts
from memflow.benchmarks.halumem.load import count_contents, load_users, read_records
from memflow.benchmarks.halumem.metrics import METRICS
from memflow.benchmarks.halumem.probes import make_probes
from memflow.benchmarks.halumem.question import PACKAGE, build_question
from memflow.benchmarks.halumem.scoring import make_scores, slices_of
from memflow.benchmarks.halumem.scripted import HANDLERS
from memflow.benchmarks.halumem.turns import make_turns
from memflow.chat.prompts import Prompt
from memflow.chat.requests import Chat
from memflow.chat.scripted import Handler
from memflow.judges.cases import JudgeCase, load_cases
from memflow.memories.memory import Recall
from memflow.metrics.backends import MetricBackends
from memflow.records import GoldLabel, Probe, Record, Reply, Score, Turn, Verdict


class HaluMem(Benchmark):
    """The implementation of HaluMem's pipeline steps. A user is an episode, and each session a checkpoint."""

    name = "halumem"
    probe_slices = staticmethod(slices_of)
    judged_metrics = frozenset(metric.name for metric in METRICS)

    def records(self, dataset: Dataset, files: Mapping[str, Path]) -> list[Record]:
        return read_records(dataset, files)

    def contents(self, dataset: Dataset, records: Sequence[Record]) -> Contents:
        return count_contents(records)

    def size(self, domain: Domain, records: Sequence[Record]) -> int:
        return len(load_users(domain.limited(0), records))

    async def turns(
        self, domain: Domain, records: Sequence[Record], states: States, simulator: Chat
    ) -> list[Turn]:
        config = parse_config(domain)
        users = load_users(domain, records)
        return [turn for _, user in users for turn in make_turns(domain.name, user, config)]

    async def probes(
        self,
        domain: Domain,
        records: Sequence[Record],
        states: States,
        turns: Sequence[Turn],
        simulator: Chat,
        gold_labels: Sequence[GoldLabel] = (),
    ) -> list[Probe]:
        users = load_users(domain, records)
        return [probe for dataset, user in users for probe in make_probes(domain.name, dataset, user)]

    def question(self, domain: Domain, probe: Probe, recall: Recall, gold_context: str | None) -> Question:
        return build_question(probe, recall, gold_context)

    def parse(self, probe: Probe, value: Any) -> str:
        return str(value)

    async def verdicts(
        self, domain: Domain, probes: Sequence[Probe], replies: Sequence[Reply], backends: MetricBackends
    ) -> list[Verdict]:
        judged = await judge_operations(domain, probes, replies, backends)
        return [*judged, *stage_verdicts(probes, judged, recalled_texts(probes, replies))]

    def scores(self, domain: Domain, results: AssistantResults) -> list[Score]:
        return make_scores(domain, results)

    def judge_prompts(self, domain: Domain, table: str) -> list[Prompt]:
        return judge_prompts() if table == "score.verdicts" else []

    def judge_cases(self) -> Sequence[JudgeCase]:
        return load_cases(PACKAGE, parse=_accepted)

    def handlers(self) -> dict[str, Handler]:
        return dict(HANDLERS)


def _accepted(value: Any) -> dict[str, Any]:
    """Return a judge's decision as one of two: half a score, or any result but Correct, is a rejection."""
    if isinstance(value, Accuracy):
        return {"score": 2, "included": True} if value.score == 2 else {"score": 0, "included": False}
    if isinstance(value, Integrity):
        return {"score": 2 if value.score == 2 else 0}
    return {"result": "Correct" if value.result == "Correct" else "Omission"}
