"""The `Benchmark` implementation of LongMemEval, which calls the other modules of this package."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from memflow.benchmarks.api import AssistantResults, Benchmark, Question, States
from memflow.benchmarks.datasets import Contents, Dataset
from memflow.benchmarks.defaults import probe_ids
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.longmemeval.answers import is_unclear, read_label
from memflow.benchmarks.longmemeval.config import parse_config
from memflow.benchmarks.longmemeval.instances import asked_records, read_instances
from memflow.benchmarks.longmemeval.judging import judge_prompts, judge_verdicts
from memflow.benchmarks.longmemeval.load import count_contents, read_records
from memflow.benchmarks.longmemeval.probes import probe_row
from memflow.benchmarks.longmemeval.question import PACKAGE, build_question
from memflow.benchmarks.longmemeval.retrieval_verdicts import retrieval_verdicts
from memflow.benchmarks.longmemeval.scoring import make_scores, slices_of
from memflow.benchmarks.longmemeval.scripted import HANDLERS
from memflow.benchmarks.longmemeval.turns import turn_rows
from memflow.benchmarks.longmemeval.types import ACCURACY, TASK_AVERAGED, UNCLEAR
from memflow.chat.prompts import Prompt
from memflow.chat.requests import Chat
from memflow.chat.scripted import Handler
from memflow.judges.cases import JudgeCase, load_cases
from memflow.memories.memory import Recall
from memflow.metrics.backends import MetricBackends
from memflow.records import GoldLabel, Probe, Record, Reply, Score, Turn, Verdict


class LongMemEval(Benchmark):
    """The implementation of LongMemEval's pipeline steps."""

    name = "longmemeval"
    probe_slices = staticmethod(slices_of)
    judged_metrics = frozenset({ACCURACY, UNCLEAR, TASK_AVERAGED})

    def records(self, dataset: Dataset, files: Mapping[str, Path]) -> list[Record]:
        return read_records(dataset, files)

    def contents(self, dataset: Dataset, records: Sequence[Record]) -> Contents:
        return count_contents(records)

    def size(self, domain: Domain, records: Sequence[Record]) -> int:
        return len(asked_records(domain.limited(0), records))

    async def turns(
        self, domain: Domain, records: Sequence[Record], states: States, simulator: Chat
    ) -> list[Turn]:
        return [row for each in read_instances(domain, records) for row in turn_rows(domain.name, each)]

    async def probes(
        self,
        domain: Domain,
        records: Sequence[Record],
        states: States,
        turns: Sequence[Turn],
        simulator: Chat,
        gold_labels: Sequence[GoldLabel] = (),
    ) -> list[Probe]:
        dataset = domain.datasets[0]
        return [probe_row(domain.name, dataset, each) for each in read_instances(domain, records)]

    def question(self, domain: Domain, probe: Probe, recall: Recall, gold_context: str | None) -> Question:
        return build_question(parse_config(domain), probe, recall, gold_context)

    def parse(self, probe: Probe, value: str) -> str:
        return value

    async def verdicts(
        self, domain: Domain, probes: Sequence[Probe], replies: Sequence[Reply], backends: MetricBackends
    ) -> list[Verdict]:
        judged = await judge_verdicts(domain, probes, replies, backends)
        return [*judged, *retrieval_verdicts(domain, probes, replies)]

    def scores(self, domain: Domain, results: AssistantResults) -> list[Score]:
        return make_scores(domain, results)

    def slices(self, domain: Domain, probes: Sequence[Probe]) -> dict[str, frozenset[str]]:
        slices = probe_ids(slices_of(probes)).items()
        return {name: ids for name, ids in slices if name != "all" and not name.startswith("category ")}

    def judge_prompts(self, domain: Domain, table: str) -> list[Prompt]:
        return judge_prompts() if table == "score.verdicts" else []

    def judge_cases(self) -> Sequence[JudgeCase]:
        return load_cases(PACKAGE, parse=_parse_label)

    def handlers(self) -> dict[str, Handler]:
        return dict(HANDLERS)


def _parse_label(reply: Any) -> dict[str, str]:
    """Return the published label as a verdict; `unclear` for a reply without `yes` that is not `no`."""
    return {"label": "yes" if read_label(reply) else "unclear" if is_unclear(reply) else "no"}
