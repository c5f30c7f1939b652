"""Constant policies as baselines: what an assistant scores that always says it cannot say, or deletes everything.

Their replies run through the same verdicts and scores as those of an assistant.
"""

import json
from collections.abc import Callable, Mapping, Sequence

from memflow.benchmarks.retraction.examination import gold_text
from memflow.records import STORED, Probe, Reply, Turn

Policy = Callable[[Probe, Mapping[str, Turn], Sequence[Turn]], str]
"""The answer to a probe, given the messages by id and the requests to forget before the probe."""


def _never_says(probe: Probe, messages: Mapping[str, Turn], requests: Sequence[Turn]) -> str:
    return _cannot_say(probe)


def _deletes_everything(probe: Probe, messages: Mapping[str, Turn], requests: Sequence[Turn]) -> str:
    """Answer right if all evidence came after the last request to forget, of whatever."""
    last = max((request.event for request in requests), default=-1)
    stated = [messages[name].event for name in probe.evidence if name in messages]
    return gold_text(probe) if stated and min(stated) > last else _cannot_say(probe)


def _ignores_requests(probe: Probe, messages: Mapping[str, Turn], requests: Sequence[Turn]) -> str:
    """Answer as before the last change: no request, correction or restriction is obeyed."""
    return probe.previous or gold_text(probe)


POLICIES: dict[str, Policy] = {
    'always "I can\'t answer that"': _never_says,
    "delete everything at a request": _deletes_everything,
    "obey nothing": _ignores_requests,
}


def policy_replies(policy: str, probes: Sequence[Probe], turns: Sequence[Turn]) -> list[Reply]:
    """Return the replies of a policy to the questions of a domain."""
    messages = {turn.message_id: turn for turn in turns}
    requests = [turn for turn in turns if turn.forgets is not None]
    replies = []
    for probe in probes:
        if probe.kind == STORED or probe.reason is not None:
            continue
        before = [
            turn
            for turn in requests
            if turn.episode_id == probe.episode_id and turn.checkpoint <= probe.checkpoint
        ]
        text = POLICIES[policy](probe, messages, before)
        parsed = str(probe.options.index(text) + 1) if probe.options else text
        replies.append(
            Reply(
                domain=probe.domain,
                assistant=policy,
                probe_id=probe.probe_id,
                episode_id=probe.episode_id,
                checkpoint=probe.checkpoint,
                text=text,
                parsed=parsed,
                recalled=[],
                recalled_sources=[],
            )
        )
    return replies


def _cannot_say(probe: Probe) -> str:
    if not probe.options:
        return "-"  # an open answer that names no value
    return next(
        option
        for option, variant in zip(probe.options, probe.variants, strict=True)
        if json.loads(variant) == [None]
    )
