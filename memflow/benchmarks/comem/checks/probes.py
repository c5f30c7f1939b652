"""What must hold of what is asked: against the keys, and against what had been said by then, as data.

Whoever makes probes from keys can keep all of it, so it blocks.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence

from memflow.benchmarks.comem.annotation.labels import by_question, final
from memflow.benchmarks.comem.checks.rows import (
    KEYS,
    PROBES,
    TURNS,
    Places,
    by_parameters,
    dropped,
)
from memflow.benchmarks.comem.config import UNKNOWN, Parameters
from memflow.benchmarks.comem.contexts import unknowing
from memflow.checks.rules import Across, Each, Expectation, Rule, Together
from memflow.records import GoldLabel, Probe, Turn


def asked_though_dropped(probes: Sequence[Probe], keys: Sequence[GoldLabel]) -> list[int]:
    """Probes of questions that curation dropped."""
    gone = dropped(keys)
    return [at for at, probe in enumerate(probes) if probe.question_id in gone]


def not_asked(keys: Sequence[GoldLabel], probes: Sequence[Probe]) -> list[int]:
    """Keys of questions that were kept, and that are not asked."""
    gone, asked = dropped(keys), {probe.question_id for probe in probes}
    return [at for at, key in enumerate(keys) if key.question_id not in {*gone, *asked}]


def asked_without_a_key(probes: Sequence[Probe], keys: Sequence[GoldLabel]) -> list[int]:
    """Sound probes at a checkpoint but 0 at which nobody said what is right."""
    known = {(key.question_id, key.checkpoint) for key in keys if key.answer is not None}
    return [
        at
        for at, probe in enumerate(probes)
        if probe.reason is None and probe.checkpoint and (probe.question_id, probe.checkpoint) not in known
    ]


def not_at_every_checkpoint(parameters: Parameters) -> Rule:
    """Every question is asked at checkpoint 0 and at each of the others."""
    due = set(range(len(parameters.checkpoints) + 1))

    def at_fault(probes: Sequence[Probe]) -> list[int]:
        asked: dict[str | None, set[int]] = defaultdict(set)
        for probe in probes:
            asked[probe.question_id].add(probe.checkpoint)
        return [at for at, probe in enumerate(probes) if asked[probe.question_id] != due]

    return Together(at_fault)


def with_other_options(probes: Sequence[Probe]) -> list[int]:
    """Probes that do not ask what their question asks elsewhere, or not with its options in its order."""
    asked: dict[str | None, set[tuple[str, ...]]] = defaultdict(set)
    for probe in probes:
        asked[probe.question_id].add((probe.question, *probe.options))
    return [at for at, probe in enumerate(probes) if len(asked[probe.question_id]) > 1]


def not_as_keyed(parameters: Parameters) -> Rule:
    """The gold is the last word at the checkpoint; at checkpoint 0, at the one whose key grades guesses."""
    guess = 1 if parameters.guess_key == "first" else len(parameters.checkpoints)

    def at_fault(probes: Sequence[Probe], keys: Sequence[GoldLabel]) -> list[int]:
        last = {question: final(rows) for question, rows in by_question(keys).items()}
        return [
            at
            for at, probe in enumerate(probes)
            if probe.reason is None
            and probe.gold != _gold(probe, last.get(probe.question_id or "", {}), probe.checkpoint or guess)
        ]

    return Across((PROBES, KEYS), at_fault)


def _gold(probe: Probe, keys: Mapping[int, GoldLabel], checkpoint: int) -> str | None:
    answer = keys[checkpoint].answer if checkpoint in keys else None
    return str(unknowing(probe.options)) if answer == UNKNOWN else answer


def naming_no_option(keys: Sequence[GoldLabel], probes: Sequence[Probe]) -> list[int]:
    """Keys, whosesoever, that name an option which their question does not have."""
    numbers = {probe.question_id: {str(1 + at) for at in range(len(probe.options))} for probe in probes}
    return [
        at
        for at, key in enumerate(keys)
        if key.question_id in numbers and key.answer not in (None, UNKNOWN, *numbers[key.question_id])
    ]


def asked_at_another_time(
    probes: Sequence[Probe], keys: Sequence[GoldLabel], turns: Sequence[Turn]
) -> list[int]:
    """Probes that are asked after more or fewer messages than their key was made from."""
    seen: dict[tuple[str | None, int], int] = {(key.question_id, key.checkpoint): key.visible for key in keys}
    places = Places(turns)
    return [
        at
        for at, probe in enumerate(probes)
        if (probe.question_id, probe.checkpoint) in seen
        and places.asked_after(probe) != seen[probe.question_id, probe.checkpoint]
    ]


def resting_on_what_comes_later(probes: Sequence[Probe], turns: Sequence[Turn]) -> list[int]:
    """Probes whose evidence has not been said in their episode when they are asked, or is quarantined."""
    places = Places(turns)
    lost = {turn.message_id for turn in turns if turn.reason is not None}

    def is_said(probe: Probe, message: str, by: int) -> bool:
        place = places.place(probe.episode_id, message)
        return message not in lost and place is not None and place < by

    return [
        at
        for at, probe in enumerate(probes)
        if probe.reason is None
        and not all(is_said(probe, message, places.asked_after(probe) or 0) for message in probe.evidence)
    ]


def knowing_of_nothing(keys: Sequence[GoldLabel], probes: Sequence[Probe]) -> Collection[int]:
    """Keys by rule that know an answer where nothing was said: a rule knows what was said alone."""
    untold = {probe.question_id: unknowing(probe.options) for probe in probes}
    return [
        at
        for at, key in enumerate(keys)
        if key.made_by == "rule"
        and not key.visible
        and key.answer not in (None, UNKNOWN, str(untold.get(key.question_id)))
    ]


def _tells_nothing_at_0(probe: Probe) -> bool:
    return probe.checkpoint > 0 or not (probe.revealed or probe.evidence)


_MUST: dict[str, Rule] = {
    "dropped_questions_are_not_asked": Across((PROBES, KEYS), asked_though_dropped),
    "questions_that_are_kept_are_asked": Across((KEYS, PROBES), not_asked),
    "what_is_asked_has_a_key": Across((PROBES, KEYS), asked_without_a_key),
    "questions_are_asked_at_every_checkpoint": by_parameters(not_at_every_checkpoint),
    "options_stay_the_same_at_every_checkpoint": Together(with_other_options),
    "gold_is_the_last_word_among_the_keys": by_parameters(not_as_keyed),
    "keys_are_options_that_there_are": Across((KEYS, PROBES), naming_no_option),
    "questions_are_asked_after_what_their_key_was_made_from": Across(
        (PROBES, KEYS, TURNS), asked_at_another_time
    ),
    "evidence_has_been_said_when_it_is_asked_for": Across((PROBES, TURNS), resting_on_what_comes_later),
    "rules_know_nothing_of_nothing": Across((KEYS, PROBES), knowing_of_nothing),
    "nothing_is_revealed_before_anything_is_said": Each(_tells_nothing_at_0),
}

EXPECTED = tuple(Expectation(PROBES, name, rule) for name, rule in _MUST.items())
"""What is expected of what is asked."""
