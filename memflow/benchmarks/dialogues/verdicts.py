"""Conversion of replies to verdicts: the value under the probe's metric, and the same value as the answer score.

A choice has a verdict `unparsed`, an answerable open question a verdict `false_abstention`. A missing or failed reply,
and a judge that fails, give null values with a reason.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from memflow.benchmarks.dialogues.metrics import (
    ABSTENTION,
    ANSWER_F1,
    ANSWER_ROUGE_L,
    ANSWER_SCORE,
    EXACT_MATCH,
    FALSE_ABSTENTION,
    JUDGED,
)
from memflow.benchmarks.dialogues.probes import OpenGold
from memflow.benchmarks.dialogues.question import prompt
from memflow.benchmarks.dialogues.questions import NO_ANSWER, abstains
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.multiple_choice import ungradable_reason
from memflow.benchmarks.verdicts import (
    NO_JUDGE,
    MetricValue,
    choice_verdicts,
    judges_of,
    only_assistant,
    values_of_judges,
    verdict_row,
    verdict_rows,
)
from memflow.chat.asking import ask
from memflow.chat.requests import Chat
from memflow.errors import BadInput
from memflow.judges.withheld import withheld_reason
from memflow.metrics.backends import MetricBackends
from memflow.metrics.text import exact_match, rouge_l, word_f1
from memflow.records import Probe, Reply, Verdict
from memflow.scoring.judges import STANDARD

NO_WORDS = (
    "no gold answer has a word that {metric} compares; give the question the metric exact_match or judge"
)


async def make_verdicts(
    domain: Domain, probes: Sequence[Probe], replies: Sequence[Reply], backends: MetricBackends
) -> list[Verdict]:
    """Return the verdicts of all probes in order."""
    assistant = only_assistant(domain, replies)
    given = {reply.probe_id: reply for reply in replies}
    choices = [probe for probe in probes if probe.options]
    rows: dict[str, list[Verdict]] = {}
    for row in choice_verdicts(domain, choices, replies) if choices else ():
        rows.setdefault(row.probe_id, []).append(row)
    opens = [probe for probe in probes if not probe.options]
    judges: Mapping[str, Chat | None] = judges_of(backends) or {"": None}

    async def values_of(probe: Probe) -> list[MetricValue]:
        reply = given.get(probe.probe_id)
        values = await asyncio.gather(*(_value(probe, reply, judge) for judge in judges.values()))
        by_judge = {name: [value] for name, value in zip(judges, values, strict=True)}
        return [*values_of_judges(by_judge, JUDGED_METRICS), *_false_abstention(probe, reply)]

    values = await asyncio.gather(*map(values_of, opens))
    for row in verdict_rows(domain, assistant, opens, values):
        rows.setdefault(row.probe_id, []).append(row)
    return [
        row for probe in probes for row in _with_answer_score(domain, assistant, probe, rows[probe.probe_id])
    ]


def _with_answer_score(
    domain: Domain, assistant: str, probe: Probe, rows: Sequence[Verdict]
) -> Sequence[Verdict]:
    first = next(row for row in rows if row.metric == probe.metric and row.variant == STANDARD)
    return [*rows, verdict_row(domain, assistant, probe, ANSWER_SCORE.name, first.value, first.reason)]


def _false_abstention(probe: Probe, reply: Reply | None) -> Sequence[MetricValue]:
    if probe.reason is not None or OpenGold.unpacked(probe.gold).abstain:
        return []
    reason = ungradable_reason(probe, reply)
    value = None if reason is not None or reply is None else float(abstains(reply.parsed or ""))
    return [MetricValue(FALSE_ABSTENTION.name, value, reason)]


async def _value(probe: Probe, reply: Reply | None, judge: Chat | None) -> MetricValue:
    reason = ungradable_reason(probe, reply)
    if reason is not None or reply is None or reply.parsed is None:
        return MetricValue(probe.metric, None, reason)
    gold = OpenGold.unpacked(probe.gold)
    if probe.metric == JUDGED.name:
        return await _judged(probe, gold, reply.parsed, judge)
    value = computed(probe.metric, reply.parsed, gold, probe.language)
    return MetricValue(
        probe.metric, value, None if value is not None else NO_WORDS.format(metric=probe.metric)
    )


def computed(metric: str, answer: str, gold: OpenGold, language: str) -> float | None:
    """Return the value of an answer under a metric without a judge: the best over the gold answers.

    None if no gold answer has a word of the metric (`the`, `$`, or for ROUGE-L any text without Latin letters and
    digits) and the answer equals none. Raises BadInput for an unknown metric.
    """
    spoken: Literal["en", "zh"] = "zh" if language == "zh" else "en"
    if metric == ABSTENTION.name:
        return float(abstains(answer))
    if metric == EXACT_MATCH.name:
        return max(
            exact_match(answer.rstrip().rstrip("。"), each.rstrip().rstrip("。")) for each in gold.answers
        )
    if metric not in OVERLAPS:
        raise BadInput(
            f"the probes have the metric {metric!r}, which the benchmark dialogues does not have. Regenerate them with "
            "`memflow run --domain DOMAIN --force`."
        )
    overlap = OVERLAPS[metric]
    if any(exact_match(answer, each) for each in gold.answers):
        return 1.0
    # A text without words scores 0 even beside itself.
    with_words = [each for each in gold.answers if overlap(each, each, spoken)]
    return max((overlap(answer, word, spoken) for word in with_words), default=None)


OVERLAPS: Mapping[str, Callable[[str, str, Literal["en", "zh"]], float]] = {
    ANSWER_F1.name: word_f1,
    ANSWER_ROUGE_L.name: rouge_l,
}
"""The metrics that compare the words of an answer and a gold answer."""


async def _judged(probe: Probe, gold: OpenGold, answer: str, judge: Chat | None) -> MetricValue:
    """Return the judge's value. An answer that equals a gold answer needs no judge."""
    stem = "judge" if gold.rubric is None else "judge_rubric"
    if (reason := withheld_reason(judge, prompt(stem).name)) is not None:
        return MetricValue(JUDGED.name, None, reason)
    if gold.abstain and abstains(answer):
        return MetricValue(JUDGED.name, 1.0)
    if gold.rubric is None and any(exact_match(answer, each) for each in gold.answers):
        return MetricValue(JUDGED.name, 1.0)
    if judge is None:
        return MetricValue(JUDGED.name, None, NO_JUDGE)
    fields = {"question": probe.question, "answer": answer}
    if gold.rubric is not None:
        # Gold answers beside a rubric are part of what the judge must know.
        known = "".join(f"\n{each}" for each in gold.answers)
        fields |= {"rubric": f"{gold.rubric}{known}"}
    else:
        fields |= {"gold": "\n".join(gold.answers) or NO_ANSWER["zh" if probe.language == "zh" else "en"]}
    found = await ask(judge, prompt(stem), fields)
    value = None if found.value is None else float(found.value.correct)
    return MetricValue(JUDGED.name, value, found.reason, completion=found.digest)


JUDGED_METRICS = frozenset({JUDGED.name})
"""The metrics whose values a judge decides; `answer_score` contains them among others."""
