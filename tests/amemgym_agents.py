"""AMemGym agents with known knowledge: their replies, verdicts and scores. SpyChat records the requests."""

import json
from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from operator import getitem
from typing import Any

from memflow.benchmarks.amemgym.benchmark import AMemGym
from memflow.benchmarks.amemgym.states import History, histories
from memflow.benchmarks.amemgym.verdicts import make_verdicts
from memflow.benchmarks.api import AssistantResults
from memflow.chat.requests import ChatRequest, Completion
from memflow.chat.scripted import ScriptedChat
from memflow.checks.evaluation import RuleResult, check_rows
from memflow.checks.rules import Expectation
from memflow.records import Probe, Reply, Score, Verdict

Knows = Callable[[History, int, str], str | None]
"""The value that an agent believes a variable has in a period; None if it does not know."""


class SpyChat(ScriptedChat):
    """The scripted chat, which records its requests.

    `says` has other answers by prompt: a text, a value as JSON, or a function of the request (None keeps the scripted
    answer). They apply to requests whose first message contains `whom`.
    """

    def __init__(self, says: Mapping[str, object] | None = None, whom: str = "") -> None:
        super().__init__(AMemGym().handlers())
        self.says, self.whom = says or {}, whom
        self.requests: list[ChatRequest] = []

    async def complete(self, request: ChatRequest) -> Completion:
        self.requests.append(request)
        said = self.says.get(request.prompt.removeprefix("amemgym/"))
        if callable(said):
            said = said(request)
        if said is None or self.whom not in request.messages[0].content:
            return await super().complete(request)
        return Completion(said if isinstance(said, str) else json.dumps(said))

    def asked(self, prompt: str) -> list[ChatRequest]:
        return [request for request in self.requests if request.prompt == f"amemgym/{prompt}"]


def put(value: Any, *path: str | int) -> Callable[[Any], None]:
    """Return a function that sets the value at a path of plain data; None deletes it."""

    def apply(content: Any) -> None:
        *way, last = path
        place = reduce(getitem, way, content)
        if value is None:
            del place[last]
        else:
            place[last] = value

    return apply


def tables(made) -> dict[str, Any]:
    """Return the rows of a domain by table."""
    return {
        "raw.records": made.records,
        "state.profiles": made.states.profiles,
        "state.variables": made.states.variables,
        "state.changes": made.states.changes,
        "utterance.turns": made.turns,
        "question.probes": made.probes,
    }


def run_checks(
    made, expectations: Sequence[Expectation], world: Mapping[str, Any] | None = None
) -> list[RuleResult]:
    """Return the results of checks on a domain's rows, or on those in `world`."""
    world = world or tables(made)
    return [
        result
        for table in dict.fromkeys(each.table for each in expectations)
        for result in check_rows(
            table,
            world[table],
            [each for each in expectations if each.table == table],
            world.__getitem__,
            made.domain,
        )
    ]


def failed_checks(
    made, expectations: Sequence[Expectation], world: Mapping[str, Any] | None = None
) -> set[str]:
    return {result.name for result in run_checks(made, expectations, world) if not result.passed}


def perfect(history: History, period: int, name: str) -> str | None:
    return history.periods[period][name]


def frozen(history: History, period: int, name: str) -> str | None:
    return history.periods[0][name]


def one_period_late(history: History, period: int, name: str) -> str | None:
    return history.periods[max(0, period - 1)][name]


def forgets_after(periods: int) -> Knows:
    def knows(history: History, period: int, name: str) -> str | None:
        value = history.periods[period][name]
        age = 0
        while age < period and history.periods[period - age - 1][name] == value:
            age += 1
        return value if age <= periods else None

    return knows


def replies(made, knows: Knows, *, clumsy: bool = False) -> list[Reply]:
    """Return the replies of an agent; a clumsy agent knows the states but never picks the right option."""
    histories_by_user = histories(made.states)
    option_for: dict[tuple[str, str, str], str] = {}
    for probe in made.of_kind("choice"):
        option_for[(probe.episode_id, probe.question, probe.revealed)] = probe.gold
    found = []
    for probe in made.probes:
        history = histories_by_user[probe.episode_id]
        values = {name: knows(history, probe.checkpoint, name) for name in probe.variables}
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
