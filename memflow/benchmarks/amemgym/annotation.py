"""Annotation tasks for people who verify AMemGym's data (meta-evaluation; paper, section 3.4 and appendix D).

    exposure     does a session's first message reveal the states that it should expose? Annotators see the current and
                 the previous value, as in the paper
    integrity    are all user messages of a played session consistent with the current states?
    reliability  is the gold option correct for its states, and is every other option incorrect?

This module converts table rows to items. memflow/annotation/ samples the items and reads the annotations. Quarantined
rows are not sampled.
"""

import json
import random
from collections.abc import Iterable, Iterator, Sequence

from memflow.annotation.kind import DomainTables, KindConfig, read_kinds
from memflow.annotation.sampling import Candidate
from memflow.annotation.sheet import Item, Label, Part, Unit, language_of
from memflow.benchmarks.amemgym.states import History, exposed_values, histories
from memflow.fingerprint import seeded
from memflow.records import TranscriptMessage, Turn


def _exposure_candidates(config: KindConfig, tables: DomainTables) -> Iterator[Candidate]:
    """Yield each message that exposes states, with an item for each of its variables: current and previous value."""
    for history, turn in _exposing_openings(tables):
        previous_state = history.periods[turn.checkpoint - 1] if turn.checkpoint else {}
        items = []
        for variable, value in exposed_values(turn).items():
            facts = [Part(title=f"{variable} {config.shown['now']}", text=value)]
            if variable in previous_state:
                facts.append(Part(title=config.shown["before"], text=previous_state[variable]))
            facts.append(Part(title=config.shown["choices"], text=", ".join(history.schema[variable])))
            name = f"{turn.message_id}#{variable}"
            items.append(Item(id=name, asks=config.asks, facts=facts, labels=config.labels))
        yield Candidate(_message_unit(config, turn, items))


def _integrity_candidates(config: KindConfig, tables: DomainTables) -> Iterator[Candidate]:
    """Yield each session with at least two user messages, with all current states of the user."""
    histories_by_user = histories(tables.states)
    sessions: dict[tuple[str, int], list[TranscriptMessage]] = {}
    for message in tables.said:
        sessions.setdefault((message.episode_id, message.event), []).append(message)
    for (episode, event), messages in sessions.items():
        session = sorted(messages, key=lambda message: message.position)
        user_turns = [message for message in session if message.role == "user"]
        is_complete = all(message.reason is None for message in messages)
        if episode not in histories_by_user or len(user_turns) < 2 or not is_complete:
            continue
        state = histories_by_user[episode].periods[user_turns[0].checkpoint]
        parts = [
            Part(title=f"{config.shown['message']} {number}", text=_text_without_time(message))
            for number, message in enumerate(user_turns, 1)
        ]
        items = [
            Item(
                id=f"{user_turns[0].message_id}#{variable}",
                asks=config.asks,
                facts=[Part(title=variable, text=value)],
                labels=config.labels,
            )
            for variable, value in state.items()
        ]
        yield Candidate(_unit(f"{episode}/{event}", episode, parts, items))


def _reliability_candidates(config: KindConfig, tables: DomainTables) -> Iterator[Candidate]:
    """Yield one item for each question and gold option: the first probe of the question with this gold."""
    seen_variants: set[tuple[str, str, str]] = set()
    for probe in sorted(tables.probes, key=lambda probe: (probe.episode_id, probe.checkpoint)):
        variant = (probe.episode_id, probe.question, probe.gold)
        if probe.kind != "choice" or probe.reason is not None or variant in seen_variants:
            continue
        seen_variants.add(variant)
        options = _options(probe.probe_id, probe.options)
        facts = "\n".join(f"{name}: {value}" for name, value in json.loads(probe.revealed).items())
        gold_text = probe.options[int(probe.gold) - 1]
        parts = [
            Part(title=config.shown["question"], text=probe.question),
            Part(title=config.shown["facts"], text=facts),
        ]
        item = Item(id=probe.probe_id, asks=config.asks, labels=[*options, *config.labels])
        unit = _unit(probe.probe_id, probe.episode_id, parts, [item], language=language_of(probe.question))
        yield Candidate(unit, {item.id: _option_name(options, gold_text)})


KINDS = read_kinds(
    "memflow.benchmarks.amemgym",
    {
        "exposure": _exposure_candidates,
        "integrity": _integrity_candidates,
        "reliability": _reliability_candidates,
    },
)


def _exposing_openings(tables: DomainTables) -> Iterator[tuple[History, Turn]]:
    """Yield the first message of each session that exposes state values, with the user's states over time."""
    histories_by_user = histories(tables.states)
    for turn in tables.turns:
        if turn.reason is None and turn.episode_id in histories_by_user and exposed_values(turn):
            yield histories_by_user[turn.episode_id], turn


def _message_unit(config: KindConfig, turn: Turn, items: Sequence[Item]) -> Unit:
    parts = [Part(title=config.shown["message"], text=_text_without_time(turn))]
    return _unit(turn.message_id, turn.episode_id, parts, items)


def _unit(name: str, episode: str, parts: list[Part], items: Sequence[Item], language: str = "") -> Unit:
    """Return an annotation unit. Without `language`, the language is detected from the text of the unit."""
    language = language or language_of(" ".join(part.text for part in parts))
    return Unit(id=name, episode=episode, language=language, shown=parts, items=list(items))


def _options(name: str, texts: Sequence[str]) -> list[Label]:
    """Return the texts as options, shuffled with a seed that depends only on the item's name."""
    shuffled = list(texts)
    random.Random(seeded("annotation options", name)).shuffle(shuffled)
    return [Label(name=f"option_{number}", says=text) for number, text in enumerate(shuffled, 1)]


def _option_name(options: Iterable[Label], text: str) -> str:
    """Return the name of the first option with this text. Raises StopIteration without one."""
    return next(option.name for option in options if option.says == text)


def _text_without_time(message: Turn | TranscriptMessage) -> str:
    """Return the message text without the line that gives the simulated time."""
    return message.text.removeprefix(f"[Current Time: {message.sent_at}]\n")
