"""Blocking checks of generated questions about preferences, moods and recommendations.

A question does not measure reflective memory if its evidence contains the answer or supports another answer.
"""

import json
from collections import defaultdict
from collections.abc import Collection, Sequence

from memflow.benchmarks.membench.checks.generated import if_generated
from memflow.benchmarks.membench.generation.emotion_plans import emotion_templates
from memflow.benchmarks.membench.generation.templates import preference_templates
from memflow.benchmarks.membench.generation.vocabulary import Language
from memflow.benchmarks.membench.kinds import EMOTION, KINDS
from memflow.benchmarks.membench.turns import is_noise, scenario_of
from memflow.benchmarks.membench.wording import contains_word, strip_stamp
from memflow.checks.rules import AcrossTables, Expectation, Rule
from memflow.records import Entity, Probe, Turn

PREFERENCES = ("highlevel", "highlevel_rec")
"""Question kinds about preferences and moods."""


def find_named_answers(probes: Sequence[Probe], turns: Sequence[Turn]) -> list[int]:
    """Return the positions of probes whose evidence contains the name of the preference or mood in question."""
    said = {turn.message_id: strip_stamp(turn.text) for turn in turns}
    return [
        at
        for at, probe in _select(probes, PREFERENCES)
        for words in [_answer_words(probe)]
        if any(contains_word(said.get(message, ""), word) for message in probe.evidence for word in words)
    ]


def find_mismatched_evidence(probes: Sequence[Probe], turns: Sequence[Turn]) -> list[int]:
    """Return the positions of probes with evidence of a category or mood other than the answer."""
    facts = {turn.message_id: json.loads(turn.exposes or "{}") for turn in turns}
    return [
        at
        for at, probe in _select(probes, PREFERENCES)
        for name in ["value" if scenario_of(probe.episode_id) == EMOTION else "category"]
        if {facts.get(message, {}).get(name) for message in probe.evidence} != {probe.revealed}
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
        for at, probe in _select(probes, PREFERENCES)
        if scenario_of(probe.episode_id) != EMOTION and not all(map(names, probe.evidence))
    ]


def find_gold_not_in_graph(probes: Sequence[Probe], entities: Sequence[Entity]) -> list[int]:
    """Return the positions of probes whose answer differs from the preference in the user's graph."""
    likes = {entity.user_id: json.loads(entity.attributes) for entity in entities if entity.kind == "self"}
    return [
        at
        for at, probe in _select(probes, PREFERENCES)
        for user_id, _, scenario, _ in [probe.episode_id.rsplit("/", 3)]
        if scenario != EMOTION and likes.get(user_id, {}).get(scenario) != probe.revealed
    ]


def find_incomplete_recommendations(probes: Sequence[Probe], turns: Sequence[Turn]) -> list[int]:
    """Return the positions of probes whose answer or evidence is not the list of all recommendations in order."""
    recommended: dict[str, dict[str, str]] = defaultdict(dict)
    for turn in turns:
        fact = json.loads(turn.exposes or "{}")
        if fact.get("attribute") == "recommended" and not is_noise(turn.message_id):
            recommended[turn.episode_id][turn.message_id] = fact["value"]
    kinds = [name for name, kind in KINDS.items() if kind.evidence_role == "assistant"]
    return [
        at
        for at, probe in _select(probes, kinds)
        for items in [list(recommended[probe.episode_id].values())]
        if list(recommended[probe.episode_id]) != probe.evidence
        or len(set(items)) < len(items)
        or preference_templates(_language(probe)).comma.join(items) != probe.revealed
    ]


def _answer_words(probe: Probe) -> tuple[str, ...]:
    """Return the words that would reveal the answer of a probe: the answer and, for a mood, other names of the mood."""
    if scenario_of(probe.episode_id) != EMOTION:
        return (probe.revealed,)
    named = {mood.mood: mood.named for mood in emotion_templates(_language(probe)).moods}
    return (probe.revealed, *named.get(probe.revealed, ()))


def _language(probe: Probe) -> Language:
    return "zh" if probe.language == "zh" else "en"


def _select(probes: Sequence[Probe], kinds: Collection[str]) -> list[tuple[int, Probe]]:
    """Yield (position, probe) for the probes of these kinds that are not quarantined."""
    return [
        (at, probe) for at, probe in enumerate(probes) if probe.reason is None and probe.category in kinds
    ]


_TOLD, _GRAPHS = ("question.probes", "utterance.turns"), ("question.probes", "state.entities")
_MUST: dict[str, Rule] = {
    "evidence_does_not_name_answer": AcrossTables(_TOLD, find_named_answers),
    "evidence_matches_gold_category_or_mood": AcrossTables(_TOLD, find_mismatched_evidence),
    "preference_evidence_contains_liked_item": AcrossTables(_TOLD, find_evidence_without_item),
    "preference_gold_matches_user_graph": AcrossTables(_GRAPHS, find_gold_not_in_graph),
    "recommendation_gold_lists_all_recommended_items": AcrossTables(_TOLD, find_incomplete_recommendations),
}

EXPECTED: tuple[Expectation, ...] = tuple(
    Expectation("question.probes", name, if_generated(rule)) for name, rule in _MUST.items()
)
"""Checks of generated reflective and recommendation questions."""
