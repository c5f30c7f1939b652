"""MemBench (ACL Findings 2025, arXiv 2506.21605): factual and reflective memory, taking part and observing.

A trajectory is what one user says, with an assistant's given replies or without; then a question with four options is
asked of it. Beside accuracy it measures recall, capacity and efficiency.

    kinds.py                         the kinds of questions, their levels and scenarios
    parameters.py                    what a domain may settle
    records.py, memdaily.py          files -> raw records; how each published form is read
    selection.py                     which published trajectories a domain takes
    generation/                      trajectories made from users' lives
    trajectories.py                  trajectories -> turns and probes
    episodes.py                      episodes for the player; how a probe is put
    scores.py, figures.py            replies -> verdicts -> figures
    capacity.py                      asked after every step, and what accuracy over tokens comes to
    scripted.py, reading.py          handlers of the scripted chat
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from memflow.benchmarks.benchmark import Held, Measured, Question, States
from memflow.benchmarks.membench import records as files_of
from memflow.benchmarks.membench.answers import Choice
from memflow.benchmarks.membench.capacity import CAPACITY, asked_along, asked_at_end, capacity_figures, placed
from memflow.benchmarks.membench.episodes import make_episodes, parsed, put
from memflow.benchmarks.membench.figures import make_figures
from memflow.benchmarks.membench.parameters import parameters_of
from memflow.benchmarks.membench.scores import UNPARSED, make_verdicts
from memflow.benchmarks.membench.scripted import HANDLERS
from memflow.benchmarks.membench.selection import taken
from memflow.benchmarks.membench.trajectories import probes_of, turns_of
from memflow.chat.prompts import Prompt
from memflow.chat.requests import Chat
from memflow.chat.scripted import Handler
from memflow.datasets import Dataset
from memflow.domains import Domain
from memflow.memories.memory import Recall, Tools
from memflow.metrics.instruments import Instruments
from memflow.play import Episode, Played, Replier
from memflow.records import Claim, FeedbackRound, Figure, PlayedRound, Probe, Record, Reply, Turn, Verdict

__all__ = ["MemBench"]


class MemBench:
    """The benchmark protocol, kept by the modules of this folder."""

    name = "membench"
    teaches = False
    counts_rows = True

    def records(self, dataset: Dataset, files: Mapping[str, Path]) -> list[Record]:
        return files_of.read(dataset, files)

    async def states(self, domain: Domain, records: Sequence[Record], simulator: Chat) -> States:
        parameters_of(domain)  # A wrong one is told here, before anything is asked or played.
        return States([])

    async def turns(
        self, domain: Domain, records: Sequence[Record], states: States, simulator: Chat
    ) -> list[Turn]:
        said = [turn for each in taken(domain, records) for turn in turns_of(domain.name, each)]
        return placed(said) if parameters_of(domain).protocol == CAPACITY else said

    async def probes(
        self,
        domain: Domain,
        records: Sequence[Record],
        states: States,
        turns: Sequence[Turn],
        simulator: Chat,
    ) -> list[Probe]:
        asked = [probe for each in taken(domain, records) for probe in probes_of(domain.name, each)]
        along = parameters_of(domain).protocol == CAPACITY
        return asked_along(asked, turns) if along else asked_at_end(asked, turns)

    async def feedback(
        self,
        domain: Domain,
        turns: Sequence[Turn],
        probes: Sequence[Probe],
        backbone: Chat,
        simulator: Chat,
        tools: Tools,
    ) -> list[FeedbackRound]:
        """None: nothing is learnt from being asked."""
        return []

    def episodes(
        self,
        domain: Domain,
        states: States,
        turns: Sequence[Turn],
        feedback: Sequence[FeedbackRound],
        simulator: Chat,
        probes: Sequence[Probe] = (),
    ) -> list[Episode]:
        return make_episodes(turns)

    def asking(self, domain: Domain) -> bool:
        return False

    def rounds(self, domain: Domain, assistant: str, played: Sequence[Played]) -> list[PlayedRound]:
        return []

    def replier(self, domain: Domain, chat: Chat) -> Replier | None:
        """None: what the assistant says is given, so that nothing but the memory is measured (section 3.2)."""
        return None

    def question(self, domain: Domain, probe: Probe, recall: Recall, told: str | None) -> Question:
        return put(probe, recall, told)

    def parse(self, probe: Probe, value: Choice) -> str:
        return parsed(value)

    async def verdicts(
        self, domain: Domain, probes: Sequence[Probe], replies: Sequence[Reply], instruments: Instruments
    ) -> list[Verdict]:
        return make_verdicts(domain, probes, replies)

    def figures(self, domain: Domain, measured: Measured) -> list[Figure]:
        return [*make_figures(domain, measured), *capacity_figures(domain, measured)]

    def headline(self, metric: str) -> bool:
        return metric != UNPARSED

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
        """None: what a trajectory tells is asked for, and not claimed."""
        return []

    async def judged(self, domain: Domain, claims: Sequence[Claim], held: Held, judge: Chat) -> list[Claim]:
        return list(claims)

    def handlers(self) -> dict[str, Handler]:
        return dict(HANDLERS)

    def simulated(self, domain: Domain) -> frozenset[str]:
        return frozenset()

    def simulator_prompts(self) -> list[Prompt]:
        return []

    def judge_prompts(self, domain: Domain, table: str) -> list[Prompt]:
        """None: every metric is computed."""
        return []

    def instruments(self, domain: Domain) -> frozenset[str]:
        return frozenset()
