"""What must hold of generated questions about preferences, moods and recommendations, as data.

What holds of all that is generated, such as that evidence is all that tells the answer, is generated.py. It blocks:
where evidence names what is to be reflected on, or tells of something else, it is no reflective memory that is scored.
"""

import json
from collections import defaultdict
from collections.abc import Collection, Sequence

from memflow.benchmarks.membench.checks.generated import where_generated
from memflow.benchmarks.membench.generation.emotion_plans import moods
from memflow.benchmarks.membench.generation.templates import preference_templates
from memflow.benchmarks.membench.generation.vocabulary import Language
from memflow.benchmarks.membench.kinds import EMOTION, KINDS
from memflow.benchmarks.membench.turns import is_noise, scenario_of
from memflow.benchmarks.membench.wording import says, unstamped
from memflow.checks.rules import AcrossTables, Expectation, Rule
from memflow.records import Entity, Probe, Turn

PREFERENCES = ("highlevel", "highlevel_rec")
"""The kinds of questions about what is liked best, or about a mood."""


def naming_what_they_tell(probes: Sequence[Probe], turns: Sequence[Turn]) -> list[int]:
    """Questions whose evidence says the preference or the mood that is asked for."""
    said = {turn.message_id: unstamped(turn.text) for turn in turns}
    return [
        at
        for at, probe in _asked(probes, PREFERENCES)
        for words in [_naming(probe)]
        if any(says(said.get(message, ""), word) for message in probe.evidence for word in words)
    ]


def resting_on_another(probes: Sequence[Probe], turns: Sequence[Turn]) -> list[int]:
    """Questions with evidence of another category or mood than the one that is asked for, or of none."""
    told = {turn.message_id: json.loads(turn.exposes or "{}") for turn in turns}

    def shown(probe: Probe) -> set[str | None]:
        name = "value" if scenario_of(probe.episode_id) == EMOTION else "category"
        return {told.get(message, {}).get(name) for message in probe.evidence}

    return [at for at, probe in _asked(probes, PREFERENCES) if shown(probe) != {probe.revealed}]


def not_naming_what_is_liked(probes: Sequence[Probe], turns: Sequence[Turn]) -> list[int]:
    """Questions whose evidence does not say the item that it is to tell of."""
    said = {turn.message_id: turn for turn in turns}

    def names(message: str) -> bool:
        turn = said.get(message)
        item = json.loads((turn and turn.exposes) or "{}").get("value", "")
        return turn is not None and item.casefold() in unstamped(turn.text).casefold()

    return [
        at
        for at, probe in _asked(probes, PREFERENCES)
        if scenario_of(probe.episode_id) != EMOTION and not all(map(names, probe.evidence))
    ]


def not_liked_by_the_user(probes: Sequence[Probe], entities: Sequence[Entity]) -> list[int]:
    """Questions whose answer is not what the user's graph says that they like best."""
    likes = {entity.user_id: json.loads(entity.attributes) for entity in entities if entity.kind == "self"}
    return [
        at
        for at, probe in _asked(probes, PREFERENCES)
        for user_id, _, scenario, _ in [probe.episode_id.rsplit("/", 3)]
        if scenario != EMOTION and likes.get(user_id, {}).get(scenario) != probe.revealed
    ]


def without_all_that_was_recommended(probes: Sequence[Probe], turns: Sequence[Turn]) -> list[int]:
    """Questions about recommendations whose answer is not all that was recommended, each once, in order; or whose
    evidence is not where it was."""
    held: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for turn in turns:
        told = json.loads(turn.exposes or "{}")
        if told.get("attribute") == "recommended" and not is_noise(turn.message_id):
            held[turn.episode_id].append((turn.message_id, told["value"]))
    return [
        at
        for at, probe in _asked(
            probes, tuple(name for name, kind in KINDS.items() if kind.told_by == "assistant")
        )
        for told in [held[probe.episode_id]]
        for items in [[item for _, item in told]]
        if [message for message, _ in told] != probe.evidence
        or len(set(items)) < len(items)
        or preference_templates(_language(probe)).comma.join(items) != probe.revealed
    ]


def _naming(probe: Probe) -> tuple[str, ...]:
    """The words that say what is asked for."""
    if scenario_of(probe.episode_id) != EMOTION:
        return (probe.revealed,)
    held = {mood.mood: mood.named for mood in moods(_language(probe)).moods}
    return (probe.revealed, *held.get(probe.revealed, ()))


def _language(probe: Probe) -> Language:
    return "zh" if probe.language == "zh" else "en"


def _asked(probes: Sequence[Probe], kinds: Collection[str]) -> list[tuple[int, Probe]]:
    """The questions of these kinds that are not quarantined, with their positions."""
    return [
        (at, probe) for at, probe in enumerate(probes) if probe.reason is None and probe.category in kinds
    ]


_TOLD, _GRAPHS = ("question.probes", "utterance.turns"), ("question.probes", "state.entities")
_MUST: dict[str, Rule] = {
    "evidence_names_no_preference_and_no_mood_that_is_asked_for": AcrossTables(_TOLD, naming_what_they_tell),
    "evidence_is_of_the_category_or_mood_that_is_asked_for": AcrossTables(_TOLD, resting_on_another),
    "evidence_of_preferences_says_what_is_liked": AcrossTables(_TOLD, not_naming_what_is_liked),
    "preferences_that_are_asked_for_are_the_users": AcrossTables(_GRAPHS, not_liked_by_the_user),
    "recommendations_that_are_asked_for_are_all_there_were": AcrossTables(
        _TOLD, without_all_that_was_recommended
    ),
}

EXPECTED: tuple[Expectation, ...] = tuple(
    Expectation("question.probes", name, where_generated(rule)) for name, rule in _MUST.items()
)
"""What is expected of generated questions that ask to reflect, or for what was recommended."""
