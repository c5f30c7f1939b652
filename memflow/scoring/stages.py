"""The stage of an evaluation at which a probe first differs between two runs: users, answers or judging.

The stages are in causal order: the users give messages and questions, the assistant answers, the judge scores. A
difference at one stage can cause all differences after it, so a probe belongs to the first stage that differs. drift.py
sums the effects of the stages.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, Literal, NamedTuple, get_args

from memflow.records import Probe, Reply, TranscriptMessage
from memflow.scoring.catalog import find_metric

Stage = Literal["users", "answers", "judging"]
STAGES: tuple[Stage, ...] = get_args(Stage)
JOINT = "failure"
"""The group of metrics whose values depend on the replies to several probes of an episode."""


@dataclass(frozen=True)
class EvaluationRows:
    """The rows of one assistant in one domain at one time. `bases` maps an episode to the episode that it starts from.

    `messages` are in the order of their sequence numbers in each episode.
    """

    probes: Sequence[Probe]
    messages: Sequence[TranscriptMessage]
    replies: Sequence[Reply]
    bases: Mapping[str, str]


def first_stages(before: EvaluationRows, after: EvaluationRows) -> dict[str, Stage]:
    """Return the first stage that differs, by probe id; a probe without any difference before its verdicts is missing.

    `users`: the probe is new or removed, its row differs, or the first differing message before it comes from the data
    or the simulator. `answers`: that message comes from the assistant, or the reply differs. Messages after a probe
    never concern it. Verdicts are left to `stages_of_metric`, because they differ by metric.
    """
    old_probes, new_probes = ({probe.probe_id: probe for probe in rows.probes} for rows in (before, after))
    old_replies, new_replies = ({reply.probe_id: reply for reply in rows.replies} for rows in (before, after))
    histories = _Histories(before, after)
    stages: dict[str, Stage] = {}
    for probe_id in old_probes.keys() | new_probes.keys():
        if old_probes.get(probe_id) != new_probes.get(probe_id):
            stages[probe_id] = "users"
        elif (stage := histories.stage_before(new_probes[probe_id])) is not None:
            stages[probe_id] = stage
        elif _answer_of(old_replies.get(probe_id)) != _answer_of(new_replies.get(probe_id)):
            stages[probe_id] = "answers"
    return stages


def stages_of_metric(
    metric: str, first: Mapping[str, Stage], episodes: Mapping[str, str], changed: Collection[str]
) -> dict[str, Stage]:
    """Return the stage of each probe under one metric, given `first_stages` and the probes whose value differs.

    `episodes` has the episode of each probe. A differing value after an equal reply is `judging`, except under a metric
    of several replies (such as failure rates by state probes): there it is the first stage that differs in the episode.
    """
    stages = dict(first)
    earliest_of_episode: dict[str, Stage] = {}
    if find_metric(metric).group == JOINT:
        for probe, stage in first.items():
            episode = episodes.get(probe, "")
            earliest = earliest_of_episode.get(episode, stage)
            earliest_of_episode[episode] = min(stage, earliest, key=STAGES.index)
    for probe in changed:
        default = earliest_of_episode.get(episodes.get(probe, ""), "judging")
        stages[probe] = min(default, stages.get(probe, default), key=STAGES.index)
    return stages


def _answer_of(reply: Reply | None) -> tuple[Any, ...]:
    return () if reply is None else (reply.text, reply.parsed, reply.text is None and reply.reason)


class _Histories:
    """The first differing message of each episode."""

    def __init__(self, before: EvaluationRows, after: EvaluationRows) -> None:
        self._bases = after.bases
        self._after = _by_episode(after.messages)
        former = _by_episode(before.messages)
        self._first: dict[str, _Difference] = {}
        for episode in former.keys() | self._after.keys():
            first = _first_difference(former.get(episode, ()), self._after.get(episode, ()))
            if first is not None:
                self._first[episode] = first

    def stage_before(self, probe: Probe) -> Stage | None:
        """Return the stage of the first differing message before a probe, in its base episodes or in its own."""
        if probe.opens:  # asked without context
            return None
        first = self._first.get(probe.episode_id)
        stage = first.stage if first is not None and self._is_before(first, probe) else None
        base = self._bases.get(probe.episode_id)
        while base is not None:  # all messages of a base are before the probe
            if base in self._first:
                stage = self._first[base].stage
            base = self._bases.get(base)
        return stage

    def _is_before(self, first: "_Difference", probe: Probe) -> bool:
        """Return whether a difference in the probe's own episode is before the probe."""
        if probe.after is not None:
            ids = [message.message_id for message in self._after.get(probe.episode_id, ())]
            if probe.after in ids:
                return first.position <= ids.index(probe.after)
        return first.checkpoint <= probe.checkpoint


class _Difference(NamedTuple):
    position: int
    checkpoint: int
    stage: Stage


def _by_episode(messages: Sequence[TranscriptMessage]) -> dict[str, list[TranscriptMessage]]:
    messages_by_episode: dict[str, list[TranscriptMessage]] = {}
    for message in messages:
        messages_by_episode.setdefault(message.episode_id, []).append(message)
    return messages_by_episode


def _first_difference(
    before: Sequence[TranscriptMessage], after: Sequence[TranscriptMessage]
) -> _Difference | None:
    """Return the first message that differs; None if all messages are equal."""
    for position, (old, new) in enumerate(zip_longest(before, after)):
        if old is not None and new is not None and _content(old) == _content(new):
            continue
        messages = [message for message in (old, new) if message is not None]
        stage: Stage = "answers" if messages[-1].origin == "assistant" else "users"
        return _Difference(position, min(message.checkpoint for message in messages), stage)
    return None


def _content(message: TranscriptMessage) -> tuple[Any, ...]:
    return message.checkpoint, message.role, message.speaker, message.text, message.sent_at, message.reason
