"""What must hold of every table, as data: a sentence, a rule, and how bad it is when it does not.

How a rule is tested is resources/expectations.py; when, and what a failure stops, is assets/checks.py. Rules
about content pass over quarantined rows: those have said why they are no good.
"""

import datetime
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from memflow.board import unequal
from memflow.memories.memory import FAILURE
from memflow.records import (
    KEYS,
    TABLES,
    Attributed,
    FeedbackRound,
    Figure,
    Policy,
    Probe,
    columns,
)

QUARANTINED = 0.1
"""Share of quarantined rows from which on a table is worth a warning."""


@dataclass(frozen=True)
class Unique:
    """No two rows have the same values in `columns`."""

    columns: tuple[str, ...]


@dataclass(frozen=True)
class Filled:
    """No row is null in any of `columns`."""

    columns: tuple[str, ...]


@dataclass(frozen=True)
class OneOf:
    """`column`, where it is not null, is one of `values`."""

    column: str
    values: tuple[str, ...]


@dataclass(frozen=True)
class Between:
    """`column`, where it is not null, lies between `low` and `high`, both included."""

    column: str
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Rows:
    """The table has at least so many rows."""

    at_least: int = 1


@dataclass(frozen=True)
class Refers:
    """The values of `columns`, where none is null, are to be found in `others` of `table`.

    A list stands for each of its items, on either side. Values that begin with `besides` refer to what is made later.
    """

    columns: tuple[str, ...]
    table: str
    others: tuple[str, ...]
    besides: str | None = None


@dataclass(frozen=True)
class Covers:
    """Every row of `table` for which `only` holds has a row here with the same values in `columns`."""

    columns: tuple[str, ...]
    table: str
    only: Callable[[Any], bool] = lambda row: True


@dataclass(frozen=True)
class Each:
    """`holds` of every row, or of all but a share `but`."""

    holds: Callable[[Any], bool]
    but: float = 0.0


@dataclass(frozen=True)
class Together:
    """`at_fault` finds no row among all of them: it gives the positions of those that it finds."""

    at_fault: Callable[[Sequence[Any]], Collection[int]]


Rule = Unique | Filled | OneOf | Between | Rows | Refers | Covers | Each | Together


@dataclass(frozen=True)
class Expectation:
    """What should hold of a table. `name` is the sentence; an `error` blocks what builds on the partition."""

    table: str
    name: str
    rule: Rule
    severity: Literal["error", "warn"] = "error"

    @property
    def description(self) -> str:
        """The sentence in words, and whether it blocks."""
        sentence = self.name.replace("_", " ").capitalize()
        blocks = (
            "Blocks what is built on the partition."
            if self.severity == "error"
            else "Warns, and blocks nothing."
        )
        return f"{sentence}. {blocks}"


def _sound(holds: Callable[[Any], bool]) -> Each:
    """`holds` of every row that is not quarantined."""
    return Each(lambda row: row.reason is not None or holds(row))


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
    for position, probe in enumerate(probes):
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
    """Rounds that are not the one after the case's last."""
    seen: Counter[str] = Counter()
    found = []
    for at, round_ in sorted(enumerate(rounds), key=lambda each: (each[1].case_id, each[1].round)):
        if round_.round != seen[round_.case_id]:
            found.append(at)
        seen[round_.case_id] += 1
    return sorted(found)


def _out_of_step(policies: Sequence[Policy]) -> list[int]:
    """Steps that are not the one after their episode's last."""
    seen: Counter[str] = Counter()
    found = []
    for at, step in sorted(enumerate(policies), key=lambda each: (each[1].episode_id, each[1].step)):
        if step.step != seen[step.episode_id]:
            found.append(at)
        seen[step.episode_id] += 1
    return sorted(found)


def _several_simulators(figures: Sequence[Figure]) -> list[int]:
    """Figures of a domain whose simulator is not the one behind most of the domain's figures."""
    behind: dict[str, Counter[str]] = defaultdict(Counter)
    for figure in figures:
        behind[figure.domain][figure.simulator] += 1
    most = {
        domain: min(held.items(), key=lambda one: (-one[1], one[0]))[0] for domain, held in behind.items()
    }
    return [at for at, figure in enumerate(figures) if figure.simulator != most[figure.domain]]


def _adds_up(row: Attributed) -> bool:
    if row.loss is None or row.write is None or row.read is None or row.utilisation is None:
        return False
    return abs(row.write + row.read + row.utilisation - row.loss) < 1e-9


def _hidden_terms(figures: Sequence[Figure]) -> list[int]:
    """Figures whose terms differ from others' in their comparison, and that do not say so."""
    return [at for at, said in enumerate(unequal(figures)) if said != figures[at].unequal]


def _mixed(figures: Sequence[Figure]) -> list[int]:
    """Figures that were answered with another version of a prompt, or of the model, than others beside them."""
    return [
        at for at, said in enumerate(unequal(figures)) if said and ("prompt " in said or "model " in said)
    ]


def _interval_holds(figure: Figure) -> bool:
    if figure.value is None or figure.low is None or figure.high is None:
        return True
    return figure.low <= figure.value <= figure.high


def _given(table: str) -> tuple[str, ...]:
    return tuple(column.name for column in columns(table) if not column.nullable)


_WHAT = {
    "raw.records": "records",
    "state.profiles": "users",
    "state.variables": "variables",
    "state.changes": "changes",
    "utterance.turns": "messages",
    "question.probes": "probes",
    "feedback.sessions": "rounds",
    "memory.transcripts": "messages",
    "memory.indexes": "entries",
    "memory.policies": "policies",
    "answer.replies": "replies",
    "score.verdicts": "verdicts",
    "score.attributions": "attributions",
    "score.claims": "claims",
    "score.leaderboard": "figures",
}
"""What the rows of a table are called in sentences."""

SCORES = ("verdicts", "attributions", "leaderboard")

UNQUARANTINED = ("score.attributions", "score.leaderboard")
"""Tables whose rows may have a reason without anything being wrong: not every probe has evidence to follow."""


def _of_every_table() -> list[Expectation]:
    found = []
    for table, what in _WHAT.items():
        found.append(Expectation(table, f"{what}_are_unique", Unique(KEYS[table])))
        found.append(Expectation(table, f"{what}_lack_no_required_column", Filled(_given(table))))
        if "reason" in {column.name for column in columns(table)} and table not in UNQUARANTINED:
            few = Each(lambda row: row.reason is None, but=QUARANTINED)
            found.append(Expectation(table, f"few_{what}_are_quarantined", few, "warn"))
    never_empty = ("raw.records", "question.probes", "answer.replies", *(f"score.{name}" for name in SCORES))
    found += [Expectation(table, f"there_are_{_WHAT[table]}", Rows()) for table in never_empty]
    return found


def _of_one_table() -> list[Expectation]:
    roles = ("user", "assistant")
    return [
        Expectation("raw.records", "records_are_json", Each(lambda row: _json(row.content))),
        Expectation(
            "raw.records",
            "records_say_where_they_come_from",
            Each(lambda row: bool(row.source and row.sha256 and row.licence and row.origin)),
        ),
        Expectation("state.profiles", "users_have_a_name", _sound(lambda row: bool(row.name.strip()))),
        Expectation("state.profiles", "start_dates_are_days", _sound(lambda row: _day(row.start_date))),
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
            "utterance.turns", "messages_stand_in_an_order", Unique(("episode_id", "event", "position"))
        ),
        Expectation("utterance.turns", "messages_are_said_by_a_role", OneOf("role", roles)),
        Expectation(
            "utterance.turns", "messages_are_exchanged_or_given", OneOf("kind", ("exchange", "given"))
        ),
        Expectation("utterance.turns", "messages_say_something", _sound(lambda row: bool(row.text.strip()))),
        Expectation(
            "question.probes", "probes_are_of_a_known_kind", OneOf("kind", ("choice", "open", "state"))
        ),
        Expectation("question.probes", "probes_are_for_test_or_training", OneOf("split", ("test", "train"))),
        Expectation(
            "question.probes", "questions_say_something", _sound(lambda row: bool(row.question.strip()))
        ),
        Expectation("question.probes", "gold_is_given", _sound(_gold_is_given)),
        Expectation("question.probes", "gold_is_among_the_options_once", _sound(_gold_is_an_option)),
        Expectation("question.probes", "gold_stands_at_every_place_alike", Together(_unbalanced), "warn"),
        # A warning: LoCoMo itself asks some questions twice.
        Expectation(
            "question.probes", "training_and_test_are_disjoint", Together(_asked_in_training), "warn"
        ),
        Expectation(
            "question.probes", "parents_are_probes", Refers(("parent",), "question.probes", ("probe_id",))
        ),
        Expectation(
            "question.probes",
            "evidence_is_in_the_stream",
            Refers(("evidence",), "utterance.turns", ("message_id",), besides="feedback/"),
            "warn",
        ),
        Expectation("feedback.sessions", "rounds_follow_each_other", Together(_out_of_turn)),
        Expectation("feedback.sessions", "satisfaction_is_from_1_to_10", Between("satisfaction", 1, 10)),
        Expectation(
            "feedback.sessions",
            "nobody_likes_and_dislikes",
            Each(lambda row: not (row.liked and row.disliked)),
        ),
        Expectation(
            "feedback.sessions", "cases_are_probes", Refers(("case_id",), "question.probes", ("probe_id",))
        ),
        Expectation("memory.transcripts", "messages_are_said_by_a_role", OneOf("role", roles)),
        Expectation(
            "memory.transcripts",
            "messages_have_a_known_origin",
            OneOf("origin", ("given", "assistant", "simulator")),
        ),
        Expectation("memory.transcripts", "ticks_count_from_0", Between("tick", 0)),
        Expectation(
            "memory.indexes",
            "entries_live_before_they_retire",
            Each(lambda row: row.until is None or row.since <= row.until),
        ),
        Expectation(
            "memory.indexes", "sources_were_said", Refers(("sources",), "memory.transcripts", ("message_id",))
        ),
        Expectation(
            "memory.indexes",
            "few_writes_failed",
            Each(lambda row: row.kind != FAILURE, but=QUARANTINED),
            "warn",
        ),
        Expectation("memory.policies", "policies_keep_something", Each(lambda row: bool(row.kinds))),
        Expectation("memory.policies", "steps_follow_each_other", Together(_out_of_step)),
        Expectation(
            "memory.policies",
            "no_more_is_correct_than_was_asked",
            Each(lambda row: 0 <= row.correct <= row.answered <= row.asked),
        ),
        Expectation(
            "answer.replies",
            "every_probe_has_a_reply",
            Covers(("probe_id",), "question.probes", lambda row: row.split == "test"),
        ),
        Expectation(
            "answer.replies", "replies_are_to_probes", Refers(("probe_id",), "question.probes", ("probe_id",))
        ),
        Expectation(
            "answer.replies",
            "recalled_entries_are_held",
            Refers(("episode_id", "recalled"), "memory.indexes", ("episode_id", "entry_id")),
        ),
        Expectation(
            "answer.replies",
            "unread_answers_say_why",
            Each(lambda row: row.parsed is not None or row.reason is not None),
        ),
        Expectation("score.verdicts", "every_reply_has_a_verdict", Covers(("probe_id",), "answer.replies")),
        Expectation(
            "score.verdicts",
            "verdicts_are_of_replies",
            Refers(("probe_id",), "answer.replies", ("probe_id",)),
        ),
        Expectation("score.verdicts", "values_lie_in_the_unit_interval", Between("value", 0, 1)),
        Expectation(
            "score.verdicts",
            "verdicts_have_a_value_or_a_reason",
            Each(lambda row: (row.value is None) == (row.reason is not None)),
        ),
        Expectation(
            "score.attributions",
            "attributions_are_of_verdicts",
            Refers(("probe_id",), "score.verdicts", ("probe_id",)),
        ),
        Expectation("score.attributions", "failures_add_up_to_the_loss", _sound(_adds_up)),
        Expectation(
            "score.attributions",
            "what_is_recalled_was_held",
            _sound(lambda row: row.recalled <= row.held <= row.evidence),
        ),
        Expectation("score.claims", "claims_are_found_or_not", Each(lambda row: row.value in (None, 0, 1))),
        Expectation(
            "score.claims",
            "claims_have_a_value_or_a_reason",
            Each(lambda row: (row.value is None) == (row.reason is not None)),
        ),
        Expectation("score.leaderboard", "coverage_lies_in_the_unit_interval", Between("coverage", 0, 1)),
        Expectation(
            "score.leaderboard", "figures_rest_on_probes", Each(lambda row: row.value is None or row.n > 0)
        ),
        Expectation("score.leaderboard", "intervals_hold_their_figure", Each(_interval_holds), "warn"),
        Expectation("score.leaderboard", "one_simulator_per_board", Together(_several_simulators), "warn"),
        Expectation("score.leaderboard", "unequal_terms_are_shown", Together(_hidden_terms)),
        Expectation("score.leaderboard", "one_prompt_and_model_per_comparison", Together(_mixed), "warn"),
    ]


EXPECTATIONS: tuple[Expectation, ...] = tuple(
    sorted([*_of_every_table(), *_of_one_table()], key=lambda each: list(TABLES).index(each.table))
)
"""Every expectation, by table in the order of the walk."""
