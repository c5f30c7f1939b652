"""The `Benchmark` implementation of own dialogues, which calls the other modules of this package."""

from collections.abc import Sequence
from typing import Any

from memflow.benchmarks.api import Benchmark, Question, States
from memflow.benchmarks.dialogues.config import parse_config
from memflow.benchmarks.dialogues.load import count_contents, load_dialogues, read_records
from memflow.benchmarks.dialogues.probes import make_probes
from memflow.benchmarks.dialogues.question import PACKAGE, build_question, prompt
from memflow.benchmarks.dialogues.scoring import make_scores, probe_slices
from memflow.benchmarks.dialogues.scripted import HANDLERS
from memflow.benchmarks.dialogues.turns import make_turns
from memflow.benchmarks.dialogues.verdicts import JUDGED_METRICS, make_verdicts
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.multiple_choice import Choice, number_of
from memflow.chat.prompts import Prompt
from memflow.chat.requests import Chat
from memflow.chat.scripted import Handler
from memflow.judges.cases import JudgeCase, load_cases
from memflow.memories.memory import Recall
from memflow.records import GoldLabel, Probe, Record, Turn


class Dialogues(Benchmark):
    """The implementation of the pipeline steps for own dialogues. A dialogue is an episode."""

    name = "dialogues"
    records = staticmethod(read_records)
    contents = staticmethod(count_contents)
    verdicts = staticmethod(make_verdicts)
    scores = staticmethod(make_scores)
    probe_slices = staticmethod(probe_slices)
    judged_metrics = JUDGED_METRICS

    def size(self, domain: Domain, records: Sequence[Record]) -> int:
        return len(load_dialogues(domain.limited(0), records))

    async def turns(
        self, domain: Domain, records: Sequence[Record], states: States, simulator: Chat
    ) -> list[Turn]:
        config = parse_config(domain)
        return [
            turn
            for dialogue in load_dialogues(domain, records)
            for turn in make_turns(domain.name, dialogue, config)
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
            for dialogue in load_dialogues(domain, records)
            for probe in make_probes(domain.name, dialogue, config)
        ]

    def question(self, domain: Domain, probe: Probe, recall: Recall, gold_context: str | None) -> Question:
        return build_question(probe, recall, gold_context)

    def parse(self, probe: Probe, value: Any) -> str:
        return number_of(value) if isinstance(value, Choice) else str(value).strip()

    def judge_prompts(self, domain: Domain, table: str) -> list[Prompt]:
        judged = table == "score.verdicts" and parse_config(domain).judged
        return [prompt("judge"), prompt("judge_rubric")] if judged else []

    def is_judged(self, probe: Probe) -> bool:
        return probe.metric in JUDGED_METRICS

    def judge_cases(self) -> Sequence[JudgeCase]:
        return load_cases(PACKAGE)

    def handlers(self) -> dict[str, Handler]:
        return dict(HANDLERS)
