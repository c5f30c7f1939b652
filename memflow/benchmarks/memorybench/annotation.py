"""Annotation tasks for people who judge the simulated users' feedback (paper, A.2.5, Tables 6 and 7).

    feedback_writing   people write feedback on a first answer, knowing what is right
    feedback           three annotators choose between the simulated and the written feedback, by three aspects

The mean of an aspect is the share in which the simulated feedback is preferred. The sampled feedback is that of a model
on the first answers of training cases: feedback that a metric decides (LoCoMo, DialSim) has fixed words.
"""

import random
from collections.abc import Iterator

from memflow.annotation.kind import DomainTables, KindConfig, read_kinds
from memflow.annotation.sampling import Candidate
from memflow.annotation.sheet import Item, Label, Part, Unit
from memflow.fingerprint import seeded
from memflow.records import FeedbackRound, Probe


def _writing_candidates(config: KindConfig, tables: DomainTables) -> Iterator[Candidate]:
    """Yield each training case whose first answer a simulated user criticized, with what is right."""
    for probe, first in _criticized(tables):
        right = Part(title=config.shown["right"], text=probe.revealed)
        item = Item(id=probe.probe_id, asks=config.asks, labels=config.labels)
        yield Candidate(_unit(config, probe, first, [right], [item]))


def _compared_candidates(config: KindConfig, tables: DomainTables) -> Iterator[Candidate]:
    """Yield each of these cases that has a written feedback, with an item per aspect; the key is the simulated one."""
    for probe, first in _criticized(tables):
        written = tables.written.get(probe.probe_id)
        if written is None:
            continue
        texts = [first.critique or "", written]
        random.Random(seeded("annotation order", probe.probe_id)).shuffle(texts)
        parts = [
            Part(title=f"{config.shown['feedback']} {at}", text=text) for at, text in enumerate(texts, 1)
        ]
        labels = [Label(name=f"option_{at}", says=part.title) for at, part in enumerate(parts, 1)]
        items = [
            Item(id=f"{probe.probe_id}#{aspect}", aspect=aspect, asks=asks, labels=labels)
            for aspect, asks in config.aspects.items()
        ]
        simulated = labels[texts.index(first.critique or "")].name
        yield Candidate(_unit(config, probe, first, parts, items), {item.id: simulated for item in items})


def _criticized(tables: DomainTables) -> Iterator[tuple[Probe, FeedbackRound]]:
    """Yield the training cases with their first round, if a model criticized its answer."""
    probes = {probe.probe_id: probe for probe in tables.probes if probe.split == "train"}
    for row in tables.feedback:
        by_model = row.reason is None and row.score is None
        if row.round == 0 and row.critique and by_model and row.case_id in probes:
            yield probes[row.case_id], row


def _unit(
    config: KindConfig, probe: Probe, first: FeedbackRound, parts: list[Part], items: list[Item]
) -> Unit:
    """Return a case as an annotation unit. Cases are independent, so each is an episode."""
    request = [
        Part(title=config.shown["question"], text=first.user_text),
        Part(title=config.shown["answer"], text=first.answer),
    ]
    language = "zh" if probe.language == "zh" else "en"
    return Unit(
        id=probe.probe_id, episode=probe.probe_id, language=language, shown=[*request, *parts], items=items
    )


KINDS = read_kinds(
    "memflow.benchmarks.memorybench",
    {
        "feedback_writing": _writing_candidates,
        "feedback": _compared_candidates,
    },
)
