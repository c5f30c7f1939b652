"""What must hold of the tables of an assistant: what it was told and kept, answered, and scored.

Rules about content pass over quarantined rows: those have said why they are no good.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence

from memflow.checks.every_table import QUARANTINED
from memflow.checks.rules import Between, Covers, Each, Expectation, OneOf, Refers, Together, sound
from memflow.memories.memory import FAILURE
from memflow.records import FailureAttribution, Policy, Score
from memflow.scoring.catalog import in_range
from memflow.scoring.comparability import differing_settings


def _out_of_step(policies: Sequence[Policy]) -> list[int]:
    """Steps that are not the one after their episode's last."""
    seen: Counter[str] = Counter()
    found = []
    for at, step in sorted(enumerate(policies), key=lambda each: (each[1].episode_id, each[1].step)):
        if step.step != seen[step.episode_id]:
            found.append(at)
        seen[step.episode_id] += 1
    return sorted(found)


def _several_simulators(figures: Sequence[Score]) -> list[int]:
    """Figures of a domain whose simulator is not the one behind most of the domain's figures."""
    behind: dict[str, Counter[str]] = defaultdict(Counter)
    for figure in figures:
        behind[figure.domain][figure.simulator] += 1
    most = {
        domain: min(held.items(), key=lambda one: (-one[1], one[0]))[0] for domain, held in behind.items()
    }
    return [at for at, figure in enumerate(figures) if figure.simulator != most[figure.domain]]


def _adds_up(row: FailureAttribution) -> bool:
    if row.loss is None or row.write is None or row.read is None or row.utilization is None:
        return False
    return abs(row.write + row.read + row.utilization - row.loss) < 1e-9


_PARTS = ("write_failure", "read_failure", "utilization_failure")


def _unattributed_errors(figures: Sequence[Score]) -> list[int]:
    """Failures that, with the wrong answers they leave out, are not as many as the wrong answers."""
    boards: dict[tuple[str, str, str], dict[str, int]] = defaultdict(dict)
    for at, figure in enumerate(figures):
        if figure.variant == "standard" and figure.value is not None:
            boards[figure.domain, figure.assistant, figure.slice][figure.metric] = at
    found = []
    for board in boards.values():
        if not board.keys() >= {"accuracy", *_PARTS}:
            continue
        accuracy, *parts = (figures[board[metric]] for metric in ("accuracy", *_PARTS))
        wrong = accuracy.n * (1 - (accuracy.value or 0.0))
        failed = sum(part.n * (part.value or 0.0) for part in parts)
        left_out = {accuracy.n - part.n for part in parts}
        if len(left_out) > 1 or abs(failed + left_out.pop() - wrong) > 1e-6 * accuracy.n:
            found += [board[metric] for metric in _PARTS]
    return sorted(found)


def _hidden_terms(figures: Sequence[Score]) -> list[int]:
    """Figures whose terms differ from others' in their comparison, and that do not say so."""
    return [
        at for at, said in enumerate(differing_settings(figures)) if said != figures[at].differing_settings
    ]


def _mixed(figures: Sequence[Score]) -> list[int]:
    """Figures that were answered with another version of a prompt, or of the model, than others beside them."""
    return [
        at
        for at, said in enumerate(differing_settings(figures))
        if said and ("prompt " in said or "model " in said)
    ]


def _interval_holds(figure: Score) -> bool:
    if figure.value is None or figure.low is None or figure.high is None:
        return True
    return figure.low <= figure.value <= figure.high


EXPECTED = (
    Expectation("memory.transcripts", "messages_are_said_by_a_role", OneOf("role", ("user", "assistant"))),
    Expectation(
        "memory.transcripts",
        "messages_have_a_known_origin",
        OneOf("origin", ("given", "assistant", "simulator")),
    ),
    Expectation("memory.transcripts", "sequence_not_negative", Between("sequence", 0)),
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
        "ranked_entries_are_held",
        Refers(("episode_id", "ranked"), "memory.indexes", ("episode_id", "entry_id")),
    ),
    Expectation(
        "answer.replies",
        "unread_answers_say_why",
        Each(lambda row: row.parsed is not None or row.reason is not None),
    ),
    Expectation(
        # Of a memory that searches for nothing, such as `full`: its budget is smaller than what was said.
        "answer.replies",
        "what_is_shown_unsearched_is_not_cut",
        Each(lambda row: bool(row.ranked) or not row.dropped_tokens),
        "warn",
    ),
    Expectation("score.verdicts", "every_reply_has_a_verdict", Covers(("probe_id",), "answer.replies")),
    Expectation(
        "score.verdicts",
        "verdicts_are_of_replies",
        Refers(("probe_id",), "answer.replies", ("probe_id",)),
    ),
    Expectation(
        "score.verdicts",
        "values_lie_in_their_metrics_range",
        Each(lambda row: in_range(row.metric, row.value)),
    ),
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
    Expectation("score.attributions", "failures_add_up_to_the_loss", sound(_adds_up)),
    Expectation(
        "score.attributions",
        "what_is_recalled_was_held",
        sound(lambda row: row.recalled <= row.stored <= row.evidence),
    ),
    Expectation(
        "score.attributions",
        "what_the_best_entries_recall_was_held",
        sound(lambda row: row.recalled_at_10 is None or row.recalled_at_10 <= row.stored),
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
    Expectation("score.leaderboard", "failures_add_up_to_the_errors", Together(_unattributed_errors)),
    Expectation("score.leaderboard", "intervals_hold_their_figure", Each(_interval_holds), "warn"),
    Expectation("score.leaderboard", "one_simulator_per_board", Together(_several_simulators), "warn"),
    Expectation("score.leaderboard", "unequal_terms_are_shown", Together(_hidden_terms)),
    Expectation("score.leaderboard", "one_prompt_and_model_per_comparison", Together(_mixed), "warn"),
)
