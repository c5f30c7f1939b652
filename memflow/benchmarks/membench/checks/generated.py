"""What must hold of generated trajectories and of what is asked of them, as data.

It blocks: whoever makes trajectories can keep all of it. What holds of every trajectory, published ones too, is
rows.py.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from datetime import datetime

from memflow.benchmarks.domains import Domain
from memflow.benchmarks.membench.config import generated, parameters_of
from memflow.benchmarks.membench.generation.planning import wanted
from memflow.benchmarks.membench.generation.timeline import read
from memflow.benchmarks.membench.kinds import kind
from memflow.benchmarks.membench.turns import is_noise, scenario_of
from memflow.checks.rules import (
    AcrossTables,
    EachRow,
    Expectation,
    PerDomain,
    Rule,
    WholeTable,
    each_valid_row,
)
from memflow.records import Entity, Probe, Turn

RESTS_ON = {
    "simple": 1,
    "conditional": 2,
    "comparative": 2,
    "post_processing": 2,
    "noisy": 2,
    "knowledge_update": 1,
}
"""How many messages an answer rests on; of other kinds, it depends on the trajectory."""


def where_generated(rule: Rule | Callable[[Domain], Rule | None]) -> PerDomain:
    """A rule of generated domains."""

    def of(domain: Domain) -> Rule | None:
        if not generated(domain):
            return None
        return rule(domain) if callable(rule) else rule

    return PerDomain(of)


def going_back(turns: Sequence[Turn]) -> list[int]:
    """Messages that are sent no later than those of the step before; noise has no time."""
    by_episode: dict[str, list[int]] = defaultdict(list)
    for at, turn in enumerate(turns):
        if turn.reason is None and not is_noise(turn.message_id):
            by_episode[turn.episode_id].append(at)
    found = []
    for held in by_episode.values():
        last = None
        for at in sorted(held, key=lambda at: (turns[at].event, turns[at].position)):
            here = turns[at].event, read(turns[at].sent_at or "")
            if last is not None and (here[1] != last[1] if here[0] == last[0] else here[1] <= last[1]):
                found.append(at)
            last = here
    return found


def says_its_value(turn: Turn) -> bool:
    """Whether a message that is evidence of a fact says the value that it is evidence of."""
    if turn.exposes is None or kind(turn.episode_id.split("/")[-3]).level != "factual":
        return True
    return str(json.loads(turn.exposes)["value"]).casefold() in turn.text.casefold()


def not_in_the_graph(turns: Sequence[Turn], entities: Sequence[Entity]) -> list[int]:
    """Messages that are evidence of another value than the user's graph has."""
    known = {
        (row.user_id, row.entity_id): {"name": row.name, **json.loads(row.attributes)} for row in entities
    }
    found = []
    for at, turn in enumerate(turns):
        name = turn.episode_id.split("/")[-3]
        if turn.exposes is None or name not in {*RESTS_ON, "aggregative"}:
            continue
        told = json.loads(turn.exposes)
        if known.get((_user(turn.episode_id), told["entity"]), {}).get(told["attribute"]) != told["value"]:
            found.append(at)
    return found


def with_other_evidence(probes: Sequence[Probe], turns: Sequence[Turn]) -> list[int]:
    """Questions whose evidence is not what tells something in their trajectory, in its order."""
    telling: dict[str, list[Turn]] = defaultdict(list)
    for turn in turns:
        if turn.exposes is not None:
            telling[turn.episode_id].append(turn)
    found = []
    for at, probe in enumerate(probes):
        told = sorted(telling[probe.episode_id], key=lambda turn: (turn.event, turn.position))
        if probe.reason is None and (not told or probe.evidence != [turn.message_id for turn in told]):
            found.append(at)
    return found


def asked_too_early(probes: Sequence[Probe], turns: Sequence[Turn]) -> list[int]:
    """Questions that are not asked after all of their trajectory was told."""
    last: dict[str, datetime] = {}
    for turn in turns:
        if turn.reason is None and not is_noise(turn.message_id):
            moment = read(turn.sent_at or "")
            last[turn.episode_id] = max(moment, last.get(turn.episode_id, moment))
    return [
        at
        for at, probe in enumerate(probes)
        if probe.reason is None
        and (probe.episode_id not in last or read(probe.asked_at or "") <= last[probe.episode_id])
    ]


def never_told_wrongly(probes: Sequence[Probe], turns: Sequence[Turn]) -> list[int]:
    """Questions about what was corrected, of which no wrong option was said before the correction."""
    said: dict[str, list[Turn]] = defaultdict(list)
    events = {turn.message_id: turn.event for turn in turns}
    for turn in turns:
        said[turn.episode_id].append(turn)
    found = []
    for at, probe in enumerate(probes):
        if probe.reason is not None or probe.category != "knowledge_update":
            continue
        until = min((events.get(message, -1) for message in probe.evidence), default=-1)
        before = "\n".join(turn.text.casefold() for turn in said[probe.episode_id] if turn.event < until)
        wrong = [option for option in probe.options if option != probe.revealed]
        if not any(option.casefold() in before for option in wrong):
            found.append(at)
    return found


def _rests_on_as_many(probe: Probe) -> bool:
    expected = RESTS_ON.get(probe.category or "")
    return probe.reason is not None or expected is None or len(probe.evidence) == expected


def _has_four_options(probe: Probe) -> bool:
    return probe.reason is not None or (len(probe.options) == 4 == len(set(probe.options)))


def _of_every_kind(domain: Domain) -> Rule:
    parameters = parameters_of(domain)
    due = {(each.name, scenario): parameters.each for each, scenario in wanted(parameters)}

    def find_violations(probes: Sequence[Probe]) -> list[int]:
        asked: dict[str, Counter[tuple[str, str]]] = defaultdict(Counter)
        for episode, name in {probe.episode_id: probe.category or "" for probe in probes}.items():
            asked[_user(episode)][name, scenario_of(episode)] += 1
        return [at for at, probe in enumerate(probes) if asked[_user(probe.episode_id)] != due]

    return WholeTable(find_violations)


def _user(episode: str) -> str:
    return episode.rsplit("/", 3)[0]


def _asked_at_the_end(domain: Domain) -> Rule | None:
    """To measure capacity, questions are asked earlier too."""
    at_end = parameters_of(domain).protocol == "end"
    return AcrossTables((_PROBES, _TURNS), asked_too_early) if at_end else None


_PROBES, _TURNS = "question.probes", "utterance.turns"

EXPECTED: tuple[Expectation, ...] = (
    Expectation(_TURNS, "generated_times_go_on", where_generated(WholeTable(going_back))),
    Expectation(_TURNS, "generated_evidence_says_its_value", where_generated(each_valid_row(says_its_value))),
    Expectation(
        _TURNS,
        "generated_evidence_is_of_the_users_graph",
        where_generated(AcrossTables((_TURNS, "state.entities"), not_in_the_graph)),
    ),
    Expectation(_PROBES, "every_user_is_asked_every_kind", where_generated(_of_every_kind)),
    Expectation(
        _PROBES,
        "generated_evidence_is_all_that_tells_the_answer",
        where_generated(AcrossTables((_PROBES, _TURNS), with_other_evidence)),
    ),
    Expectation(
        _PROBES,
        "generated_answers_rest_on_as_many_messages_as_their_kind",
        where_generated(EachRow(_rests_on_as_many)),
    ),
    Expectation(
        _PROBES, "generated_questions_have_four_options", where_generated(EachRow(_has_four_options))
    ),
    Expectation(
        _PROBES,
        "generated_questions_are_asked_after_all_was_told",
        where_generated(_asked_at_the_end),
    ),
    Expectation(
        _PROBES,
        "what_was_corrected_was_told_wrongly_before",
        where_generated(AcrossTables((_PROBES, _TURNS), never_told_wrongly)),
    ),
)
"""What is expected of generated trajectories and questions."""
