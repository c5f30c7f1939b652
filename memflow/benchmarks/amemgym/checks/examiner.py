"""Recompute AMemGym's states and gold labels from the messages, without the generation plan.

Values of generated messages are parsed from the text (reading.py). If a text names no variable, the names in `exposes`
are used. Published messages have free wording, so their values in `exposes` are used. `state.changes` is never read.
A value that no text states in words is counted as not examined.
"""

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from memflow.benchmarks.amemgym.checks.reading import Schema, mentioned_values, stated_values
from memflow.benchmarks.amemgym.states import exposed_values
from memflow.checks.rules import Findings
from memflow.records import Probe, Turn, Variable

State = dict[str, str | None]
"""The value of each variable that a message has stated so far; None where the message could not be read."""
Reader = Callable[[Turn, Schema, State], State]
"""Returns the values that a message states, given the schema and the state before the message."""


def read_text(turn: Turn, schema: Schema, state: State) -> State:
    """Return the values that the message's text states; None for an exposed variable whose value it does not state.

    If the text states previous values and one new value, the new value is used. If no sentence names the variable,
    the exposed value is used, provided that the text contains no other new value of the variable.
    """
    values: State = {}
    exposed_by_name, candidates_by_name = exposed_values(turn), stated_values(turn.text, schema)
    for name in {**exposed_by_name, **candidates_by_name}:
        values[name] = None
        candidates = candidates_by_name.get(name) or mentioned_values(turn.text, schema.get(name, ()))
        new_values = [value for value in candidates if value != state.get(name)] or list(candidates)
        if len(new_values) == 1 and (
            name in candidates_by_name or new_values[0] == exposed_by_name.get(name)
        ):
            values[name] = new_values[0]
    return values


def read_exposed(turn: Turn, schema: Schema, state: State) -> State:
    """Return the values in `exposes`; None for all variables if they are unknown."""
    return dict.fromkeys(schema) if turn.exposes is None else dict(exposed_values(turn))


def examine_golds(
    reader: Reader, probes: Sequence[Probe], turns: Sequence[Turn], variables: Sequence[Variable]
) -> Findings:
    """Return the probes whose gold, contexts, evidence or options contradict the messages before their checkpoint."""
    users = _read_users(reader, turns, variables)
    findings, probe_count, examined_count = Findings(), 0, 0
    for position, probe in enumerate(probes):
        if probe.reason is not None or not probe.variables or probe.episode_id not in users:
            continue
        probe_count += 1
        user = users[probe.episode_id]
        if None in user.values(probe.variables, probe.checkpoint):
            continue
        examined_count += 1
        faults = list(_faults(user, probe))
        if reader is read_text:
            faults += _option_faults(user, probe)
        if faults:
            findings[position] = "; ".join(faults)
    findings.note = _examined_share(examined_count, probe_count, "probes")
    return findings


def examine_messages(turns: Sequence[Turn], variables: Sequence[Variable]) -> Findings:
    """Return the messages that are sent too early, or state a value that is neither exposed nor a previous value."""
    users = _read_users(read_text, turns, variables)
    findings, exposed_count, examined_count = Findings(), 0, 0
    for position, turn in enumerate(turns):
        user = users.get(turn.episode_id)
        if user is None or not _states_values(turn):
            continue
        previous_state, stated_state = user.before[turn.message_id], user.read[turn.message_id]
        exposed_by_name = exposed_values(turn)
        exposed_count += len(exposed_by_name)
        examined_count += sum(stated_state.get(name) is not None for name in exposed_by_name)
        faults = []
        for name, values in stated_values(turn.text, user.schema).items():
            if not set(values) <= {previous_state.get(name), exposed_by_name.get(name)}:
                faults.append(
                    f"the text states {name} = {' and '.join(values)}, and exposes is "
                    f"{exposed_by_name.get(name, 'silent')}"
                )
        if turn.sent_at is not None and turn.sent_at <= user.last_sent.get(turn.checkpoint - 1, ""):
            faults.append(f"it is sent at {turn.sent_at}, before the end of period {turn.checkpoint - 1}")
        if faults:
            findings[position] = "; ".join(faults)
    findings.note = _examined_share(examined_count, exposed_count, "exposed values")
    return findings


@dataclass
class _User:
    """One user's variables, and the state that the messages give at the end of each period, with message ids."""

    schema: Schema
    states: dict[int, State] = field(default_factory=dict)
    stated_by: dict[int, dict[str, str]] = field(default_factory=dict)
    before: dict[str, State] = field(default_factory=dict)
    read: dict[str, State] = field(default_factory=dict)
    last_sent: dict[int, str] = field(default_factory=dict)

    def values(self, names: Sequence[str], period: int) -> list[str | None]:
        """Return the values of some variables at the end of a period; None for a value that no message states."""
        past_periods = [past_period for past_period in self.states if past_period <= period]
        state = self.states[max(past_periods)] if past_periods else {}
        return [state.get(name) for name in names]

    def previous_values(self, names: Sequence[str], period: int) -> list[str | None]:
        """Return the values of `names`, in order, before the last change of any; without one, the current values."""
        current_values = self.values(names, period)
        past_values = (self.values(names, earlier_period) for earlier_period in range(period - 1, -1, -1))
        return next((values for values in past_values if values != current_values), current_values)

    def evidence(self, names: Sequence[str], period: int) -> set[str]:
        """Return the ids of the messages that state the values at the end of a period."""
        message_ids = self.stated_by[max(past for past in self.stated_by if past <= period)]
        return {message_ids[name] for name in names}


def _read_users(reader: Reader, turns: Sequence[Turn], variables: Sequence[Variable]) -> dict[str, _User]:
    """Return each user with variables, by id, as read from the first messages of the user's sessions."""
    schemas: dict[str, dict[str, Sequence[str]]] = defaultdict(dict)
    for row in variables:
        schemas[row.user_id][row.variable] = row.choices
    by_user: dict[str, list[Turn]] = {user: [] for user in schemas}
    for turn in turns:
        if turn.episode_id in by_user and turn.position == 0:
            by_user[turn.episode_id].append(turn)
    return {user: _read_user(reader, schema, by_user[user]) for user, schema in schemas.items()}


def _read_user(reader: Reader, schema: Schema, turns: Iterable[Turn]) -> _User:
    """Read the messages of a user in order of time, and return the user's state after each of them."""
    user = _User(schema)
    state: State = {}
    stated_by: dict[str, str] = {}
    for turn in sorted(turns, key=lambda turn_: (turn_.checkpoint, turn_.sent_at or "", turn_.event)):
        exposures = exposed_values(turn)
        # The probes of a quarantined message are quarantined, so its values stay unknown.
        update = reader(turn, schema, state) if _states_values(turn) else dict.fromkeys(exposures)
        user.before[turn.message_id] = state
        user.read[turn.message_id] = update
        new_names = [name for name in update if name in exposures or update[name] != state.get(name)]
        stated_by = stated_by | dict.fromkeys(new_names, turn.message_id)
        state = state | update
        user.states[turn.checkpoint] = state
        user.stated_by[turn.checkpoint] = stated_by
        time = user.last_sent.get(turn.checkpoint, "")
        user.last_sent[turn.checkpoint] = max(time, turn.sent_at or "")
    return user


def _faults(user: _User, probe: Probe) -> Iterator[str]:
    """Yield the contradictions between a probe and the values that the messages state."""
    values = user.values(probe.variables, probe.checkpoint)
    contexts = {"revealed": (probe.revealed, values)}
    if probe.previous is not None:
        contexts["previous"] = (probe.previous, user.previous_values(probe.variables, probe.checkpoint))
    if probe.kind == "state":
        contexts["gold"] = (probe.gold, values)
    for column, (text, gold) in contexts.items():
        if None not in gold and json.loads(text) != dict(zip(probe.variables, gold, strict=True)):
            yield f"{column} is not {', '.join(map(str, gold))}, which the messages state"
    if probe.kind == "choice":
        matches = [
            number for number, variant in enumerate(probe.variants, 1) if json.loads(variant) == values
        ]
        if [str(number) for number in matches] != [probe.gold]:
            yield f"gold is {probe.gold!r}, and options {matches} have the values that the messages state"
    if user.evidence(probe.variables, probe.checkpoint) != set(probe.evidence):
        yield "evidence is not the messages that state the values"


def _option_faults(user: _User, probe: Probe) -> Iterator[str]:
    """Yield a description of each option of a choice probe whose text states other values than its variant."""
    names = tuple(probe.variables)
    for number, (option, variant) in enumerate(zip(probe.options, probe.variants, strict=True), 1):
        variant_values = dict(zip(names, json.loads(variant), strict=True))
        text_values = stated_values(option, {name: user.schema[name] for name in names})
        contradiction = next(
            (name for name, values in text_values.items() if values != (variant_values[name],)), None
        )
        if contradiction is not None:
            yield f"the text of option {number} states {text_values[contradiction][0]!r} for {contradiction}"


def _states_values(turn: Turn) -> bool:
    return turn.position == 0 and turn.reason is None


def _examined_share(examined: int, total: int, items: str) -> str:
    """Return a sentence on how many of `total` items were examined."""
    if not total:
        return f"no {items} to examine"
    return f"examined {examined:,} of {total:,} {items}; not examined: {1 - examined / total:.1%}"
