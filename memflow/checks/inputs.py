"""What must hold of the tables that a domain has before any memory is measured on it: raw to feedback; and of feedback
that is given while one is.

Rules about content pass over quarantined rows: those have said why they are no good.
"""

import datetime
import json
from collections import Counter, defaultdict
from collections.abc import Sequence

from memflow.benchmarks.domains import Domain
from memflow.checks.rules import (
    Between,
    Each,
    Expectation,
    OneOf,
    PerDomain,
    Refers,
    Rule,
    Together,
    Unique,
    sound,
)
from memflow.records import FeedbackRound, PlayedRound, Probe


def _day(text: str) -> bool:
    try:
        return datetime.date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def _json(text: str, kind: type = object) -> bool:
    try:
        return isinstance(json.loads(text), kind)
    except ValueError:
        return False


def _gold_is_an_option(probe: Probe) -> bool:
    """The gold is an option's number, and no other option says the same."""
    if probe.kind != "choice":
        return True
    if not (probe.gold.isascii() and probe.gold.isdigit() and 1 <= int(probe.gold) <= len(probe.options)):
        return False
    said = [option.strip() for option in probe.options]
    return said.count(said[int(probe.gold) - 1]) == 1


def _gold_is_given(probe: Probe) -> bool:
    return _json(probe.gold, dict) if probe.kind == "state" else bool(probe.gold.strip())


def _unbalanced(probes: Sequence[Probe]) -> set[int]:
    """Choice probes whose gold stands where gold stands too often: 3 standard errors above an even share."""
    places: dict[int, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    seen: set[tuple[str, str, str, tuple[str, ...]]] = set()
    for position, probe in enumerate(probes):
        asked = probe.episode_id, probe.question, probe.gold, tuple(probe.options)
        if asked in seen:  # The same question at another checkpoint is no other draw.
            continue
        seen.add(asked)
        if probe.kind == "choice" and probe.reason is None:
            places[len(probe.options)][probe.gold].append(position)
    found: set[int] = set()
    for options, held in places.items():
        n = sum(map(len, held.values()))
        even = 1 / options if options else 1.0
        bound = even + 3 * (even * (1 - even) / n) ** 0.5
        found.update(
            position for held_at in held.values() if len(held_at) / n > bound for position in held_at
        )
    return found


def _asked_in_training(probes: Sequence[Probe]) -> list[int]:
    def asked(probe: Probe) -> tuple[str, str, str]:
        return probe.dataset, probe.episode_id, probe.question.strip()

    trained = {asked(probe) for probe in probes if probe.split == "train"}
    return [at for at, probe in enumerate(probes) if probe.split == "test" and asked(probe) in trained]


def _out_of_turn(rounds: Sequence[FeedbackRound]) -> list[int]:
    """Rounds that are not the one after the last of their dialogue."""
    seen: Counter[tuple[str, int]] = Counter()
    found = []
    for at, round_ in sorted(enumerate(rounds), key=lambda each: each[1].round):
        dialogue = round_.case_id, round_.checkpoint if isinstance(round_, PlayedRound) else 0
        if round_.round != seen[dialogue]:
            found.append(at)
        seen[dialogue] += 1
    return sorted(found)


def _disjoint(domain: Domain) -> Rule | None:
    """The protocols `training` and `same` ask training cases again as test probes."""
    again = domain.parameters.get("protocol") in ("training", "same")
    return None if again else Together(_asked_in_training)


def _rounds(table: str) -> list[Expectation]:
    """What is expected of dialogues with simulated users, whoever answered in them."""
    return [
        Expectation(table, "rounds_follow_each_other", Together(_out_of_turn)),
        Expectation(table, "satisfaction_is_from_1_to_10", Between("satisfaction", 1, 10)),
        Expectation(table, "nobody_likes_and_dislikes", Each(lambda row: not (row.liked and row.disliked))),
        Expectation(table, "cases_are_probes", Refers(("case_id",), "question.probes", ("probe_id",))),
    ]


ROLES = ("user", "assistant")
ENTITIES = ("self", "relative", "colleague", "work_event", "rest_event", "item", "place")

EXPECTED = (
    Expectation("raw.records", "records_are_json", Each(lambda row: _json(row.content))),
    Expectation(
        "raw.records",
        "records_say_where_they_come_from",
        Each(lambda row: bool(row.source and row.sha256 and row.licence and row.origin)),
    ),
    Expectation("state.profiles", "users_have_a_name", sound(lambda row: bool(row.name.strip()))),
    Expectation("state.profiles", "start_dates_are_days", sound(lambda row: _day(row.start_date))),
    Expectation(
        "state.variables", "variables_are_of_a_user", Refers(("user_id",), "state.profiles", ("user_id",))
    ),
    Expectation(
        "state.variables",
        "variables_have_several_choices",
        Each(lambda row: len(row.choices) >= 2 and len(set(row.choices)) == len(row.choices)),
    ),
    Expectation(
        "state.changes",
        "values_are_choices_of_their_variable",
        Refers(("user_id", "variable", "value"), "state.variables", ("user_id", "variable", "choices")),
    ),
    Expectation("state.changes", "changes_change_something", Each(lambda row: row.old != row.value)),
    Expectation("state.changes", "periods_end_on_a_day", Each(lambda row: _day(row.period_end))),
    Expectation(
        "state.entities", "entities_are_of_a_user", Refers(("user_id",), "state.profiles", ("user_id",))
    ),
    Expectation("state.entities", "entities_are_of_a_known_kind", OneOf("kind", ENTITIES)),
    Expectation("state.entities", "attributes_are_json", Each(lambda row: _json(row.attributes, dict))),
    Expectation("utterance.turns", "messages_stand_in_an_order", Unique(("episode_id", "event", "position"))),
    Expectation("utterance.turns", "messages_are_said_by_a_role", OneOf("role", ROLES)),
    Expectation("utterance.turns", "messages_are_exchanged_or_given", OneOf("kind", ("exchange", "given"))),
    Expectation("utterance.turns", "messages_say_something", sound(lambda row: bool(row.text.strip()))),
    Expectation("question.probes", "probes_are_of_a_known_kind", OneOf("kind", ("choice", "open", "state"))),
    Expectation("question.probes", "probes_are_for_test_or_training", OneOf("split", ("test", "train"))),
    Expectation("question.probes", "questions_say_something", sound(lambda row: bool(row.question.strip()))),
    Expectation("question.probes", "gold_is_given", sound(_gold_is_given)),
    Expectation("question.probes", "gold_is_among_the_options_once", sound(_gold_is_an_option)),
    Expectation("question.probes", "gold_stands_at_every_place_alike", Together(_unbalanced), "warn"),
    # A warning: LoCoMo itself asks some questions twice.
    Expectation("question.probes", "training_and_test_are_disjoint", PerDomain(_disjoint), "warn"),
    Expectation(
        "question.probes", "parents_are_probes", Refers(("parent",), "question.probes", ("probe_id",))
    ),
    Expectation(
        "question.probes",
        "evidence_is_in_the_stream",
        Refers(("evidence",), "utterance.turns", ("message_id",), besides="feedback/"),
        "warn",
    ),
    *_rounds("feedback.sessions"),
    *_rounds("memory.feedback"),
)
