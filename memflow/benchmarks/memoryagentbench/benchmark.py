"""The `Benchmark` implementation of MemoryAgentBench, which calls the other modules of this package."""

from collections.abc import Sequence
from typing import Any

from memflow.benchmarks.api import Benchmark, Question, States
from memflow.benchmarks.datasets import Contents, Dataset
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.memoryagentbench.answers import parsed_line
from memflow.benchmarks.memoryagentbench.config import parse_config
from memflow.benchmarks.memoryagentbench.judging import SUMMARY, judge_prompts
from memflow.benchmarks.memoryagentbench.load import count_contents, load_rows, read_records, titles_of
from memflow.benchmarks.memoryagentbench.probes import make_probes
from memflow.benchmarks.memoryagentbench.question import PACKAGE, build_question
from memflow.benchmarks.memoryagentbench.scoring import make_scores, probe_slices
from memflow.benchmarks.memoryagentbench.scripted import HANDLERS
from memflow.benchmarks.memoryagentbench.sources import ACCURACY, family
from memflow.benchmarks.memoryagentbench.turns import make_turns
from memflow.benchmarks.memoryagentbench.verdicts import make_verdicts
from memflow.chat.prompts import Prompt
from memflow.chat.requests import Chat
from memflow.judges.cases import JudgeCase, load_cases
from memflow.memories.memory import Recall
from memflow.records import GoldLabel, Probe, Record, Turn


class MemoryAgentBench(Benchmark):
    """The implementation of MemoryAgentBench's pipeline steps. A text is an episode."""

    name = "memoryagentbench"
    probe_slices = staticmethod(probe_slices)
    records = staticmethod(read_records)
    verdicts = staticmethod(make_verdicts)
    scores = staticmethod(make_scores)
    handlers = staticmethod(HANDLERS.copy)
    judged_metrics = frozenset({ACCURACY, *SUMMARY})

    def contents(self, dataset: Dataset, records: Sequence[Record]) -> Contents:
        return count_contents(records)

    def size(self, domain: Domain, records: Sequence[Record]) -> int:
        return len(load_rows(domain.limited(0), records))

    async def turns(
        self, domain: Domain, records: Sequence[Record], states: States, simulator: Chat
    ) -> list[Turn]:
        config = parse_config(domain)
        rows = load_rows(domain, records)
        return [turn for _, row in rows for turn in make_turns(domain.name, row, config)]

    async def probes(
        self,
        domain: Domain,
        records: Sequence[Record],
        states: States,
        turns: Sequence[Turn],
        simulator: Chat,
        gold_labels: Sequence[GoldLabel] = (),
    ) -> list[Probe]:
        config = parse_config(domain)
        titles = titles_of(records)
        return [
            probe
            for dataset, row in load_rows(domain, records)
            for probe in make_probes(domain.name, dataset, row, config, titles)
        ]

    def question(self, domain: Domain, probe: Probe, recall: Recall, gold_context: str | None) -> Question:
        return build_question(probe, recall, gold_context)

    def parse(self, probe: Probe, value: Any) -> str:
        return str(value) if self.is_judged(probe) else parsed_line(str(value))

    def judge_prompts(self, domain: Domain, table: str) -> list[Prompt]:
        return judge_prompts() if table == "score.verdicts" else []

    def is_judged(self, probe: Probe) -> bool:
        asked = family(probe.category or "")
        return asked is not None and asked.is_judged

    def judge_cases(self) -> Sequence[JudgeCase]:
        return load_cases(PACKAGE)
