"""Blocking checks of generated turns and probes. `rows.py` has the checks that also apply to published data."""

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from datetime import datetime

from memflow.benchmarks.domains import Domain
from memflow.benchmarks.membench.checks.rows import by_trajectory
from memflow.benchmarks.membench.config import generated, parameters_of
from memflow.benchmarks.membench.generation.planning import planned_kinds
from memflow.benchmarks.membench.generation.timeline import parse_time
from memflow.benchmarks.membench.kinds import find_kind
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

EVIDENCE_COUNT = {
    "simple": 1,
    "conditional": 2,
    "comparative": 2,
    "post_processing": 2,
    "noisy": 2,
    "knowledge_update": 1,
}
"""Evidence messages per question; other kinds have a variable number."""


def if_generated(rule: Rule | Callable[[Domain], Rule | None]) -> PerDomain:
    """Return a rule that applies only to domains with generated data."""

    def of(domain: Domain) -> Rule | None:
        if not generated(domain):
            return None
        return rule(domain) if callable(rule) else rule

    return PerDomain(of)


def find_decreasing_times(turns: Sequence[Turn]) -> list[int]:
    """Return the positions of messages whose time is not later than that of the previous step. Noise is skipped."""
    found = []
    for trajectory in by_trajectory(turns):
        last = None
        for at, turn in trajectory:
            if turn.reason is None and not is_noise(turn.message_id):
                now = turn.event, parse_time(turn.sent_at or "")
                if last is not None and (now[1] != last[1] if now[0] == last[0] else now[1] <= last[1]):
                    found.append(at)
                last = now
    return found


def contains_gold_value(turn: Turn) -> bool:
    """Return whether an evidence message contains the gold value of its fact."""
    if turn.exposes is None or find_kind(turn.episode_id.split("/")[-3]).level != "factual":
        return True
    return str(json.loads(turn.exposes)["value"]).casefold() in turn.text.casefold()


def find_values_not_in_graph(turns: Sequence[Turn], entities: Sequence[Entity]) -> list[int]:
    """Return the positions of evidence messages whose value differs from the value in the user's graph."""
    known = {
        (row.user_id, row.entity_id): {"name": row.name, **json.loads(row.attributes)} for row in entities
    }
    found = []
    for at, turn in enumerate(turns):
        name = turn.episode_id.split("/")[-3]
        if turn.exposes is None or name not in {*EVIDENCE_COUNT, "aggregative"}:
            continue
        fact = json.loads(turn.exposes)
        if known.get((_user(turn.episode_id), fact["entity"]), {}).get(fact["attribute"]) != fact["value"]:
            found.append(at)
    return found


def find_incomplete_evidence(probes: Sequence[Probe], turns: Sequence[Turn]) -> list[int]:
    """Return the positions of probes that violate the check `generated_evidence_lists_all_gold_messages`."""
    evidence: dict[str, list[str]] = {}
    for trajectory in by_trajectory(turns):
        ids = [turn.message_id for _, turn in trajectory if turn.exposes is not None]
        evidence[trajectory[0][1].episode_id] = ids
    return [
        at
        for at, probe in enumerate(probes)
        for ids in [evidence.get(probe.episode_id)]
        if probe.reason is None and (not ids or probe.evidence != ids)
    ]


def find_probes_before_end(probes: Sequence[Probe], turns: Sequence[Turn]) -> list[int]:
    """Return the positions of probes that are not asked after the last message of the trajectory."""
    last: dict[str, datetime] = {}
    for turn in turns:
        if turn.reason is None and not is_noise(turn.message_id):
            moment = parse_time(turn.sent_at or "")
            last[turn.episode_id] = max(moment, last.get(turn.episode_id, moment))
    return [
        at
        for at, probe in enumerate(probes)
        if probe.reason is None
        and (probe.episode_id not in last or parse_time(probe.asked_at or "") <= last[probe.episode_id])
    ]


def find_missing_wrong_statements(probes: Sequence[Probe], turns: Sequence[Turn]) -> list[int]:
    """Return the positions of probes that violate the check `wrong_value_stated_before_correction`."""
    episodes: dict[str, list[Turn]] = defaultdict(list)
    events = {turn.message_id: turn.event for turn in turns}
    for turn in turns:
        episodes[turn.episode_id].append(turn)
    found = []
    for at, probe in enumerate(probes):
        if probe.reason is not None or probe.category != "knowledge_update":
            continue
        until = min((events.get(message, -1) for message in probe.evidence), default=-1)
        before = "\n".join(turn.text.casefold() for turn in episodes[probe.episode_id] if turn.event < until)
        wrong = [option for option in probe.options if option != probe.revealed]
        if not any(option.casefold() in before for option in wrong):
            found.append(at)
    return found


def _has_expected_evidence_count(probe: Probe) -> bool:
    expected = EVIDENCE_COUNT.get(probe.category or "")
    return probe.reason is not None or expected is None or len(probe.evidence) == expected


def _every_kind_per_user(domain: Domain) -> Rule:
    parameters = parameters_of(domain)
    due = {(each.name, scenario): parameters.each for each, scenario in planned_kinds(parameters)}

    def find_violations(probes: Sequence[Probe]) -> list[int]:
        asked: dict[str, Counter[tuple[str, str]]] = defaultdict(Counter)
        for episode, name in {probe.episode_id: probe.category or "" for probe in probes}.items():
            asked[_user(episode)][name, scenario_of(episode)] += 1
        return [at for at, probe in enumerate(probes) if asked[_user(probe.episode_id)] != due]

    return WholeTable(find_violations)


def _user(episode: str) -> str:
    return episode.rsplit("/", 3)[0]


def _probes_after_history(domain: Domain) -> Rule | None:
    """Return the rule that probes come after all messages, or None under the protocol `capacity`."""
    at_end = parameters_of(domain).protocol == "end"
    return AcrossTables(_BOTH, find_probes_before_end) if at_end else None


_PROBES, _TURNS = "question.probes", "utterance.turns"
_BOTH = (_PROBES, _TURNS)
_MUST: dict[str, dict[str, Rule | Callable[[Domain], Rule | None]]] = {
    _TURNS: {
        "generated_message_times_increase": WholeTable(find_decreasing_times),
        "generated_evidence_contains_gold_value": each_valid_row(contains_gold_value),
        "generated_evidence_matches_user_graph": AcrossTables(
            (_TURNS, "state.entities"), find_values_not_in_graph
        ),
    },
    _PROBES: {
        "trajectory_count_per_kind_and_user_as_configured": _every_kind_per_user,
        "generated_evidence_lists_all_gold_messages": AcrossTables(_BOTH, find_incomplete_evidence),
        "evidence_count_matches_question_kind": EachRow(_has_expected_evidence_count),
        "generated_probes_follow_all_messages": _probes_after_history,
        "wrong_value_stated_before_correction": AcrossTables(_BOTH, find_missing_wrong_statements),
    },
}

EXPECTED: tuple[Expectation, ...] = tuple(
    Expectation(table, name, if_generated(rule))
    for table, rules in _MUST.items()
    for name, rule in rules.items()
)
"""Checks of generated turns and probes."""
