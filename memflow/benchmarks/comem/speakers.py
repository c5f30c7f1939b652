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
from memflow.scoring.estimate import MetricContext, mean_score, valid_probes

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
    domain: Domain, measured: AssistantResults, slices: Mapping[str, Sequence[Probe]]
) -> list[Score]:
    """The share of errors that are another speaker's in every slice, what it would be by chance, and the share of all
    answers; none in a domain whose options are true of nobody named.

    `n` are errors that count, or answers to questions that have a right speaker. Coverage is of these questions, how
    many were answered so that it could be read: a memory is not to look better by answers that nobody can read.
    """
    if not any(map(_right, valid_probes(measured))):
        return []
    found = _values(measured, OTHER_SPEAKER)
    answered = _values(measured, "accuracy")
    chance = {
        probe.probe_id: share
        for probe in measured.probes
        if probe.probe_id in found and (share := by_chance(probe)) is not None
    }
    rates = {probe: found.get(probe, 0.0) for probe in answered}
    of, figures = MetricContext(domain, measured), []
    for name, asked in slices.items():
        with_speaker = [probe for probe in asked if _right(probe)]
        figures.append(_of_errors(of, OTHER_SPEAKER, name, with_speaker, found, answered))
        figures.append(_of_errors(of, BY_CHANCE, name, with_speaker, chance, answered))
        figures.append(_of_answers(of, RATE, name, with_speaker, rates))
    return figures


def _of_errors(
    of: MetricContext,
    metric: str,
    name: str,
    asked: Sequence[Probe],
    values: Mapping[str, float],
    answered: Mapping[str, float],
) -> Score:
    """The mean of `values` over the errors that have one; without value and with the reason where answers are."""
    answers = _of_answers(of, metric, name, asked, answered)
    errors = [probe for probe in asked if probe.probe_id in values]
    reason = answers.reason
    if reason is None and not errors:
        reason = "no answer here is an error that is true of somebody named"
    figure = replace(mean_score(of, metric, name, errors, values), coverage=answers.coverage, reason=reason)
    return figure if reason is None else replace(figure, value=None, low=None, high=None)


def _of_answers(
    of: MetricContext, metric: str, name: str, asked: Sequence[Probe], values: Mapping[str, float]
) -> Score:
    """The mean of `values` over the questions asked."""
    figure = mean_score(of, metric, name, asked, values)
    nobody = "no question here has a right answer that is true of somebody named"
    return figure if asked else replace(figure, reason=nobody)


def _values(measured: AssistantResults, metric: str) -> dict[str, float]:
    return {
        row.probe_id: row.value for row in measured.verdicts if row.metric == metric and row.value is not None
    }


def _right(probe: Probe) -> str:
    """Of whom the right option is true; empty where nobody is named."""
    if not probe.true_of or not probe.gold.isdigit():
        return ""
    return probe.true_of[int(probe.gold) - 1]
