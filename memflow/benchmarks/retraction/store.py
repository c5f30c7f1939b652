"""Verdicts on the store: which facts that a user took back the entries still contain. No model is needed.

A fact counts only if entries contained it at checkpoint 0. The looks into the memory are probes that ask no answer.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from memflow.benchmarks.domains import Domain
from memflow.benchmarks.retraction.metrics import KNOWN, STORE_LEAK
from memflow.benchmarks.retraction.plans import TOLD
from memflow.benchmarks.verdicts import verdict_row
from memflow.memories.entries import Item
from memflow.memories.memory import Embedder
from memflow.records import STORED, Probe, Reply, Verdict
from memflow.scoring.leaks import RetractedFact, StoreLeak, find_leaks

FORMS = ("exact", "normalized", "paraphrase", "combined")
NOTHING_BEFORE = "the entries contained none of these facts before"
IN_STORE = "store"
"""The variant of `known_before`: whether entries contain the fact."""


async def find_store_leaks(
    probes: Sequence[Probe], replies: Mapping[str, Reply], embedder: Embedder | None
) -> dict[str, dict[str, StoreLeak]]:
    """Return the leaks by probe id and key of the fact, for the looks into the memory that have a result."""
    leaks: dict[str, dict[str, StoreLeak]] = {}
    for probe in probes:
        reply = replies.get(probe.probe_id)
        if probe.kind == STORED and probe.reason is None and reply is not None and reply.text is not None:
            searched: dict[str, Any] = json.loads(probe.gold)
            facts = [
                RetractedFact(fact["value"], tuple(fact["wordings"]), tuple(fact["neighbors"]))
                for fact in searched.values()
            ]
            found = await find_leaks(held_items(reply), facts, embedder)
            leaks[probe.probe_id] = dict(zip(searched, found, strict=True))
    return leaks


def held_items(reply: Reply) -> list[Item]:
    """Return the entries of a look into the memory. The reply does not tell their kinds and sources."""
    texts = json.loads(reply.text or "[]")
    return [
        Item(entry_id, "entry", text, (), 0) for entry_id, text in zip(reply.recalled, texts, strict=False)
    ]


def store_verdicts(
    domain: Domain,
    assistant: str,
    probes: Sequence[Probe],
    replies: Mapping[str, Reply],
    leaks: Mapping[str, Mapping[str, StoreLeak]],
) -> Iterator[Verdict]:
    """Yield the verdicts on the looks into the memory: the share of facts that it contains, at each and by form."""
    before = {
        probe.episode_id: {key for key, leak in leaks[probe.probe_id].items() if leak.form}
        for probe in probes
        if probe.checkpoint == TOLD and probe.probe_id in leaks
    }
    for probe in probes:
        if probe.kind != STORED:
            continue
        reply, found = replies.get(probe.probe_id), leaks.get(probe.probe_id)
        if found is None:
            reason = probe.reason or (reply and reply.reason) or "there is no reply"
            yield _row(domain, assistant, probe, None, reason)
            continue
        counted = [
            leak
            for key, leak in found.items()
            if probe.checkpoint == TOLD or key in before.get(probe.episode_id, ())
        ]
        share = _share([leak.form is not None for leak in counted])
        yield _row(domain, assistant, probe, share, None if counted else NOTHING_BEFORE)
        if probe.checkpoint != TOLD and counted:
            for form in FORMS:
                shown = [getattr(leak, form) for leak in counted]
                searched = None not in shown
                value = _share([bool(entries) for entries in shown]) if searched else None
                why = None if searched else counted[0].reason
                yield verdict_row(domain, assistant, probe, STORE_LEAK.name, value, why, variant=form)


def _row(domain: Domain, assistant: str, probe: Probe, value: float | None, reason: str | None) -> Verdict:
    if probe.checkpoint == TOLD:
        return verdict_row(domain, assistant, probe, KNOWN.name, value, reason, variant=IN_STORE)
    return verdict_row(domain, assistant, probe, STORE_LEAK.name, value, reason)


def _share(values: Sequence[bool]) -> float | None:
    return sum(values) / len(values) if values else None
