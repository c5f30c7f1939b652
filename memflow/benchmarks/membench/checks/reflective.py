"""Blocking checks of generated questions about preferences and moods.

A question does not measure reflective memory if its evidence contains the answer or lacks the liked item.
"""

import json
from collections.abc import Iterator, Sequence

from memflow.benchmarks.membench.checks.generated import if_generated
from memflow.benchmarks.membench.generation.emotion_plans import emotion_templates
from memflow.benchmarks.membench.generation.vocabulary import Language
from memflow.benchmarks.membench.kinds import EMOTION
from memflow.benchmarks.membench.turns import scenario_of
from memflow.benchmarks.membench.wording import contains_word, strip_stamp
from memflow.checks.rules import AcrossTables, Rule, expect
from memflow.records import Probe, Turn

PREFERENCES = ("highlevel", "highlevel_rec")
"""Question kinds about preferences and moods."""


def find_named_answers(probes: Sequence[Probe], turns: Sequence[Turn]) -> list[int]:
    """Return the positions of probes whose evidence contains the name of the preference or mood in question."""
    said = {turn.message_id: strip_stamp(turn.text) for turn in turns}
    return [
        at
        for at, probe in _preferences(probes)
        for words in [_answer_words(probe)]
        if any(contains_word(said.get(message, ""), word) for message in probe.evidence for word in words)
    ]


def find_evidence_without_item(probes: Sequence[Probe], turns: Sequence[Turn]) -> list[int]:
    """Return the positions of probes with evidence that does not contain its liked item."""
    said = {turn.message_id: turn for turn in turns}

    def names(message: str) -> bool:
        turn = said.get(message)
        item = json.loads((turn and turn.exposes) or "{}").get("value", "")
        return turn is not None and item.casefold() in strip_stamp(turn.text).casefold()

    return [
        at
        for at, probe in _preferences(probes)
        if scenario_of(probe.episode_id) != EMOTION and not all(map(names, probe.evidence))
    ]


def _answer_words(probe: Probe) -> tuple[str, ...]:
    """Return the words that would reveal the answer of a probe: the answer and, for a mood, other names of the mood."""
    if scenario_of(probe.episode_id) != EMOTION:
        return (probe.revealed,)
    named = {mood.mood: mood.named for mood in emotion_templates(_language(probe)).moods}
    return (probe.revealed, *named.get(probe.revealed, ()))


def _language(probe: Probe) -> Language:
    return "zh" if probe.language == "zh" else "en"


def _preferences(probes: Sequence[Probe]) -> Iterator[tuple[int, Probe]]:
    """Yield (position, probe) for the probes about preferences and moods that are not quarantined."""
    for at, probe in enumerate(probes):
        if probe.reason is None and probe.category in PREFERENCES:
            yield at, probe


_TABLES = ("question.probes", "utterance.turns")
_MUST: dict[str, Rule] = {
    "evidence_does_not_name_answer": AcrossTables(_TABLES, find_named_answers),
    "preference_evidence_contains_liked_item": AcrossTables(_TABLES, find_evidence_without_item),
}

EXPECTED = expect("question.probes", {name: if_generated(rule) for name, rule in _MUST.items()})
"""Checks of the messages that generated questions about preferences and moods rest on."""
