"""Blocking checks of generated questions. An examiner recomputes the answers from the messages, without the plans."""

from collections import Counter
from collections.abc import Sequence

from memflow.benchmarks.membench.checks.generated import if_generated
from memflow.benchmarks.membench.examination.examiner import examine
from memflow.benchmarks.membench.examination.predictability import SIGNIFICANCE, predictable_answers
from memflow.benchmarks.membench.kinds import EMOTION
from memflow.benchmarks.membench.turns import scenario_of
from memflow.checks.rules import AcrossTables, Expectation, Findings, WholeTable
from memflow.records import Probe, Turn

NAMED_REASONS = 3
"""Maximum number of reasons for missing examinations that the note of the check names."""


def find_wrong_golds(probes: Sequence[Probe], turns: Sequence[Turn]) -> Findings:
    """Return the probes with a wrong gold, several right options or insufficient evidence, each with the reason."""
    outcomes = [
        (at, each)
        for at, (probe, each) in enumerate(zip(probes, examine(probes, turns), strict=True))
        if probe.reason is None
    ]
    found = Findings({at: each.reason for at, each in outcomes if each.outcome == "wrong"})
    unread = Counter(each.reason for _, each in outcomes if each.outcome == "not examined")
    missing = unread.total()
    share = f" ({missing / len(outcomes):.1%})" if missing else ""
    reasons = "".join(f"; {count} because {reason}" for reason, count in unread.most_common(NAMED_REASONS))
    found.note = f"{len(outcomes) - missing} of {len(outcomes)} probes examined, {missing} not examined{share}{reasons}"
    return found


def find_predictable_moods(probes: Sequence[Probe]) -> Findings:
    """Return all questions about moods if their words predict the moods better than chance; otherwise nothing."""
    moods = {
        at: probe
        for at, probe in enumerate(probes)
        if probe.reason is None and scenario_of(probe.episode_id) == EMOTION
    }
    share, probability = predictable_answers(list(moods.values()))
    said = (
        f"{share:.1%} of {len(moods)} moods predicted from the words of the questions (p = {probability:.2g})"
    )
    found = Findings(dict.fromkeys(moods, said) if probability < SIGNIFICANCE else ())
    found.note = said
    return found


EXPECTED: tuple[Expectation, ...] = (
    Expectation(
        "question.probes",
        "gold_equals_answer_recomputed_from_messages",
        if_generated(AcrossTables(("question.probes", "utterance.turns"), find_wrong_golds)),
    ),
    Expectation(
        "question.probes",
        "mood_not_predictable_from_question",
        if_generated(WholeTable(find_predictable_moods)),
    ),
)
"""Checks of golds and of questions about moods."""
