"""Capacity: how much may be said until a memory has lost what it was told (paper, sections 3.4 and 4.4, figure 5).

Under the protocol `capacity` every step is a checkpoint, and a question is asked after its last evidence and after
every step that follows. Then accuracy is a curve over tokens, and its knee (metrics/knee.py) is the capacity.

Tokens are counted in two ways. The figures proper count what a memory has to hold to answer: from the first evidence
on, that included (`since_tokens`). A memory that keeps its newest n tokens falls at n then, wherever in a trajectory
its evidence stands. The variant IN_ALL counts all that had been said, as figure 5 does (`said_tokens`): a memory that
fails once n tokens were said in all falls at n, and what is lost by its age is blurred. Where evidence stands at the
beginning, they agree.

When a question is asked, and its figures over tokens, are here; accuracy over all is figures.py.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from memflow.benchmarks.api import AssistantResults
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.membench.config import parameters_of
from memflow.fingerprint import seeded
from memflow.metrics.knee import knee
from memflow.records import Probe, Score, Turn
from memflow.scoring.estimate import MetricContext, mean_score, valid_probes, values_by_metric
from memflow.tokens import estimate

CAPACITY = "capacity"
"""The metric, and the protocol that it takes."""
IN_ALL = "in_all"
"""The variant that counts all that had been said."""
BEFORE, BEYOND = "before the knee", "beyond the knee"
"""The slices of accuracy on either side of a knee; there are none where there is no knee."""
TOKENS = "tokens"
"""The slices of accuracy over tokens: `tokens 1000` are those up to 1,000, and above the one before."""
BINS = 12
"""Bins of a curve, at most: their width is 1, 2 or 5 times a power of ten, the same for all memories of a domain."""


def placed(turns: Sequence[Turn]) -> list[Turn]:
    """The turns with every step a checkpoint."""
    return [replace(turn, checkpoint=turn.event) for turn in turns]


def asked_along(probes: Sequence[Probe], turns: Sequence[Turn]) -> list[Probe]:
    """Each probe once for its last evidence and for each step that follows, with the step as its checkpoint.

    One that is quarantined, or whose evidence was not said, is asked once, after the last step.
    """
    streams = _streams(turns)
    found: list[Probe] = []
    for probe in probes:
        stream = streams.get(probe.episode_id, _Stream())
        told = stream.told(probe)
        if probe.reason is not None or not told:
            found.append(stream.counted(replace(probe, checkpoint=stream.last), stream.last))
            continue
        found += [
            stream.counted(replace(probe, probe_id=f"{probe.probe_id}/after{event}", checkpoint=event), event)
            for event in stream.events
            if event >= told[-1]
        ]
    return found


def asked_at_end(probes: Sequence[Probe], turns: Sequence[Turn]) -> list[Probe]:
    """The probes with how many tokens have been said by the end."""
    streams = _streams(turns)
    found = [(probe, streams.get(probe.episode_id, _Stream())) for probe in probes]
    return [stream.counted(probe, stream.last) for probe, stream in found]


def capacity_scores(domain: Domain, measured: AssistantResults) -> list[Score]:
    """The curve with chance beside it, the knee, and the accuracy on either side of it, in both ways of counting.

    None, where questions are asked at the end alone.
    """
    if parameters_of(domain).protocol != CAPACITY:
        return []
    probes, values = valid_probes(measured), values_by_metric(measured)
    return [
        figure
        for variant, places in _axes(probes).items()
        for figure in _along(_Curve(MetricContext(domain, measured), variant, places, values), probes)
    ]


def is_curve(figure: Score) -> bool:
    """Whether a figure is a point of a curve over tokens."""
    return figure.slice.startswith(f"{TOKENS} ")


def tokens_of(figure: Score) -> int:
    """Where a figure stands on its curve: the upper end of its bin, in tokens."""
    return int(figure.slice.partition(" ")[2])


def width_of(last: float) -> int:
    """The width of the bins of a curve up to `last` tokens."""
    power = 1
    while True:
        for times in (1, 2, 5):
            if last <= times * power * BINS:
                return times * power
        power *= 10


def _axes(probes: Sequence[Probe]) -> dict[str, dict[str, int]]:
    """The tokens of each probe that has them, by its id, in each way of counting."""
    return {
        "standard": {one.probe_id: one.since_tokens for one in probes if one.since_tokens is not None},
        IN_ALL: {one.probe_id: one.said_tokens for one in probes if one.said_tokens is not None},
    }


@dataclass(frozen=True)
class _Curve:
    """Whose curve, in which way of counting, and what is known of each probe by its id."""

    of: MetricContext
    variant: str
    places: Mapping[str, int]
    values: Mapping[str, Mapping[str, float]]

    def mean(self, metric: str, name: str, part: Sequence[Probe]) -> Score:
        return replace(mean_score(self.of, metric, name, part, self.values[metric]), variant=self.variant)

    def knee(self, asked: Sequence[Probe]) -> Score:
        like = replace(self.mean("accuracy", "all", asked), metric=CAPACITY, value=None, low=None, high=None)
        if like.reason is not None:
            return like
        right = self.values["accuracy"]
        scored = [one for one in asked if one.probe_id in right]
        found = knee(
            [self.places[one.probe_id] for one in scored],
            [right[one.probe_id] for one in scored],
            [one.episode_id for one in scored],
            name="accuracy",
            unit="tokens",
            seed=seeded(self.of.domain.seed, self.of.domain.name, self.variant),
        )
        return replace(like, value=found.place, low=found.low, high=found.high, reason=found.reason)


def _along(curve: _Curve, probes: Sequence[Probe]) -> Iterator[Score]:
    places = curve.places
    asked = [one for one in probes if one.probe_id in places]
    width = width_of(max(places.values(), default=0))
    bins: dict[int, list[Probe]] = {}
    for probe in asked:
        bins.setdefault(-(-places[probe.probe_id] // width) * width, []).append(probe)
    for end in sorted(bins):
        for metric in ("accuracy", "random"):
            yield curve.mean(metric, f"{TOKENS} {end}", bins[end])
    found = curve.knee(asked)
    yield found
    if found.value is not None:
        yield curve.mean("accuracy", BEFORE, [one for one in asked if places[one.probe_id] <= found.value])
        yield curve.mean("accuracy", BEYOND, [one for one in asked if places[one.probe_id] > found.value])


class _Stream:
    """What is said in an episode, by event: the tokens up to each, and where each message stands."""

    def __init__(self) -> None:
        self.events: list[int] = []
        self._up_to: dict[int, int] = {}
        self._event: dict[str, int] = {}
        self._before: dict[str, int] = {}
        self._tokens = 0

    def say(self, turn: Turn) -> None:
        """The next message, in order."""
        self._event[turn.message_id], self._before[turn.message_id] = turn.event, self._tokens
        self._tokens += estimate(turn.text)
        if not self.events or self.events[-1] != turn.event:
            self.events.append(turn.event)
        self._up_to[turn.event] = self._tokens

    @property
    def last(self) -> int:
        """The last event; 0 where there is none."""
        return self.events[-1] if self.events else 0

    def told(self, probe: Probe) -> list[int]:
        """The events that tell what a probe asks, in order."""
        return sorted({self._event[one] for one in probe.evidence if one in self._event})

    def counted(self, probe: Probe, event: int) -> Probe:
        """The probe with the tokens said up to an event, and those since its first evidence, which was said by then."""
        said = self._up_to.get(event, 0)
        before = [self._before[one] for one in probe.evidence if one in self._before]
        return replace(probe, said_tokens=said, since_tokens=said - min(before) if before else None)


def _streams(turns: Sequence[Turn]) -> dict[str, _Stream]:
    """What is played of each episode: messages with a reason are not said."""
    found: dict[str, _Stream] = {}
    for turn in sorted(turns, key=lambda turn: (turn.event, turn.position)):
        if turn.reason is None:
            found.setdefault(turn.episode_id, _Stream()).say(turn)
    return found
