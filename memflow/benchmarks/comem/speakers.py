"""Speaker confusion: wrong answers that are true of another speaker than the correct answer (paper, section 4.4).

The paper describes such errors without counting them. An error counts if both the gold option and the chosen option are
true of named speakers. The value of an error is 1 if the speakers differ, else 0.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from memflow.benchmarks.api import AssistantResults
from memflow.benchmarks.domains import Domain
from memflow.records import Probe, Reply, Score, Verdict
from memflow.scoring.estimate import MetricContext, probe_score, valid_probes, verdict_values

OTHER_SPEAKER = "other_speaker"
"""The share of errors that are true of another speaker; 1 or 0 for one error."""
BY_CHANCE = "other_speaker_by_chance"
"""That share if every wrong option of a named speaker were chosen equally often. Where it is 1, only RATE is
informative."""
RATE = "other_speaker_rate"
"""The share of all answers that are true of another speaker."""


def speaker_verdicts(
    probes: Iterable[Probe], replies: Iterable[Reply], judged: Iterable[Verdict]
) -> Iterator[Verdict]:
    """Yield a verdict for each wrong answer if both the gold and the chosen option are true of named speakers."""
    wrong = {row.probe_id: row for row in judged if row.metric == "accuracy" and row.value == 0}
    given = {reply.probe_id: reply.parsed for reply in replies}
    for probe in probes:
        verdict, chosen = wrong.get(probe.probe_id), given.get(probe.probe_id)
        if verdict is None or chosen is None or not _right(probe):
            continue
        true_of = probe.true_of[int(chosen) - 1]
        if true_of:
            yield replace(verdict, metric=OTHER_SPEAKER, value=float(true_of != _right(probe)))


def by_chance(probe: Probe) -> float | None:
    """Return the share of wrong options that are true of another speaker: the value expected for a random error.

    Options without a speaker are not counted.
    """
    right = _right(probe)
    wrong = [
        true_of
        for number, true_of in enumerate(probe.true_of, start=1)
        if true_of and str(number) != probe.gold
    ]
    return sum(true_of != right for true_of in wrong) / len(wrong) if right and wrong else None


def speaker_scores(
    domain: Domain, results: AssistantResults, slices: Mapping[str, Sequence[Probe]]
) -> list[Score]:
    """Return three scores per slice, or an empty list if no option of the domain names a speaker.

    The scores are the share of errors that are true of another speaker, the value of this share by chance, and the
    share of such errors among all answers. All scores have the coverage of the answers, so that unparsed answers do not
    improve a score.
    """
    if not any(map(_right, valid_probes(results))):
        return []
    found = verdict_values(results, OTHER_SPEAKER)
    answered = verdict_values(results, "accuracy")
    chance = {
        probe.probe_id: share
        for probe in results.probes
        if probe.probe_id in found and (share := by_chance(probe)) is not None
    }
    rates = {probe: found.get(probe, 0.0) for probe in answered}
    context, scores = MetricContext.from_results(domain, results), []
    for name, probes in slices.items():
        asked = [probe for probe in probes if _right(probe)]
        scores.append(_error_score(context, OTHER_SPEAKER, name, asked, found, answered))
        scores.append(_error_score(context, BY_CHANCE, name, asked, chance, answered))
        scores.append(_answer_score(context, RATE, name, asked, rates))
    return scores


def _error_score(
    context: MetricContext,
    metric: str,
    name: str,
    asked: Sequence[Probe],
    values: Mapping[str, float],
    answered: Mapping[str, float],
) -> Score:
    """Return the mean of `values` over the errors that have a value, with the coverage of the answers."""
    answers = _answer_score(context, metric, name, asked, answered)
    errors = [probe for probe in asked if probe.probe_id in values]
    reason = answers.reason
    if reason is None and not errors:
        reason = "no wrong answer is true of a named speaker"
    score = probe_score(context, metric, errors, values, slice_name=name, reason=reason)
    return replace(score, coverage=answers.coverage)


def _answer_score(
    context: MetricContext, metric: str, name: str, asked: Sequence[Probe], values: Mapping[str, float]
) -> Score:
    reason = None if asked else "no question has a correct answer that is true of a named speaker"
    return probe_score(context, metric, asked, values, slice_name=name, reason=reason)


def _right(probe: Probe) -> str:
    """Return the speaker of whom the gold option is true, or "" if the option names none."""
    if not probe.true_of or not probe.gold.isdigit():
        return ""
    return probe.true_of[int(probe.gold) - 1]
