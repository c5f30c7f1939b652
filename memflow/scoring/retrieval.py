"""Retrieval headroom of one probe: what another search over the stored entries recalls, with equal k and tokens.

memflow/run/retrieval.py searches the entries; headroom.py summarizes the rows of an assistant.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from memflow.fingerprint import digest
from memflow.memories.entries import Item
from memflow.metrics.diagnosis import attribute_by_evidence
from memflow.records import FailureAttribution, ProbeRetrieval
from memflow.tokens import estimate

OWN, HYBRID, VECTOR, TEXT, RANDOM = "memory", "hybrid", "vector", "text", "random"
MODES = (HYBRID, VECTOR, TEXT)
"""The searches that are compared with the memory's own. Of equally good ones, the first is chosen."""
DRAWS = 20
"""Random orders of the entries of each probe, over which the baseline is averaged."""


@dataclass(frozen=True)
class ProbeEntries:
    """What a memory stored and recalled when a probe was asked, without bookkeeping and summaries of everything.

    `evidence` are the ids of the messages that the memory had received by then, `items` the entries by id, and
    `recalled` ids of entries, in order.
    """

    attribution: FailureAttribution
    evidence: frozenset[str]
    items: Mapping[str, Item]
    recalled: Sequence[str]

    @property
    def k(self) -> int:
        """The number of entries that the memory recalled."""
        return len(self.recalled)

    @property
    def tokens(self) -> int:
        """The estimated tokens of these entries."""
        return sum(estimate(self.items[name].text) for name in self.recalled)

    def cut_to_budget(self, ranking: Iterable[str]) -> list[str]:
        """Return the ids of the best entries of a ranking within the memory's own k and tokens.

        An entry that is longer than the remaining tokens is skipped.
        """
        remaining_tokens = self.tokens
        entry_ids: list[str] = []
        for entry_id in ranking:
            if len(entry_ids) == self.k:
                break
            tokens = estimate(self.items[entry_id].text)
            if tokens <= remaining_tokens:
                entry_ids.append(entry_id)
                remaining_tokens -= tokens
        return entry_ids

    def messages(self, names: Iterable[str]) -> frozenset[str]:
        """Return the evidence messages that entries came from."""
        return self.evidence.intersection(source for name in names for source in self.items[name].sources)

    def ranks(self, ranking: Sequence[str]) -> list[float]:
        """Return the rank, from 1, of the first entry of each evidence message in a ranking, in ascending order."""
        first_ranks: dict[str, int] = {}
        for rank, name in enumerate(ranking, start=1):
            for source in self.evidence.intersection(self.items[name].sources):
                first_ranks.setdefault(source, rank)
        return [float(rank) for rank in sorted(first_ranks.values())]

    def read_failure(self, recalled_evidence: frozenset[str]) -> float | None:
        """Return the part of the loss that is a read failure with this evidence recalled; None without a loss."""
        loss = self.attribution.loss
        if loss is None:
            return None
        return attribute_by_evidence(self.evidence, self.messages(self.items), recalled_evidence, loss).read


def retrieval_rows(probe: ProbeEntries, rankings: Mapping[str, Sequence[str]]) -> list[ProbeRetrieval]:
    """Return the rows of a probe: of the memory itself, of each ranking by mode, and of random orders."""
    rows = [_row(probe, OWN, [probe.messages(probe.recalled)], probe.ranks(probe.recalled))]
    for mode, ranking in rankings.items():
        rows.append(_row(probe, mode, [probe.messages(probe.cut_to_budget(ranking))], probe.ranks(ranking)))
    random_recalls = [probe.messages(probe.cut_to_budget(order)) for order in _random_orders(probe)]
    rows.append(_row(probe, RANDOM, random_recalls, []))
    return rows


def unmeasured_row(attribution: FailureAttribution, reason: str) -> ProbeRetrieval:
    """Return the row of a probe whose recall cannot be compared, with the reason."""
    return ProbeRetrieval(**_columns(attribution), ranking=OWN, evidence=attribution.evidence, reason=reason)


def _row(
    probe: ProbeEntries, ranking: str, recalled: Sequence[frozenset[str]], ranks: list[float]
) -> ProbeRetrieval:
    """Return the row of a ranking: `recalled` are the evidence messages that it recalls, in each of its draws.

    `avoided` is the read failure of the memory minus the mean read failure of the draws.
    """
    own_failure = probe.read_failure(probe.messages(probe.recalled))
    failures = [probe.read_failure(messages) for messages in recalled]
    defined_failures = [failure for failure in failures if failure is not None]
    avoided = None
    if own_failure is not None and defined_failures:
        avoided = own_failure - sum(defined_failures) / len(defined_failures)
    return ProbeRetrieval(
        **_columns(probe.attribution),
        ranking=ranking,
        evidence=len(probe.evidence),
        stored=len(probe.messages(probe.items)),
        entries=len(probe.items),
        k=probe.k,
        tokens=probe.tokens,
        recalled=sum(map(len, recalled)) / len(recalled),
        ranks=ranks,
        read=own_failure,
        avoided=avoided,
    )


def _columns(row: FailureAttribution) -> dict[str, Any]:
    names = ("domain", "assistant", "probe_id", "episode_id", "checkpoint")
    return {name: getattr(row, name) for name in names}


def _random_orders(probe: ProbeEntries) -> Iterator[Iterable[str]]:
    """Yield random orders of a probe's entries, the same ones in each run."""
    names = [*probe.items]
    if probe.k >= len(names):
        yield names
        return
    seed = int(digest(probe.attribution.domain, probe.attribution.probe_id)[:8], 16)
    rng = np.random.default_rng(seed)
    for _ in range(DRAWS):
        yield [names[number] for number in rng.permutation(len(names))]
