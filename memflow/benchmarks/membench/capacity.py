"""Capacity: the number of tokens up to which a memory retains its input (paper, sections 3.4, 4.4, figure 5).

Under the protocol `capacity` every step is a checkpoint. A question is asked after each step, from the step of its last
evidence on. Accuracy is then a curve over tokens, and the knee of the curve (memflow/metrics/knee.py) is the capacity.
The score variant `standard` counts the tokens since the first evidence message: a memory that keeps the newest n tokens
loses accuracy at n. The variant IN_ALL counts all tokens since the first message, as figure 5 does.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from memflow.benchmarks.api import AssistantResults
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.membench.config import parameters_of
from memflow.fingerprint import seeded
from memflow.metrics.knee import knee
from memflow.records import Probe, Score, Turn
from memflow.scoring.estimate import MetricContext, choice_values, probe_score, valid_probes
from memflow.tokens import estimate

CAPACITY = "capacity"
"""The metric, and the protocol that it takes."""
IN_ALL = "in_all"
"""The variant that counts all tokens so far."""
BEFORE, BEYOND = "before the knee", "beyond the knee"
"""The slices of accuracy on either side of the knee, where there is one."""
TOKENS = "tokens"
"""The slices of accuracy over tokens: `tokens 1000` is the bin that ends at 1,000."""
BINS = 12
"""The maximal number of bins: their width is 1, 2 or 5 times a power of ten, the same for all memories of a domain."""


def checkpoint_per_step(turns: Sequence[Turn]) -> list[Turn]:
    """Return the turns with one checkpoint per step."""
    return [replace(turn, checkpoint=turn.event) for turn in turns]


def probes_per_step(probes: Sequence[Probe], turns: Sequence[Turn]) -> list[Probe]:
    """Return a copy of each probe for every step from its last evidence on, with the tokens up to the step.

    The step is the checkpoint, and the id is `PROBE/afterSTEP`. A probe that is quarantined, or whose evidence was not
    played, is asked once, after the last step, and keeps its id.
    """
    streams = _streams(turns)
    found: list[Probe] = []
    for probe in probes:
        stream = streams.get(probe.episode_id, _TokenCount())
        given = stream.evidence_events(probe)
        if probe.reason is not None or not given:
            found.append(stream.counted(replace(probe, checkpoint=stream.last), stream.last))
            continue
        found += [
            stream.counted(replace(probe, probe_id=f"{probe.probe_id}/after{event}", checkpoint=event), event)
            for event in stream.events
            if event >= given[-1]
        ]
    return found


def probes_at_end(probes: Sequence[Probe], turns: Sequence[Turn]) -> list[Probe]:
    """Return the probes with the number of tokens up to the end of the trajectory."""
    streams = _streams(turns)
    found = [(probe, streams.get(probe.episode_id, _TokenCount())) for probe in probes]
    return [stream.counted(probe, stream.last) for probe, stream in found]


def capacity_scores(domain: Domain, results: AssistantResults) -> list[Score]:
    """Return the accuracy curve, its chance level, the knee, and the accuracy before and after the knee.

    Each score has two variants, one for each way of counting tokens. The list is empty if questions are asked at the
    end only.
    """
    if parameters_of(domain).protocol != CAPACITY:
        return []
    probes, values = valid_probes(results), choice_values(results)
    return [
        score
        for variant, tokens in _axes(probes).items()
        for score in _curve_scores(
            _Curve(MetricContext.from_results(domain, results), variant, tokens, values), probes
        )
    ]


def width_of(last: float) -> int:
    """Return the width, in tokens, of the bins of an accuracy curve that ends at `last` tokens."""
    power = 1
    while True:
        for times in (1, 2, 5):
            if last <= times * power * BINS:
                return times * power
        power *= 10


def _axes(probes: Sequence[Probe]) -> dict[str, dict[str, int]]:
    """Return the token count of each probe, by score variant and probe id. Probes without a count are omitted."""
    return {
        "standard": {one.probe_id: one.since_tokens for one in probes if one.since_tokens is not None},
        IN_ALL: {probe.probe_id: probe.said_tokens for probe in probes if probe.said_tokens is not None},
    }


@dataclass(frozen=True)
class _Curve:
    """The probes of one assistant, with metric values and with the tokens of earlier messages that the variant counts.

    `tokens` is keyed by probe id, `values` by metric and probe id.
    """

    context: MetricContext
    variant: str
    tokens: Mapping[str, int]
    values: Mapping[str, Mapping[str, float]]

    def mean(self, metric: str, name: str, part: Sequence[Probe]) -> Score:
        return probe_score(
            self.context, metric, part, self.values[metric], slice_name=name, variant=self.variant
        )

    def knee(self, asked: Sequence[Probe]) -> Score:
        like = replace(self.mean("accuracy", "all", asked), metric=CAPACITY, value=None, low=None, high=None)
        like = replace(like, interval_reason=None, interval_units=None)
        if like.reason is not None:
            return like
        right = self.values["accuracy"]
        scored = [one for one in asked if one.probe_id in right]
        found = knee(
            [self.tokens[one.probe_id] for one in scored],
            [right[one.probe_id] for one in scored],
            [one.episode_id for one in scored],
            name="accuracy",
            unit="tokens",
            seed=seeded(self.context.seed, self.context.base, self.variant),
        )
        return replace(
            like,
            value=found.place,
            low=found.low,
            high=found.high,
            interval_units=None if found.low is None else "episodes",
            reason=found.reason,
        )


def _curve_scores(curve: _Curve, probes: Sequence[Probe]) -> Iterator[Score]:
    tokens = curve.tokens
    asked = [one for one in probes if one.probe_id in tokens]
    width = width_of(max(tokens.values(), default=0))
    bins: dict[int, list[Probe]] = {}
    for probe in asked:
        bins.setdefault(-(-tokens[probe.probe_id] // width) * width, []).append(probe)
    for end in sorted(bins):
        for metric in ("accuracy", "random"):
            yield curve.mean(metric, f"{TOKENS} {end}", bins[end])
    found = curve.knee(asked)
    yield found
    if found.value is not None:
        yield curve.mean("accuracy", BEFORE, [one for one in asked if tokens[one.probe_id] <= found.value])
        yield curve.mean("accuracy", BEYOND, [one for one in asked if tokens[one.probe_id] > found.value])


class _TokenCount:
    """The number of tokens in an episode up to each event, counted message by message."""

    def __init__(self) -> None:
        self.events: list[int] = []
        self._up_to: dict[int, int] = {}
        self._event: dict[str, int] = {}
        self._before: dict[str, int] = {}
        self._tokens = 0

    def add(self, turn: Turn) -> None:
        """Count the next message. Messages must be added in order."""
        self._event[turn.message_id], self._before[turn.message_id] = turn.event, self._tokens
        self._tokens += estimate(turn.text)
        if not self.events or self.events[-1] != turn.event:
            self.events.append(turn.event)
        self._up_to[turn.event] = self._tokens

    @property
    def last(self) -> int:
        """The number of the last event, or 0 without events."""
        return self.events[-1] if self.events else 0

    def evidence_events(self, probe: Probe) -> list[int]:
        """Return the events of a probe's evidence in order."""
        return sorted({self._event[one] for one in probe.evidence if one in self._event})

    def counted(self, probe: Probe, event: int) -> Probe:
        """Return the probe with two counts: the tokens up to an event, and the tokens since its first evidence."""
        said = self._up_to.get(event, 0)
        before = [self._before[one] for one in probe.evidence if one in self._before]
        return replace(probe, said_tokens=said, since_tokens=said - min(before) if before else None)


def _streams(turns: Sequence[Turn]) -> dict[str, _TokenCount]:
    """Return the token counter of each episode. Messages with a reason (quarantined) are not counted."""
    found: dict[str, _TokenCount] = {}
    for turn in sorted(turns, key=lambda turn: (turn.event, turn.position)):
        if turn.reason is None:
            found.setdefault(turn.episode_id, _TokenCount()).add(turn)
    return found
