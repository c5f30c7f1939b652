"""CoMem as the graph calls it: the steps of the other modules of this package."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from memflow.benchmarks.api import Annotators, AssistantResults, Benchmark, Question, States
from memflow.benchmarks.comem.annotation.imported import imported
from memflow.benchmarks.comem.annotation.labels import keys_by, left_out
from memflow.benchmarks.comem.annotation.rounds import annotated, annotation_prompts
from memflow.benchmarks.comem.config import parameters_of
from memflow.benchmarks.comem.load import contexts_of, read
from memflow.benchmarks.comem.probes import probes_of
from memflow.benchmarks.comem.question import put
from memflow.benchmarks.comem.scoring import SHOWN, make_scores, slices
from memflow.benchmarks.comem.scripted import HANDLERS
from memflow.benchmarks.comem.speakers import speaker_scores, speaker_verdicts
from memflow.benchmarks.comem.turns import turns_of
from memflow.benchmarks.datasets import Dataset
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.episodes import given_episodes
from memflow.benchmarks.multiple_choice import Choice, number_of
from memflow.benchmarks.verdicts import choice_verdicts
from memflow.chat.prompts import Prompt
from memflow.chat.requests import Chat
from memflow.chat.scripted import Handler
from memflow.errors import BadSettings
from memflow.memories.memory import Recall
from memflow.metrics.backends import MetricBackends
from memflow.records import FeedbackRound, GoldLabel, Probe, Record, Reply, Score, Turn, Verdict
from memflow.run.play import Episode
from memflow.scoring.estimate import valid_probes


class CoMem(Benchmark):
    """CoMem, by the modules of this folder. It has no structured states."""

    name = "comem"

    def records(self, dataset: Dataset, files: Mapping[str, Path]) -> list[Record]:
        return read(dataset, files)

    async def turns(
        self, domain: Domain, records: Sequence[Record], states: States, simulator: Chat
    ) -> list[Turn]:
        parameters = parameters_of(domain)
        return [
            turn
            for context in contexts_of(domain, records)
            for turn in turns_of(domain.name, context, parameters)
        ]

    async def keys(
        self,
        domain: Domain,
        records: Sequence[Record],
        turns: Sequence[Turn],
        annotators: Annotators | None,
    ) -> list[GoldLabel]:
        parameters, contexts = parameters_of(domain), contexts_of(domain, records)
        if parameters.keys == "imported":
            made = imported(domain, records, parameters)
        elif parameters.keys != "annotated":
            made = keys_by(parameters.keys, domain, contexts, parameters)
        elif annotators is None:
            raise BadSettings(f"domain {domain.name}: its keys are annotated, and nobody is there to do it")
        else:
            made = await annotated(domain, contexts, parameters, annotators)
        return [*made, *left_out(domain, contexts, parameters)]

    async def probes(
        self,
        domain: Domain,
        records: Sequence[Record],
        states: States,
        turns: Sequence[Turn],
        simulator: Chat,
        keys: Sequence[GoldLabel] = (),
    ) -> list[Probe]:
        return list(probes_of(domain.name, contexts_of(domain, records), keys, parameters_of(domain)))

    def episodes(
        self,
        domain: Domain,
        states: States,
        turns: Sequence[Turn],
        feedback: Sequence[FeedbackRound],
        simulator: Chat,
        probes: Sequence[Probe] = (),
    ) -> list[Episode]:
        return given_episodes(turns)

    def question(self, domain: Domain, probe: Probe, recall: Recall, told: str | None) -> Question:
        return put(probe, recall, told)

    def parse(self, probe: Probe, value: Choice) -> str:
        return number_of(value)

    async def verdicts(
        self, domain: Domain, probes: Sequence[Probe], replies: Sequence[Reply], instruments: MetricBackends
    ) -> list[Verdict]:
        judged = choice_verdicts(domain, probes, replies)
        return [*judged, *speaker_verdicts(probes, replies, judged)]

    def scores(self, domain: Domain, measured: AssistantResults) -> list[Score]:
        by_speaker = speaker_scores(domain, measured, slices(valid_probes(measured)))
        return [*make_scores(domain, measured), *by_speaker]

    def headline(self, metric: str) -> bool:
        """Of what changes over checkpoints, what is forgotten in the end and what is right throughout."""
        return metric in SHOWN

    def annotation_prompts(self, domain: Domain) -> list[Prompt]:
        return annotation_prompts() if parameters_of(domain).keys == "annotated" else []

    def handlers(self) -> dict[str, Handler]:
        return dict(HANDLERS)
