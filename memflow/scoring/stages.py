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
    episode_stages: dict[str, Stage] = {}
    if find_metric(metric).group == JOINT:
        for probe_id, stage in first.items():
            episode = episodes.get(probe_id, "")
            episode_stages[episode] = min(stage, episode_stages.get(episode, stage), key=STAGES.index)
    for probe_id in changed:
        default = episode_stages.get(episodes.get(probe_id, ""), "judging")
        stages[probe_id] = min(default, stages.get(probe_id, default), key=STAGES.index)
    return stages


def _answer_of(reply: Reply | None) -> tuple[Any, ...]:
    return () if reply is None else (reply.text, reply.parsed, reply.text is None and reply.reason)


class _Histories:
    """The first differing message of each episode; an episode whose messages are equal has none."""

    def __init__(self, before: EvaluationRows, after: EvaluationRows) -> None:
        self._bases = after.bases
        self._new_messages = _by_episode(after.messages)
        old_messages = _by_episode(before.messages)
        self._differences: dict[str, _Difference] = {}
        for episode in old_messages.keys() | self._new_messages.keys():
            difference = _first_difference(old_messages.get(episode, ()), self._new_messages.get(episode, ()))
            if difference is not None:
                self._differences[episode] = difference

    def stage_before(self, probe: Probe) -> Stage | None:
        """Return the stage of the first differing message before a probe, in its base episodes or its own, or None."""
        if probe.opens:  # asked without context
            return None
        difference = self._differences.get(probe.episode_id)
        stage = difference.stage if difference is not None and self._is_before(difference, probe) else None
        base = self._bases.get(probe.episode_id)
        while base is not None:  # all messages of a base are before the probe
            if base in self._differences:
                stage = self._differences[base].stage
            base = self._bases.get(base)
        return stage

    def _is_before(self, difference: "_Difference", probe: Probe) -> bool:
        """Return whether a difference in the probe's own episode is before the probe."""
        if probe.after is not None:
            ids = [message.message_id for message in self._new_messages.get(probe.episode_id, ())]
            if probe.after in ids:
                return difference.position <= ids.index(probe.after)
        # A probe whose message is gone is compared by checkpoint.
        return difference.checkpoint <= probe.checkpoint


class _Difference(NamedTuple):
    """A differing message: its position in the episode from 0, its earlier checkpoint in both runs, and its stage."""

    position: int
    checkpoint: int
    stage: Stage


def _by_episode(messages: Sequence[TranscriptMessage]) -> dict[str, list[TranscriptMessage]]:
    messages_by_episode: dict[str, list[TranscriptMessage]] = {}
    for message in messages:
        messages_by_episode.setdefault(message.episode_id, []).append(message)
    return messages_by_episode


def _first_difference(
    old_messages: Sequence[TranscriptMessage], new_messages: Sequence[TranscriptMessage]
) -> _Difference | None:
    """Return the first message that differs; None if all messages are equal."""
    for position, (old, new) in enumerate(zip_longest(old_messages, new_messages)):
        if old is not None and new is not None and _content(old) == _content(new):
            continue
        messages = [message for message in (old, new) if message is not None]
        stage: Stage = "answers" if messages[-1].origin == "assistant" else "users"
        return _Difference(position, min(message.checkpoint for message in messages), stage)
    return None


def _content(message: TranscriptMessage) -> tuple[Any, ...]:
    return message.checkpoint, message.role, message.speaker, message.text, message.sent_at, message.reason
