"""Agents of AMemGym whose knowledge a test decides: what they answer, and what comes of that. No model is asked."""

import json
from collections.abc import Callable, Mapping

from memflow.benchmarks.amemgym import AMemGym
from memflow.benchmarks.amemgym.states import History, histories
from memflow.benchmarks.amemgym.verdicts import make_verdicts
from memflow.benchmarks.api import AssistantResults
from memflow.records import Probe, Reply, Score, Verdict

Knows = Callable[[History, int, str], str | None]
"""The value that an agent takes a variable to have in a period; None where it has no idea."""


def perfect(life: History, period: int, name: str) -> str | None:
    return life.periods[period][name]


def frozen(life: History, period: int, name: str) -> str | None:
    return life.periods[0][name]


def one_period_late(life: History, period: int, name: str) -> str | None:
    return life.periods[max(0, period - 1)][name]


def forgets_after(periods: int) -> Knows:
    def knows(life: History, period: int, name: str) -> str | None:
        value = life.periods[period][name]
        age = 0
        while age < period and life.periods[period - age - 1][name] == value:
            age += 1
        return value if age <= periods else None

    return knows


def replies(made, knows: Knows, *, clumsy: bool = False) -> list[Reply]:
    """An agent's replies: state probes by what it knows, questions by its option, else by a wrong one.

    A clumsy agent knows the states but never picks the right option.
    """
    lives = histories(made.states)
    option_for: dict[tuple[str, str, str], str] = {}
    for probe in made.of_kind("choice"):
        option_for[(probe.episode_id, probe.question, probe.revealed)] = probe.gold
    found = []
    for probe in made.probes:
        life = lives[probe.episode_id]
        values = {name: knows(life, probe.checkpoint, name) for name in probe.variables}
        if probe.kind == "state":
            parsed = json.dumps({name: value or "no idea" for name, value in values.items()})
        else:
            known = option_for.get(
                (probe.episode_id, probe.question, json.dumps(values, ensure_ascii=False, indent=1))
            )
            others = [str(number) for number in range(1, len(probe.options) + 1) if str(number) != probe.gold]
            parsed = others[0] if clumsy or known is None else known
        found.append(reply(made, probe, parsed))
    return found


def reply(made, probe: Probe, parsed: str | None, reason: str | None = None) -> Reply:
    return Reply(
        domain=made.domain.name,
        assistant="agent",
        probe_id=probe.probe_id,
        episode_id=probe.episode_id,
        checkpoint=probe.checkpoint,
        text=parsed,
        parsed=parsed,
        recalled=[],
        recalled_sources=[],
        reason=reason,
    )


def figures(
    made, verdicts: list[Verdict], oracle: list[Verdict] | None = None
) -> Mapping[tuple[str, str, str], Score]:
    measured = AssistantResults(
        domain=made.domain.name,
        assistant="agent",
        memory="agent",
        model="test",
        probes=made.probes,
        verdicts=verdicts,
        oracle=verdicts_of(made, perfect) if oracle is None else oracle,
        none=[],
        simulator="test",
        scripted=False,
    )
    rows = AMemGym().scores(made.domain, measured)
    assert len({(row.metric, row.variant, row.slice) for row in rows}) == len(rows)
    return {(row.metric, row.variant, row.slice): row for row in rows}


def verdicts_of(made, knows: Knows, *, clumsy: bool = False) -> list[Verdict]:
    return make_verdicts(made.domain, made.probes, replies(made, knows, clumsy=clumsy))


def overall(made, knows: Knows, *, clumsy: bool = False) -> dict[str, float]:
    rows = figures(made, verdicts_of(made, knows, clumsy=clumsy))
    return {
        metric: row.value
        for (metric, variant, part), row in rows.items()
        if (variant, part) == ("standard", "all")
    }
