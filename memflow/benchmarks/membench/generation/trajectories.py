"""Turns and probes of generated domains. The simulator writes the messages and questions that the plans describe."""

import asyncio
from collections.abc import Sequence

from memflow.benchmarks.api import States
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.membench.config import parameters_of
from memflow.benchmarks.membench.generation.dialogues import word_trajectory
from memflow.benchmarks.membench.generation.graphs import load_graphs
from memflow.benchmarks.membench.generation.planning import plan_trajectories
from memflow.benchmarks.membench.generation.questions import word_question
from memflow.benchmarks.membench.probes import probe_rows
from memflow.benchmarks.membench.turns import turn_rows
from memflow.chat.requests import Chat
from memflow.records import Probe, Turn


async def generate_turns(domain: Domain, states: States, simulator: Chat) -> list[Turn]:
    """Return the turns of all users, trajectory by trajectory."""
    places = {
        graph.user_id: [graph.user["hometown"], graph.user["work_location"]] for graph in load_graphs(states)
    }
    start = parameters_of(domain).start
    trajectories = await asyncio.gather(
        *(
            word_trajectory(plan, domain.datasets[0], start, places[plan.user_id], domain.seed, simulator)
            for plan in plan_trajectories(domain, states)
        )
    )
    return [turn for trajectory in trajectories for turn in turn_rows(domain.name, trajectory)]


async def generate_probes(
    domain: Domain, states: States, turns: Sequence[Turn], simulator: Chat
) -> list[Probe]:
    """Return one probe per trajectory, asked after its last message."""
    by_trajectory: dict[str, list[Turn]] = {}
    for turn in turns:
        by_trajectory.setdefault(turn.episode_id, []).append(turn)
    plans = plan_trajectories(domain, states)
    questions = await asyncio.gather(
        *(
            word_question(plan, by_trajectory.get(plan.trajectory_id, []), domain.seed, simulator)
            for plan in plans
        )
    )
    return [
        probe
        for plan, question in zip(plans, questions, strict=True)
        for probe in probe_rows(domain.name, plan.trajectory(domain.datasets[0], questions=(question,)))
    ]
