"""The `Benchmark` implementation of MemBench, which calls the other modules of this package."""

from collections.abc import Sequence

from memflow.benchmarks.api import AssistantResults, Benchmark, Question, States
from memflow.benchmarks.defaults import probe_ids
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.membench import load as files_of
from memflow.benchmarks.membench.capacity import (
    CAPACITY,
    capacity_scores,
    checkpoint_per_step,
    probes_at_end,
    probes_per_step,
)
from memflow.benchmarks.membench.config import generated, parameters_of
from memflow.benchmarks.membench.generation.graph_sampling import sample_states
from memflow.benchmarks.membench.generation.scripted import BY_STEM as SIMULATOR_HANDLERS
from memflow.benchmarks.membench.generation.trajectories import generate_probes, generate_turns
from memflow.benchmarks.membench.noise.insertion import lengthen
from memflow.benchmarks.membench.probes import probe_rows
from memflow.benchmarks.membench.question import build_question
from memflow.benchmarks.membench.scoring import make_scores, probe_slices
from memflow.benchmarks.membench.scripted import HANDLERS
from memflow.benchmarks.membench.selection import select_records, select_trajectories
from memflow.benchmarks.membench.turns import session_of, turn_rows
from memflow.benchmarks.membench.wording import prompt
from memflow.chat.prompts import Prompt
from memflow.chat.requests import Chat
from memflow.chat.scripted import Handler
from memflow.memories.memory import Recall
from memflow.records import GoldLabel, Probe, Record, Score, Turn


class MemBench(Benchmark):
    """The implementation of MemBench's pipeline steps."""

    name = "membench"
    records = staticmethod(files_of.read)
    contents = staticmethod(files_of.count_contents)
    probe_slices = staticmethod(probe_slices)

    async def states(self, domain: Domain, records: Sequence[Record], simulator: Chat) -> States:
        parameters_of(domain)  # Raises for a wrong one before anything is requested or played.
        return sample_states(domain) if generated(domain) else States()

    async def turns(
        self, domain: Domain, records: Sequence[Record], states: States, simulator: Chat
    ) -> list[Turn]:
        if generated(domain):
            found, probes = await generate_turns(domain, states, simulator), []
        else:
            trajectories = select_trajectories(domain, records)
            found = [turn for trajectory in trajectories for turn in turn_rows(domain.name, trajectory)]
            probes = [probe for each in trajectories for probe in probe_rows(domain.name, each)]
        found = lengthen(domain, found, probes, states.entities)
        return checkpoint_per_step(found) if parameters_of(domain).protocol == CAPACITY else found

    async def probes(
        self,
        domain: Domain,
        records: Sequence[Record],
        states: States,
        turns: Sequence[Turn],
        simulator: Chat,
        gold_labels: Sequence[GoldLabel] = (),
    ) -> list[Probe]:
        if generated(domain):
            found = await generate_probes(domain, states, turns, simulator)
        else:
            trajectories = select_trajectories(domain, records)
            found = [probe for trajectory in trajectories for probe in probe_rows(domain.name, trajectory)]
        every_step = parameters_of(domain).protocol == CAPACITY
        return probes_per_step(found, turns) if every_step else probes_at_end(found, turns)

    def question(self, domain: Domain, probe: Probe, recall: Recall, gold_context: str | None) -> Question:
        return build_question(probe, recall, gold_context)

    def scores(self, domain: Domain, results: AssistantResults) -> list[Score]:
        return [*make_scores(domain, results), *capacity_scores(domain, results)]

    def session_of(self, turn: Turn) -> str:
        return session_of(turn.message_id)

    def slices(self, domain: Domain, probes: Sequence[Probe]) -> dict[str, frozenset[str]]:
        slices = probe_ids(probe_slices(probes))
        return {name: ids for name, ids in slices.items() if name.startswith("level ")}

    def has_previous_state(self, domain: Domain) -> bool:
        """Return whether the answer before a correction is known. Published files do not state this answer."""
        return generated(domain)

    def handlers(self) -> dict[str, Handler]:
        return dict(HANDLERS)

    def size(self, domain: Domain, records: Sequence[Record]) -> int:
        return parameters_of(domain).graphs or len(select_records(domain.limited(0), records))

    def simulator_stages(self, domain: Domain) -> frozenset[str]:
        """Return the stages that call the simulator.

        User graphs are sampled without a model. In generated domains the simulator words the messages and the
        questions.
        """
        return frozenset({"utterance", "question"} if generated(domain) else ())

    def simulator_prompts(self) -> list[Prompt]:
        return [prompt(stem, language=language) for language in ("en", "zh") for stem in SIMULATOR_HANDLERS]
