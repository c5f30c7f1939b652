"""Generated trajectories: users' lives -> plans -> turns, and what is asked of them. How, generation/ says."""

import asyncio
from collections.abc import Mapping, Sequence

from memflow.benchmarks.api import States
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.membench.config import parameters_of
from memflow.benchmarks.membench.generation.dialogues import tell
from memflow.benchmarks.membench.generation.graphs import graphs_of
from memflow.benchmarks.membench.generation.layout import Frame, framed
from memflow.benchmarks.membench.generation.planning import plans
from memflow.benchmarks.membench.generation.plans import Plan
from memflow.benchmarks.membench.generation.questions import put
from memflow.benchmarks.membench.turns import Trajectory, probes_of, turns_of
from memflow.chat.requests import Chat
from memflow.records import Probe, Record, Turn


async def make_turns(
    domain: Domain, records: Sequence[Record], states: States, simulator: Chat
) -> list[Turn]:
    """What the domain's users say, trajectory by trajectory."""
    places = {
        graph.user_id: [graph.user["hometown"], graph.user["work_location"]] for graph in graphs_of(states)
    }
    told = await asyncio.gather(
        *(
            tell(plan, frame, places[plan.user_id], domain.seed, simulator)
            for plan, frame in _framed(domain, records, states)
        )
    )
    return [turn for each in told for turn in turns_of(domain.name, each)]


async def make_probes(
    domain: Domain, records: Sequence[Record], states: States, turns: Sequence[Turn], simulator: Chat
) -> list[Probe]:
    """A question for each trajectory, asked after all of it was told."""
    said: dict[str, dict[str, Turn]] = {}
    for turn in turns:
        said.setdefault(turn.episode_id, {})[turn.message_id] = turn

    async def asked(plan: Plan, frame: Frame) -> Trajectory:
        held: Mapping[str, Turn] = said.get(plan.trajectory_id, {})
        return frame.asking(await put(plan, frame, held, domain.seed, simulator))

    made = await asyncio.gather(*(asked(plan, frame) for plan, frame in _framed(domain, records, states)))
    return [probe for each in made for probe in probes_of(domain.name, each)]


def _framed(domain: Domain, records: Sequence[Record], states: States) -> list[tuple[Plan, Frame]]:
    start = parameters_of(domain).start
    return [
        (plan, framed(plan, domain.datasets[0], start, domain.seed))
        for plan in plans(domain, records, states)
    ]
