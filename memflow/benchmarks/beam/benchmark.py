"""The `Benchmark` implementation of BEAM, which calls the other modules of this package."""

from collections.abc import Mapping, Sequence
from typing import Any

from memflow.benchmarks.api import Benchmark, Question, States
from memflow.benchmarks.beam.answers import graded_score, is_same_event
from memflow.benchmarks.beam.config import parse_config
from memflow.benchmarks.beam.judging import judge_prompts
from memflow.benchmarks.beam.load import chosen_records, count_contents, load_conversations, read_records
from memflow.benchmarks.beam.probes import make_probes
from memflow.benchmarks.beam.question import PACKAGE, build_question
from memflow.benchmarks.beam.scoring import make_scores, probe_slices
from memflow.benchmarks.beam.scripted import HANDLERS
from memflow.benchmarks.beam.turns import make_turns
from memflow.benchmarks.beam.types import CORRECTED, ORDER_METRICS, PUBLISHED, TYPES, type_slice
from memflow.benchmarks.beam.verdicts import make_verdicts
from memflow.benchmarks.datasets import Contents, Dataset
from memflow.benchmarks.defaults import probe_ids
from memflow.benchmarks.domains import Domain
from memflow.chat.prompts import Prompt
from memflow.chat.requests import Chat
from memflow.judges.cases import JudgeCase, load_cases
from memflow.memories.memory import Recall
from memflow.records import GoldLabel, Probe, Record, Turn


class Beam(Benchmark):
    """The implementation of BEAM's pipeline steps. A conversation is an episode, a batch a session."""

    name = "beam"
    probe_slices = staticmethod(probe_slices)
    records = staticmethod(read_records)
    verdicts = staticmethod(make_verdicts)
    scores = staticmethod(make_scores)
    handlers = staticmethod(HANDLERS.copy)
    judged_metrics = frozenset({CORRECTED, PUBLISHED, *ORDER_METRICS})

    def contents(self, dataset: Dataset, records: Sequence[Record]) -> Contents:
        return count_contents(records)

    def size(self, domain: Domain, records: Sequence[Record]) -> int:
        return len(chosen_records(domain, records))

    def session_of(self, turn: Turn) -> str:
        return turn.message_id.rpartition("/")[0]

    async def turns(
        self, domain: Domain, records: Sequence[Record], states: States, simulator: Chat
    ) -> list[Turn]:
        config = parse_config(domain)
        return [
            turn
            for _, episode, conversation in load_conversations(domain, records)
            for turn in make_turns(domain.name, episode, conversation, config)
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
            for dataset, episode, conversation in load_conversations(domain, records)
            for probe in make_probes(domain.name, dataset, episode, conversation, config)
        ]

    def question(self, domain: Domain, probe: Probe, recall: Recall, gold_context: str | None) -> Question:
        return build_question(probe, recall, gold_context)

    def parse(self, probe: Probe, value: Any) -> str:
        return str(value)

    def slices(self, domain: Domain, probes: Sequence[Probe]) -> Mapping[str, frozenset[str]]:
        by_type = {"all", *map(type_slice, TYPES)}
        return {name: ids for name, ids in probe_ids(probe_slices(probes)).items() if name not in by_type}

    def judge_prompts(self, domain: Domain, table: str) -> list[Prompt]:
        return judge_prompts(parse_config(domain).contracts) if table == "score.verdicts" else []

    def judge_cases(self) -> Sequence[JudgeCase]:
        return load_cases(PACKAGE, parse=_parse_case)


def _parse_case(reply: Any) -> dict[str, Any]:
    """Return the score of a judge's reply, or whether it is the same event if the reply has none."""
    try:
        return {"score": graded_score(str(reply))}
    except ValueError:
        return {"label": "yes" if is_same_event(str(reply)) else "no"}
