"""The questions of a conversation as probes, all asked at its end. The gold is the rubric, as a JSON list.

The rubric is the key, and not the answer beside it: they contradict each other in places (known_errors.yaml).
"""

import json
from collections.abc import Iterator, Sequence

from memflow.benchmarks.beam.config import BeamConfig
from memflow.benchmarks.beam.conversations import BeamConversation, BeamMessage, BeamQuestion
from memflow.benchmarks.beam.judging import CONTRACTS
from memflow.benchmarks.beam.known_errors import has_known_error
from memflow.benchmarks.beam.turns import message_id, message_text
from memflow.benchmarks.partial import InvalidPart
from memflow.records import Probe
from memflow.tokens import estimate


def make_probes(
    domain: str, dataset: str, episode: str, conversation: BeamConversation, config: BeamConfig
) -> Iterator[Probe]:
    """Yield the probes of a conversation in order. An invalid question is a probe with a reason."""
    messages = _Messages(episode, conversation, config)
    for kind, number, question in conversation.questions:
        probe_id = f"{episode}/{kind}/{number}"
        if config.known_errors == "exclude" and has_known_error(probe_id):
            continue
        fault = (
            f"question {number} of {kind}: {question.fault}" if isinstance(question, InvalidPart) else None
        )
        asked = BeamQuestion("", ()) if isinstance(question, InvalidPart) else question
        evidence = [each for each in asked.evidence if each in messages.ids]
        yield Probe(
            domain=domain,
            probe_id=probe_id,
            episode_id=episode,
            checkpoint=0,
            kind="open",
            dataset=dataset,
            category=kind,
            metric=CONTRACTS[config.contracts[0]].metric,
            question=asked.question,
            options=[],
            variables=[],
            gold=json.dumps(list(asked.rubric), ensure_ascii=False),
            revealed=messages.texts(evidence) or "\n".join(asked.rubric),
            evidence=[messages.ids[each] for each in evidence],
            said_tokens=messages.tokens,
            since_tokens=messages.since(evidence),
            slices=[conversation.text],
            reason=fault,
        )


class _Messages:
    """The messages of a conversation by number. A number that occurs twice names no message as evidence."""

    def __init__(self, episode: str, conversation: BeamConversation, config: BeamConfig) -> None:
        self.ids: dict[int, str] = {}
        self.tokens = 0
        self._config = config
        self._found: dict[int, tuple[BeamMessage, int]] = {}
        repeated = set()
        for batch, message in conversation.messages():
            self.ids[message.number] = message_id(episode, batch, message)
            self._found[message.number] = message, self.tokens
            self.tokens += estimate(message.text)
            if message.repeat:
                repeated.add(message.number)
        for number in repeated:
            del self.ids[number]

    def texts(self, numbers: Sequence[int]) -> str:
        """Return the messages with these numbers as text, in the order of the conversation."""
        found = (self._found[number][0] for number in sorted(numbers))
        return "\n".join(f"{message.role}: {message_text(message, self._config)}" for message in found)

    def since(self, numbers: Sequence[int]) -> int | None:
        """Return the estimated tokens from the first of these messages to the end; None without one."""
        starts = [self._found[number][1] for number in numbers]
        return self.tokens - min(starts) if starts else None
