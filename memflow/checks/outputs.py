"""Check rules of the tables of an assistant: transcripts, memory, replies and scores.

Rules about content skip quarantined rows.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence

from memflow.checks.every_table import QUARANTINED
from memflow.checks.rules import (
    AcceptedValues,
    AcrossTables,
    Between,
    EachRow,
    Expectation,
    ForeignKey,
    RowForEvery,
    WholeTable,
    each_valid_row,
    expect,
)
from memflow.memories.memory import FAILURE
from memflow.memories.server.mirror import UNSTORED
from memflow.metrics.paired import LEVEL
from memflow.records import (
    Comparison,
    Drift,
    FailureAttribution,
    Policy,
    PublishedScore,
    Score,
    is_failed_reply,
)
from memflow.scoring.catalog import in_range
from memflow.scoring.comparability import differing_settings
from memflow.scoring.health.states import FAULTY, NOT_MEASURABLE, STATES, SUSPECT
from memflow.scoring.publications import SCORE_FIELDS, current_scores, key_of


def _gaps_between_steps(policies: Sequence[Policy]) -> list[int]:
    """Return the indices of policy steps whose number is not one more than the episode's previous step."""
    seen: Counter[str] = Counter()
    found = []
    for at, step in sorted(enumerate(policies), key=lambda each: (each[1].episode_id, each[1].step)):
        if step.step != seen[step.episode_id]:
            found.append(at)
        seen[step.episode_id] += 1
    return sorted(found)


def _minority_simulators(scores: Sequence[Score]) -> list[int]:
    """Return the indices of scores whose simulator differs from the most frequent simulator of the domain."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for score in scores:
        counts[score.domain][score.simulator] += 1
    majority = {
        domain: min(by_simulator.items(), key=lambda each: (-each[1], each[0]))[0]
        for domain, by_simulator in counts.items()
    }
    return [at for at, score in enumerate(scores) if score.simulator != majority[score.domain]]


def _failures_sum_to_loss(row: FailureAttribution) -> bool:
    if row.loss is None or row.write is None or row.read is None or row.utilization is None:
        return False
    return abs(row.write + row.read + row.utilization - row.loss) < 1e-9


_FAILURES = ("write_failure", "read_failure", "utilization_failure")


def _unattributed_errors(scores: Sequence[Score]) -> list[int]:
    """Return the indices of failure rates that contradict the accuracy.

    Attributed failures and unattributed errors must sum to the number of wrong answers.
    """
    groups: dict[tuple[str, str, str], dict[str, int]] = defaultdict(dict)
    for at, score in enumerate(scores):
        if score.variant == "standard" and score.value is not None:
            groups[score.domain, score.assistant, score.slice][score.metric] = at
    found = []
    for group in groups.values():
        if not group.keys() >= {"accuracy", *_FAILURES}:
            continue
        accuracy, *failures = (scores[group[metric]] for metric in ("accuracy", *_FAILURES))
        wrong = accuracy.n * (1 - (accuracy.value or 0.0))
        failed = sum(failure.n * (failure.value or 0.0) for failure in failures)
        unattributed = {accuracy.n - failure.n for failure in failures}
        if len(unattributed) > 1 or abs(failed + unattributed.pop() - wrong) > 1e-6 * accuracy.n:
            found += [group[metric] for metric in _FAILURES]
    return sorted(found)


def _unlisted_differences(scores: Sequence[Score]) -> list[int]:
    """Return the indices of scores whose stored `differing_settings` are not what a new comparison returns."""
    found = differing_settings(scores)
    return [
        at
        for at, (score, differing) in enumerate(zip(scores, found, strict=True))
        if differing != score.differing_settings
    ]


def _other_prompt_or_model(scores: Sequence[Score]) -> list[int]:
    """Return the indices of scores whose prompt or model version differs from comparable scores.

    Scores are comparable if they have the same domain and model.
    """
    return [
        at
        for at, differences in enumerate(differing_settings(scores))
        if differences and any(name in differences for name in ("prompt ", "replaced prompts ", "model "))
    ]


def _value_in_interval(score: Score) -> bool:
    if score.value is None or score.low is None or score.high is None:
        return True
    return score.low <= score.value <= score.high


def _repeated_pairs(rows: Sequence[Comparison]) -> list[int]:
    """Return the indices of comparisons of two assistants that an earlier row has, in either order."""
    seen = set()
    found = []
    for at, row in enumerate(rows):
        key = (row.domain, row.metric, row.variant, row.slice, frozenset((row.a, row.b)))
        if key in seen or row.a == row.b:
            found.append(at)
        seen.add(key)
    return found


def _is_difference_of_values(row: Comparison) -> bool:
    if row.difference is None or row.value_a is None or row.value_b is None:
        return row.difference is None
    scale = max(1.0, abs(row.value_a), abs(row.value_b))
    return abs(row.difference - (row.value_a - row.value_b)) < 1e-9 * scale


def _is_change_of_scores(row: Drift) -> bool:
    if row.difference is None or row.before is None or row.after is None:
        return row.difference is None
    return abs(row.difference - (row.after - row.before)) < 1e-9 * max(1.0, abs(row.before), abs(row.after))


def _parts_sum_to_difference(row: Drift) -> bool:
    if row.difference is None:
        return (row.users, row.answers, row.judging) == (None, None, None)
    parts = (row.users or 0.0) + (row.answers or 0.0) + (row.judging or 0.0)
    return abs(parts - row.difference) < 1e-9 * max(1.0, abs(row.before or 0.0), abs(row.after or 0.0))


def _moved_scores(rows: Sequence[Drift]) -> list[int]:
    """Return the indices of scores that moved beyond noise at the last change of their assistant."""
    last: dict[tuple[str, str], str] = {}
    for row in rows:
        key = (row.domain, row.assistant)
        last[key] = max(last.get(key, ""), row.published_at)
    return [
        at for at, row in enumerate(rows) if row.moved and row.published_at == last[row.domain, row.assistant]
    ]


def _newest_not_on_leaderboard(history: Sequence[PublishedScore], scores: Sequence[Score]) -> list[int]:
    """Return the indices of the newest published scores that differ from the leaderboard or are not on it."""
    newest = {id(row) for row in current_scores(history).values()}
    shown = {key_of(score): score for score in scores}
    return [
        at for at, row in enumerate(history) if id(row) in newest and _score_of(row) != shown.get(key_of(row))
    ]


def _score_of(row: PublishedScore) -> Score:
    return Score(**{name: getattr(row, name) for name in SCORE_FIELDS})


_ONE_OF_VALUE_AND_REASON = EachRow(lambda row: (row.value is None) == (row.reason is not None))

MAX_CUT = 0.05
"""The share of texts cut at the token limit above which a check warns."""
ALL_BUT_ONE = 1 - 1e-9
"""The tolerance of a rule that fails only if every row violates it."""
_CUT = {"cut_texts_at_most_5_percent": EachRow(lambda row: not row.cut, tolerance=MAX_CUT)}

EXPECTED: tuple[Expectation, ...] = (
    *(
        rule
        for table in ("feedback.sessions", "memory.transcripts", "memory.feedback", "answer.replies")
        for rule in expect(table, _CUT, "warn")
    ),
    *expect(
        "memory.transcripts",
        {
            "valid_message_role": AcceptedValues("role", ("user", "assistant")),
            "valid_message_origin": AcceptedValues("origin", ("given", "assistant", "simulator")),
            "sequence_number_not_negative": Between("sequence", 0),
        },
    ),
    *expect(
        "memory.indexes",
        {
            "validity_start_not_after_end": EachRow(lambda row: row.until is None or row.since <= row.until),
            "source_messages_in_transcript": ForeignKey(("sources",), "memory.transcripts", ("message_id",)),
        },
    ),
    *expect(
        "memory.indexes",
        {"failed_writes_at_most_10_percent": EachRow(lambda row: row.kind != FAILURE, tolerance=QUARANTINED)},
        "warn",
    ),
    *expect(
        "memory.policies",
        {
            "policy_stores_at_least_1_entry_kind": EachRow(lambda row: bool(row.kinds)),
            "evolution_steps_are_consecutive": WholeTable(_gaps_between_steps),
            "correct_at_most_answered_and_answered_at_most_asked": EachRow(
                lambda row: 0 <= row.correct <= row.answered <= row.asked
            ),
        },
    ),
    *expect(
        "answer.replies",
        {
            "every_test_probe_has_reply": RowForEvery(
                ("probe_id",), "question.probes", lambda row: row.split == "test"
            ),
            "probe_id_in_probes": ForeignKey(("probe_id",), "question.probes", ("probe_id",)),
            "recalled_entries_in_memory": ForeignKey(
                ("recalled", "episode_id"), "memory.indexes", ("entry_id", "episode_id"), UNSTORED
            ),
            "ranked_entries_in_memory": ForeignKey(
                ("ranked", "episode_id"), "memory.indexes", ("entry_id", "episode_id"), UNSTORED
            ),
            "unparsed_reply_has_reason": EachRow(
                lambda row: row.parsed is not None or row.reason is not None
            ),
            "at_least_1_reply_without_failure": EachRow(
                lambda row: not is_failed_reply(row), tolerance=ALL_BUT_ONE
            ),
        },
    ),
    *expect(
        "answer.replies",
        {"full_context_not_truncated": EachRow(lambda row: bool(row.ranked) or not row.dropped_tokens)},
        "warn",
    ),
    *expect(
        "score.verdicts",
        {
            "every_reply_has_verdict": RowForEvery(("probe_id",), "answer.replies"),
            "probe_id_in_replies": ForeignKey(("probe_id",), "answer.replies", ("probe_id",)),
            "verdict_value_in_metric_range": EachRow(lambda row: in_range(row.metric, row.value)),
            "exactly_one_of_value_and_reason": _ONE_OF_VALUE_AND_REASON,
        },
    ),
    *expect(
        "score.attributions",
        {
            "probe_id_in_verdicts": ForeignKey(("probe_id",), "score.verdicts", ("probe_id",)),
            "write_read_and_utilization_failures_sum_to_loss": each_valid_row(_failures_sum_to_loss),
            "recalled_at_most_stored_and_stored_at_most_evidence": each_valid_row(
                lambda row: row.recalled <= row.stored <= row.evidence
            ),
            "evidence_recalled_at_10_at_most_stored": each_valid_row(
                lambda row: row.recalled_at_10 is None or row.recalled_at_10 <= row.stored
            ),
        },
    ),
    *expect(
        "score.claims",
        {
            "claim_value_between_0_and_1": Between("value", 0, 1),
            "exactly_one_of_value_and_reason": _ONE_OF_VALUE_AND_REASON,
        },
    ),
    *expect(
        "score.health",
        {
            "health_state_is_known": AcceptedValues("state", STATES),
            "affected_at_most_examined": EachRow(lambda row: 0 <= row.affected <= row.n),
            "not_measurable_has_reason": EachRow(
                lambda row: (row.reason is not None) == (row.state == NOT_MEASURABLE)
            ),
        },
    ),
    *expect("score.health", {"memory_not_faulty": EachRow(lambda row: row.state != FAULTY)}, "fault"),
    *expect("score.health", {"memory_not_suspect": EachRow(lambda row: row.state != SUSPECT)}, "warn"),
    *expect(
        "score.retrieval",
        {
            "recalled_at_most_stored_and_stored_at_most_evidence": each_valid_row(
                lambda row: row.recalled <= row.stored <= row.evidence
            ),
        },
    ),
    *expect(
        "score.comparisons",
        {
            "each_pair_of_assistants_once": WholeTable(_repeated_pairs),
            "difference_is_value_a_minus_value_b": EachRow(_is_difference_of_values),
            "pairs_at_least_episodes": EachRow(lambda row: row.n >= row.n_episodes),
            "adjusted_p_at_least_p": EachRow(lambda row: row.p is None or row.p <= row.p_adjusted <= 1),
            "better_assistant_only_if_significant": EachRow(
                lambda row: row.better is None or row.p_adjusted <= LEVEL
            ),
        },
    ),
    *expect(
        "score.leaderboard",
        {
            "coverage_between_0_and_1": Between("coverage", 0, 1),
            "score_with_value_has_probes": EachRow(lambda row: row.value is None or row.n > 0),
            "failure_rates_sum_to_error_rate": WholeTable(_unattributed_errors),
            "differing_settings_up_to_date": WholeTable(_unlisted_differences),
        },
    ),
    *expect(
        "score.leaderboard",
        {
            "score_in_its_confidence_interval": EachRow(_value_in_interval),
            "judge_is_not_answering_model": EachRow(lambda row: not row.self_judges),
            "one_simulator_per_domain": WholeTable(_minority_simulators),
            "comparable_scores_have_same_prompt_and_model_version": WholeTable(_other_prompt_or_model),
        },
        "warn",
    ),
    *expect(
        "score.history",
        {
            "newest_scores_equal_leaderboard": AcrossTables(
                ("score.history", "score.leaderboard"), _newest_not_on_leaderboard
            ),
        },
    ),
    *expect(
        "score.drift",
        {
            "difference_is_after_minus_before": EachRow(_is_change_of_scores),
            "parts_of_stages_sum_to_difference": EachRow(_parts_sum_to_difference),
            "moved_only_if_significant": EachRow(lambda row: not row.moved or row.p_adjusted <= LEVEL),
        },
    ),
    *expect(
        "score.drift",
        {"scores_within_noise_after_model_change": WholeTable(_moved_scores)},
        "warn",
    ),
)
