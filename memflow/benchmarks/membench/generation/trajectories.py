"""Turns and probes of generated domains. The simulator writes the messages and questions that the plans describe."""

import asyncio
from collections.abc import Sequence

from memflow.benchmarks.api import States
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.membench.config import parameters_of
from memflow.benchmarks.membench.generation.dialogues import word_trajectory
from memflow.benchmarks.membench.generation.graphs import load_graphs
from memflow.benchmarks.membench.generation.layout import TrajectoryLayout, lay_out
from memflow.benchmarks.membench.generation.planning import plan_trajectories
from memflow.benchmarks.membench.generation.plans import TrajectoryPlan
from memflow.benchmarks.membench.generation.questions import word_question
from memflow.benchmarks.membench.probes import probe_rows
from memflow.benchmarks.membench.turns import Trajectory, turn_rows
from memflow.chat.requests import Chat
from memflow.records import Probe, Turn


async def generate_turns(domain: Domain, states: States, simulator: Chat) -> list[Turn]:
    """Return the turns of all users, trajectory by trajectory."""
    places = {
        graph.user_id: [graph.user["hometown"], graph.user["work_location"]] for graph in load_graphs(states)
    }
    trajectories = await asyncio.gather(
        *(
            word_trajectory(plan, layout, places[plan.user_id], domain.seed, simulator)
            for plan, layout in _planned_layouts(domain, states)
        )
    )
    return [turn for trajectory in trajectories for turn in turn_rows(domain.name, trajectory)]


async def generate_probes(
    domain: Domain, states: States, turns: Sequence[Turn], simulator: Chat
) -> list[Probe]:
    """Return one probe per trajectory, asked after its last message."""
    by_trajectory: dict[str, dict[str, Turn]] = {}
    for turn in turns:
        by_trajectory.setdefault(turn.episode_id, {})[turn.message_id] = turn

    async def with_question(plan: TrajectoryPlan, layout: TrajectoryLayout) -> Trajectory:
        messages = by_trajectory.get(plan.trajectory_id, {})
        return layout.with_question(await word_question(plan, layout, messages, domain.seed, simulator))

    trajectories = await asyncio.gather(
        *(with_question(plan, layout) for plan, layout in _planned_layouts(domain, states))
    )
    return [probe for trajectory in trajectories for probe in probe_rows(domain.name, trajectory)]


def _planned_layouts(domain: Domain, states: States) -> list[tuple[TrajectoryPlan, TrajectoryLayout]]:
    start = parameters_of(domain).start
    return [
        (plan, lay_out(plan, domain.datasets[0], start, domain.seed))
        for plan in plan_trajectories(domain, states)
    ]
