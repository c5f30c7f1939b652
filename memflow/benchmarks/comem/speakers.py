"""Who is mixed up with whom: wrong answers that are true of another speaker than the right one is (paper, section 4.4).

The paper finds that a memory's extraction lays to one speaker what another said, and counts nothing; here such errors
are counted for every multiple choice whose options say of whom they are true. Where the evidence of an answer was lost
is memflow/scoring/attribution.py, and another matter.

An error counts where both the right option and the one that was chosen are true of somebody named: who says that there
is no telling, or takes what nobody said, mixes nobody up. A wrong option that is true of the right speaker, such as
what once was so, is an error of another kind: the metric is 0.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from memflow.benchmarks.api import AssistantResults
from memflow.benchmarks.domains import Domain
from memflow.records import Probe, Reply, Score, Verdict
from memflow.scoring.estimate import MetricContext, probe_score, valid_probes, verdict_values

OTHER_SPEAKER = "other_speaker"
"""The share of errors that are true of another speaker; of one error, 1 or 0."""
BY_CHANCE = "other_speaker_by_chance"
"""The share that it would be, if every wrong option that is true of somebody were chosen as often. Where questions ask
who, or options are all taken from others, it is 1, and the share of errors says nothing; the rate does."""
RATE = "other_speaker_rate"
"""The share of answers, right ones among them, that are true of another speaker than the right one."""


def speaker_verdicts(
    probes: Iterable[Probe], replies: Iterable[Reply], judged: Iterable[Verdict]
) -> Iterator[Verdict]:
    """A verdict for each error that counts, by the verdicts of accuracy; there is none of other answers."""
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
    """Of a probe's wrong options that are true of somebody, the share that is true of another than the right one."""
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
    """Return the share of errors that name another speaker, that share by chance, and the share of all answers.

    None in a domain whose options name no speaker. `n` are errors, or answers to questions with a right speaker. The
    coverage is that of the answers: unparsed answers must not make a memory look better.
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
    context, scores = MetricContext.of(domain, results), []
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
    """Return the mean of `values` over the errors that have one, with the coverage of the answers."""
    answers = _answer_score(context, metric, name, asked, answered)
    errors = [probe for probe in asked if probe.probe_id in values]
    reason = answers.reason
    if reason is None and not errors:
        reason = "no answer here is an error that is true of a named speaker"
    score = probe_score(context, metric, errors, values, slice_name=name, reason=reason)
    return replace(score, coverage=answers.coverage)


def _answer_score(
    context: MetricContext, metric: str, name: str, asked: Sequence[Probe], values: Mapping[str, float]
) -> Score:
    """Return the mean of `values` over the questions asked."""
    reason = None if asked else "no question here has a right answer that is true of a named speaker"
    return probe_score(context, metric, asked, values, slice_name=name, reason=reason)


def _right(probe: Probe) -> str:
    """Of whom the right option is true; empty where nobody is named."""
    if not probe.true_of or not probe.gold.isdigit():
        return ""
    return probe.true_of[int(probe.gold) - 1]
