"""Retrieval headroom of an assistant: which of its read failures would a better search have avoided?

Best of several searches is optimistic, so the search for the probes of an episode is the one that recalls most in the
other episodes. Intervals and tests are those of paired comparisons (memflow/metrics/paired.py).
"""

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from memflow.metrics.paired import mean_differences
from memflow.metrics.ranking import recall_at
from memflow.records import ProbeRetrieval
from memflow.scoring.comparison import PairedDifference, paired_difference
from memflow.scoring.retrieval import MODES, OWN, RANDOM

AT = (1, 2, 5, 10, 20, 50, 100)
"""The values of k of the recall curves."""
BEST = "best"
"""The search that is chosen on other episodes."""
ENDS = {"": "difference", "_low": "low", "_high": "high"}
"""The columns of a difference with its interval, and the fields that they have."""
ONE_EPISODE = "with one episode, no search can be chosen on other episodes"


@dataclass(frozen=True, kw_only=True)
class Headroom:
    """The retrieval headroom of an assistant in a domain.

    `recall` is the mean share of evidence that each ranking recalls with the memory's own `k` and `tokens` (means over
    probes): `memory`, the searches, `random`, and `best`. `curves` has the recall of each ranking by `AT` entries,
    without a limit of tokens. `chosen` counts the episodes by the search chosen for them. `gain` is the recall of
    `best` minus that of the memory. `avoided` is the share of the read failures that `best` would have avoided, and
    `avoided_by_random` that of random orders. All values are None without comparable probes; `reason` states why.
    """

    domain: str
    assistant: str
    probes: int
    episodes: int = 0
    entries: float | None = None
    k: float | None = None
    tokens: float | None = None
    stored: float | None = None
    """The mean share of evidence that is in an entry."""
    recall: Mapping[str, float]
    curves: Mapping[str, Sequence[float]]
    chosen: Mapping[str, int]
    failures: float | None = None
    """The mean loss by read failures, over the probes with a value."""
    avoided_by_random: float | None = None
    gain: PairedDifference | None = None
    avoided: PairedDifference | None = None
    reason: str | None = None

    @property
    def statement(self) -> str:
        """A sentence on whether the search or the store of the memory is the problem."""
        if self.reason is not None and self.gain is None:
            return f"Not measurable: {self.reason}."
        store = f"{1 - (self.stored or 0):.0%} of the evidence is in no entry, which no search finds."
        gain, avoided = self.gain, self.avoided
        if not self.failures or gain is None or avoided is None:
            return f"The search is not the problem: there are no read failures. {store}"
        if gain.low is None or gain.high is None or avoided.low is None or avoided.high is None:
            reason = gain.reason or avoided.reason
            return f"It cannot be told whether another search is better: no interval ({reason}). {store}"
        modes = f"{' or '.join(self.chosen)} search"
        share = f"{avoided.difference:.0%} of the read failures ({avoided.low:.0%} to {avoided.high:.0%})"
        recall = f"{gain.difference:+.3f} ({gain.low:+.3f} to {gain.high:+.3f})"
        if gain.low > 0 and avoided.low > 0:
            return f"Its search is a problem: {modes} of the same entries avoids {share}; recall {recall}. {store}"
        if gain.high < 0:
            return f"Its search is better than the others: recall of {modes} {recall}. {store}"
        return f"No better search is known: recall of {modes} {recall}. {store}"

    @property
    def values(self) -> dict[str, Any]:
        """The values and the statement as plain values by column, and `curves`, the lists of values by ranking."""
        gain, avoided = self.gain, self.avoided
        return {
            **{
                name: getattr(self, name) for name in ("domain", "assistant", "probes", "episodes", "entries")
            },
            **{name: getattr(self, name) for name in ("k", "tokens", "stored")},
            **{name: self.recall.get(name) for name in (OWN, *MODES, RANDOM, BEST)},
            "chosen": " or ".join(self.chosen),
            **{f"gain{end}": gain and getattr(gain, name) for end, name in ENDS.items()},
            "read_failures": self.failures,
            **{f"avoided{end}": avoided and getattr(avoided, name) for end, name in ENDS.items()},
            "avoided_by_random": self.avoided_by_random,
            "statement": self.statement,
            "curves": {name: list(curve) for name, curve in self.curves.items()},
        }


def headroom(domain: str, assistant: str, rows: Sequence[ProbeRetrieval], seed: int = 0) -> Headroom:
    """Return the retrieval headroom of an assistant from the rows of its probes."""
    rankings_by_probe: dict[str, dict[str, ProbeRetrieval]] = defaultdict(dict)
    for row in rows:
        if row.reason is None:
            rankings_by_probe[row.probe_id][row.ranking] = row
    if not rankings_by_probe:
        reasons = Counter(row.reason for row in rows if row.reason is not None)
        reason = reasons.most_common(1)[0][0] if reasons else "no probe has evidence to follow"
        return Headroom(
            domain=domain, assistant=assistant, probes=0, recall={}, curves={}, chosen={}, reason=reason
        )
    probe_rankings = list(rankings_by_probe.values())
    modes_by_episode = _choose(probe_rankings)
    memory_rows = [rankings[OWN] for rankings in probe_rankings]
    read_failures = [row.read for row in memory_rows if row.read is not None]
    recall = {
        name: _mean([_share(rankings[name]) for rankings in probe_rankings]) for name in (OWN, *MODES, RANDOM)
    }
    result = Headroom(
        domain=domain,
        assistant=assistant,
        probes=len(probe_rankings),
        episodes=len({row.episode_id for row in memory_rows}),
        entries=_mean([row.entries or 0 for row in memory_rows]),
        k=_mean([row.k or 0 for row in memory_rows]),
        tokens=_mean([row.tokens or 0 for row in memory_rows]),
        stored=_mean([(row.stored or 0) / row.evidence for row in memory_rows]),
        recall=recall,
        curves={name: _curve([rankings[name] for rankings in probe_rankings]) for name in (OWN, *MODES)},
        chosen={},
        failures=_mean(read_failures) if read_failures else None,
        reason=None if modes_by_episode else ONE_EPISODE,
    )
    return _with_best(result, probe_rankings, modes_by_episode, seed) if modes_by_episode else result


def _choose(probes: Sequence[Mapping[str, ProbeRetrieval]]) -> dict[str, str]:
    """Return the search for each episode: the one with the highest recall in the other episodes; {} for one episode."""
    sums: dict[str, dict[str, float]] = defaultdict(lambda: dict.fromkeys(MODES, 0.0))
    for rankings in probes:
        for mode in MODES:
            sums[rankings[mode].episode_id][mode] += _share(rankings[mode])
    if len(sums) < 2:
        return {}
    total = {mode: math.fsum(sums_of_episode[mode] for sums_of_episode in sums.values()) for mode in MODES}

    def best_mode(sums_of_episode: Mapping[str, float]) -> str:
        # Rounded, so that equal sums are equal in any order of addition.
        in_other_episodes = {mode: round(total[mode] - sums_of_episode[mode], 9) for mode in MODES}
        return max(MODES, key=lambda mode: in_other_episodes[mode])

    return {episode: best_mode(sums_of_episode) for episode, sums_of_episode in sums.items()}


def _with_best(
    result: Headroom,
    probes: Sequence[Mapping[str, ProbeRetrieval]],
    mode_by_episode: Mapping[str, str],
    seed: int,
) -> Headroom:
    """Return the headroom with the comparisons of the search chosen for each episode."""
    episodes = {name: number for number, name in enumerate(mode_by_episode)}
    # Columns: the gain in recall, the share of avoided read failures, and that share by a random ranking.
    totals, counts = np.zeros((len(episodes), 3)), np.zeros((len(episodes), 3))
    best_recall = []
    for rankings in probes:
        memory, random = rankings[OWN], rankings[RANDOM]
        top = rankings[mode_by_episode[memory.episode_id]]
        episode = episodes[memory.episode_id]
        best_recall.append(_share(top))
        totals[episode, 0] += _share(top) - _share(memory)
        counts[episode, 0] += 1
        if memory.read:
            totals[episode, 1:] += [top.avoided or 0.0, random.avoided or 0.0]
            counts[episode, 1:] += memory.read
    recall = {**result.recall, BEST: _mean(best_recall)}
    differences = mean_differences(totals, counts, seed=seed)
    _, share, by_random = (float(value) for value in differences.value)
    failing_probes = sum(bool(rankings[OWN].read) for rankings in probes)
    return replace(
        result,
        recall=recall,
        chosen=dict(Counter(mode_by_episode.values()).most_common()),
        gain=paired_difference(
            differences, (recall[BEST], recall[OWN]), n=result.probes, unpaired=(0, 0), column=0
        ),
        avoided=paired_difference(differences, (share, 0.0), n=failing_probes, unpaired=(0, 0), column=1)
        if failing_probes
        else None,
        avoided_by_random=by_random if failing_probes else None,
    )


def _share(row: ProbeRetrieval) -> float:
    """Return the share of the evidence messages that a ranking recalls within the memory's k and tokens."""
    return (row.recalled or 0.0) / row.evidence


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _curve(rows: Sequence[ProbeRetrieval]) -> list[float]:
    """Return the mean recall of evidence by the first k entries of a ranking, for each k in AT."""
    return [_mean([recall_at(row.ranks, row.evidence, k) for row in rows]) for k in AT]
