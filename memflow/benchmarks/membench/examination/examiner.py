"""Examination of probes: the gold must be the only right option, and the evidence must suffice for it."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from memflow.benchmarks.membench.examination.gold import ContradictionError, FaultyError, Gold, UnreadError
from memflow.benchmarks.membench.examination.solver import solve
from memflow.benchmarks.membench.examination.statements import Message, read_messages, read_statements
from memflow.benchmarks.membench.generation.vocabulary import Language
from memflow.benchmarks.membench.turns import is_noise
from memflow.records import Probe, Turn

Outcome = Literal["right", "wrong", "not examined"]


@dataclass(frozen=True)
class Examination:
    """The outcome of examining a probe, and the reason if the gold is wrong or not examined."""

    outcome: Outcome
    reason: str = ""


def examine(probes: Sequence[Probe], turns: Iterable[Turn]) -> list[Examination]:
    """Return the examination of each probe, in order. Quarantined probes are not examined."""
    by_episode: dict[str, list[Turn]] = defaultdict(list)
    for turn in turns:
        if not is_noise(turn.message_id):
            by_episode[turn.episode_id].append(turn)
    return [_examine_probe(probe, by_episode[probe.episode_id]) for probe in probes]


def _examine_probe(probe: Probe, turns: Sequence[Turn]) -> Examination:
    if probe.reason is not None:
        return Examination("not examined", "the probe is quarantined")
    language: Language = "zh" if probe.language == "zh" else "en"
    messages = read_messages(turns, language)
    stated = f"gold {probe.revealed!r}"
    try:
        gold = solve(probe.question, read_statements(messages, language))
    except UnreadError as unread:
        return Examination("not examined", str(unread))
    except FaultyError as faulty:
        if isinstance(faulty, ContradictionError) and probe.category == "knowledge_update":
            return Examination("not examined", f"no correction is read: {faulty}")
        return Examination("wrong", f"{stated}: {faulty}")
    found = f"recomputed {gold.text!r} from {', '.join(gold.messages)}"
    if reason := _wrong_options(probe, gold):
        return Examination("wrong", f"{stated}, {found}: {reason}")
    return _examine_evidence(probe, messages, gold, f"{stated}, {found}")


def _wrong_options(probe: Probe, gold: Gold) -> str | None:
    """Return the reason why the gold is not the only right option of a probe, or None if no other option is right."""
    at = int(probe.gold) - 1 if probe.gold.isdigit() else -1
    right = [place for place, option in enumerate(probe.options) if gold.is_right(option.strip())]
    if not gold.is_right(probe.revealed) or at not in right:
        return "the gold is wrong"
    if len(right) > 1:
        return f"the options {' and '.join(repr(probe.options[place]) for place in right)} are right"
    if other := next((option for option in probe.options if gold.other_readings(option)), None):
        return f"the option {other!r} is another reading of the messages"
    return None


def _examine_evidence(probe: Probe, messages: Sequence[Message], gold: Gold, found: str) -> Examination:
    """Examine whether the evidence messages alone determine the gold."""
    language: Language = "zh" if probe.language == "zh" else "en"
    evidence = [message for message in messages if message.message_id in probe.evidence]
    missing = [each for each in gold.messages if each not in probe.evidence]
    if gold.all_required and missing:
        return Examination("wrong", f"{found}: the evidence lacks {', '.join(missing)}")
    try:
        alone = solve(probe.question, read_statements(evidence, language))
        if alone.is_right(probe.revealed):
            return Examination("right")
        return Examination("wrong", f"{found}: the evidence alone gives {alone.text!r}")
    except FaultyError as faulty:
        return Examination("wrong", f"{found}: the evidence alone determines no answer: {faulty}")
    except UnreadError as unread:
        if missing:
            return Examination("wrong", f"{found}: the evidence lacks {', '.join(missing)}")
        return Examination("not examined", f"the evidence alone: {unread}")
