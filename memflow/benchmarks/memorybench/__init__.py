"""MemoryBench (arXiv 2510.17281): does an assistant learn from its users' feedback?

Training cases are answered by a backbone and criticised by simulated users; these dialogues go into memory,
with a corpus on top where the data set has one; then test cases are asked. Off-policy, one checkpoint.

    tasks/                      the task provider: published files as cases, with corpora
    records.py                  files -> raw records
    parameters.py               what a domain may settle
    split.py, selection.py      the published sampling and split; what a domain takes
    utterances.py, probes.py    corpora -> turns; questions and cases -> probes
    questions.py                how a probe is put to a model
    feedback.py, actions.py     training dialogues; what users press
    episodes.py, scores.py      episodes for the player; verdicts and figures
    scripted.py                 handlers of the scripted chat
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from memflow.benchmarks.benchmark import Held, Measured, Question, States
from memflow.benchmarks.memorybench import (
    episodes,
    feedback,
    probes,
    questions,
    records,
    scores,
    scripted,
    selection,
    utterances,
)
from memflow.benchmarks.memorybench.parameters import parameters_of
from memflow.chat.prompts import Prompt, load
from memflow.chat.requests import Chat
from memflow.chat.scripted import Handler
from memflow.datasets import Dataset
from memflow.domains import Domain
from memflow.memories.memory import Recall, Tools
from memflow.metrics.instruments import Instruments
from memflow.play import Episode, Replier
from memflow.records import Claim, FeedbackRound, Figure, Probe, Record, Reply, Turn, Verdict


class MemoryBench:
    """The Benchmark protocol for MemoryBench, off-policy. It has no structured states."""

    name = "memorybench"
    teaches = False

    def records(self, dataset: Dataset, files: Mapping[str, Path]) -> list[Record]:
        return records.read(dataset, files)

    async def states(self, domain: Domain, records: Sequence[Record], simulator: Chat) -> States:
        return States([], [], [])

    async def turns(
        self, domain: Domain, records: Sequence[Record], states: States, simulator: Chat
    ) -> list[Turn]:
        parameters_of(domain)  # A wrong one is told here, before anything is asked or played.
        return utterances.turns(domain.name, selection.select(domain, records))

    async def probes(
        self,
        domain: Domain,
        records: Sequence[Record],
        states: States,
        turns: Sequence[Turn],
        simulator: Chat,
    ) -> list[Probe]:
        return probes.probes(domain.name, selection.select(domain, records))

    async def feedback(
        self,
        domain: Domain,
        turns: Sequence[Turn],
        probes: Sequence[Probe],
        backbone: Chat,
        simulator: Chat,
        tools: Tools,
    ) -> list[FeedbackRound]:
        return await feedback.feedback(domain, turns, probes, backbone, simulator)

    def episodes(
        self,
        domain: Domain,
        states: States,
        turns: Sequence[Turn],
        feedback: Sequence[FeedbackRound],
        simulator: Chat,
    ) -> list[Episode]:
        return episodes.episodes(turns, feedback)

    def replier(self, domain: Domain, chat: Chat) -> Replier | None:
        return None

    def question(self, domain: Domain, probe: Probe, recall: Recall, told: str | None) -> Question:
        """The query is the bare question, or the whole prompt without notes where the domain's `query` says so."""
        prompt, fields = questions.put(probe, recall.notes if told is None else told)
        bare = parameters_of(domain).query == "question"
        return Question(prompt, fields, probe.question if bare else questions.whole(probe))

    def parse(self, probe: Probe, value: Any) -> str:
        return str(value)

    async def verdicts(
        self, domain: Domain, probes: Sequence[Probe], replies: Sequence[Reply], instruments: Instruments
    ) -> list[Verdict]:
        return await scores.verdicts(domain.name, probes, replies, instruments)

    def figures(self, domain: Domain, measured: Measured) -> list[Figure]:
        return scores.figures(measured, domain.seed)

    def lesson(
        self,
        domain: Domain,
        feedback: str,
        probes: Sequence[Probe],
        replies: Sequence[Reply],
        turns: Sequence[Turn],
    ) -> str:
        """Nothing: nobody evolves on it."""
        return ""

    def claims(self, domain: Domain, assistant: str, states: States, turns: Sequence[Turn]) -> list[Claim]:
        """None: there are no states to claim."""
        return []

    async def judged(self, domain: Domain, claims: Sequence[Claim], held: Held, judge: Chat) -> list[Claim]:
        return list(claims)

    def handlers(self) -> dict[str, Handler]:
        return scripted.handlers()

    def simulated(self, domain: Domain) -> frozenset[str]:
        """Users react to training cases; what they say of LoCoMo's, the metric decides, and no model."""
        return frozenset({"feedback"})

    def simulator_prompts(self) -> list[Prompt]:
        """Those a simulator answers, and the fixed words of users whose verdict a metric gives."""
        return [load(questions.PACKAGE, stem) for stem in ("feedback", "right", "satisfaction", "wrong")]

    def judge_prompts(self, domain: Domain, table: str) -> list[Prompt]:
        return []
