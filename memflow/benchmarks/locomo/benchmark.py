"""The `Benchmark` implementation of LoCoMo, which calls the other modules of this package."""

from collections.abc import Sequence

from memflow.benchmarks.api import Benchmark, Question, States
from memflow.benchmarks.datasets import Contents, Dataset
from memflow.benchmarks.defaults import probe_ids
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.locomo.config import parse_config
from memflow.benchmarks.locomo.judging import CONTRACTS
from memflow.benchmarks.locomo.load import count_contents, load_conversations, read_records
from memflow.benchmarks.locomo.metrics import J_RECORDED
from memflow.benchmarks.locomo.probes import make_probes
from memflow.benchmarks.locomo.question import PACKAGE, build_question, prompt
from memflow.benchmarks.locomo.scoring import make_scores, probe_slices
from memflow.benchmarks.locomo.scripted import HANDLERS
from memflow.benchmarks.locomo.turns import make_turns
from memflow.benchmarks.locomo.verdicts import make_verdicts
from memflow.chat.prompts import Prompt
from memflow.chat.requests import Chat
from memflow.judges.cases import JudgeCase, load_cases
from memflow.memories.memory import Recall
from memflow.records import GoldLabel, Probe, Record, Turn


class LoCoMo(Benchmark):
    """The implementation of LoCoMo's pipeline steps. Its conversations are published; no step calls a simulator."""

    name = "locomo"
    probe_slices = staticmethod(probe_slices)
    records = staticmethod(read_records)
    verdicts = staticmethod(make_verdicts)
    scores = staticmethod(make_scores)
    handlers = staticmethod(HANDLERS.copy)
    judged_metrics = frozenset({*CONTRACTS, J_RECORDED})

    def contents(self, dataset: Dataset, records: Sequence[Record]) -> Contents:
        return count_contents(records)

    async def turns(
        self, domain: Domain, records: Sequence[Record], states: States, simulator: Chat
    ) -> list[Turn]:
        config = parse_config(domain)
        return [
            turn
            for _, conversation in load_conversations(domain, records)
            for turn in make_turns(domain.name, conversation, config)
        ]

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
        return [
            probe
            for dataset, conversation in load_conversations(domain, records)
            for probe in make_probes(domain.name, dataset, conversation, config)
        ]

    def question(self, domain: Domain, probe: Probe, recall: Recall, gold_context: str | None) -> Question:
        return build_question(probe, recall, gold_context, parse_config(domain))

    def parse(self, probe: Probe, value: str) -> str:
        return value

    def slices(self, domain: Domain, probes: Sequence[Probe]) -> dict[str, frozenset[str]]:
        return {name: ids for name, ids in probe_ids(probe_slices(probes)).items() if name != "all"}

    def size(self, domain: Domain, records: Sequence[Record]) -> int:
        return len(records)

    def judge_prompts(self, domain: Domain, table: str) -> list[Prompt]:
        if table != "score.verdicts":
            return []
        return [prompt(contract) for contract in parse_config(domain).contracts]

    def judge_cases(self) -> Sequence[JudgeCase]:
        return load_cases(PACKAGE)
