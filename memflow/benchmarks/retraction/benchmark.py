"""The `Benchmark` implementation of Retraction, which calls the other modules of this package."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from memflow.benchmarks.api import AssistantResults, Benchmark, Question, States
from memflow.benchmarks.datasets import Contents, Dataset
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.multiple_choice import Choice, number_of
from memflow.benchmarks.retraction.config import parse_config
from memflow.benchmarks.retraction.episodes import make_replier
from memflow.benchmarks.retraction.load import read_records
from memflow.benchmarks.retraction.plans import make_plans
from memflow.benchmarks.retraction.probes import make_probes
from memflow.benchmarks.retraction.question import build_question
from memflow.benchmarks.retraction.scoring import make_scores, probe_slices
from memflow.benchmarks.retraction.scripted import HANDLERS
from memflow.benchmarks.retraction.states import make_states
from memflow.benchmarks.retraction.turns import make_turns
from memflow.benchmarks.retraction.verdicts import make_verdicts
from memflow.benchmarks.retraction.wording import reword_prompt, reword_turns
from memflow.chat.prompts import Prompt
from memflow.chat.requests import Chat
from memflow.chat.scripted import Handler
from memflow.memories.memory import Recall
from memflow.metrics.backends import EMBEDDER, MetricBackends
from memflow.records import GoldLabel, Probe, Record, Reply, Score, Turn, Verdict
from memflow.run.play import Replier


class Retraction(Benchmark):
    """The implementation of Retraction's pipeline steps. A user is an episode."""

    name = "retraction"
    probe_slices = staticmethod(probe_slices)

    def records(self, dataset: Dataset, files: Mapping[str, Path]) -> list[Record]:
        return read_records(dataset, files)

    def contents(self, dataset: Dataset, records: Sequence[Record]) -> Contents:
        return Contents({"languages": len(records)})

    def size(self, domain: Domain, records: Sequence[Record]) -> int:
        config = parse_config(domain)
        return config.users * len(config.languages)

    async def states(self, domain: Domain, records: Sequence[Record], simulator: Chat) -> States:
        return make_states(domain, records)

    async def turns(
        self, domain: Domain, records: Sequence[Record], states: States, simulator: Chat
    ) -> list[Turn]:
        turns = make_turns(domain, records)
        if parse_config(domain).wording == "templates":
            return turns
        return await reword_turns(turns, make_plans(domain, records), simulator)

    async def probes(
        self,
        domain: Domain,
        records: Sequence[Record],
        states: States,
        turns: Sequence[Turn],
        simulator: Chat,
        gold_labels: Sequence[GoldLabel] = (),
    ) -> list[Probe]:
        return make_probes(domain, records, turns)

    def simulator_stages(self, domain: Domain) -> frozenset[str]:
        return frozenset({"utterance"} if parse_config(domain).wording == "simulator" else ())

    def simulator_prompts(self) -> list[Prompt]:
        return [reword_prompt(language) for language in ("en", "zh")]

    def metric_backends(self, domain: Domain) -> frozenset[str]:
        return frozenset({EMBEDDER})

    def has_previous_state(self, domain: Domain) -> bool:
        return True

    def replier(self, domain: Domain, chat: Chat) -> Replier | None:
        return make_replier(domain, chat)

    def question(self, domain: Domain, probe: Probe, recall: Recall, gold_context: str | None) -> Question:
        return build_question(probe, recall, gold_context)

    def parse(self, probe: Probe, value: Choice | str) -> str:
        return value.strip() if isinstance(value, str) else number_of(value)

    async def verdicts(
        self, domain: Domain, probes: Sequence[Probe], replies: Sequence[Reply], backends: MetricBackends
    ) -> list[Verdict]:
        return await make_verdicts(domain, probes, replies, backends.embedder)

    def scores(self, domain: Domain, results: AssistantResults) -> list[Score]:
        return make_scores(domain, results)

    def handlers(self) -> dict[str, Handler]:
        return dict(HANDLERS)
