"""Conversion of questions to probes, and the JSON of the gold of open questions."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from memflow.benchmarks.dialogues.config import DialoguesConfig
from memflow.benchmarks.dialogues.content import OwnDialogue, OwnQuestion
from memflow.benchmarks.dialogues.metrics import ABSTENTION, METRIC_NAMES
from memflow.benchmarks.dialogues.questions import NO_ANSWER, declines
from memflow.benchmarks.dialogues.turns import checkpoints_of, message_id
from memflow.records import Probe
from memflow.scoring.catalog import ACCURACY
from memflow.words import HAN

_CHINESE = re.compile(f"[{HAN}]")
_KANA = re.compile("[\u3040-\u30ff]")


@dataclass(frozen=True, slots=True)
class OpenGold:
    """The gold of an open question: the correct answers, the rubric of the judge, or neither (`abstain`)."""

    answers: tuple[str, ...] = ()
    rubric: str | None = None
    abstain: bool = False

    def packed(self) -> str:
        """Return the gold as a text: a single answer as it is, several as a JSON list, anything else as an object."""
        if self.rubric is None and not self.abstain:
            if len(self.answers) == 1 and _parsed(self.answers[0]) is None:
                return self.answers[0]
            return json.dumps(self.answers, ensure_ascii=False)
        fields = {"rubric": self.rubric, "answers": self.answers, "abstain": self.abstain}
        return json.dumps({name: value for name, value in fields.items() if value}, ensure_ascii=False)

    @classmethod
    def unpacked(cls, gold: str) -> "OpenGold":
        """Return the gold that `packed` wrote."""
        found = _parsed(gold)
        if found is None:
            return cls((gold,))
        if isinstance(found, list):
            return cls(tuple(found))
        return cls(tuple(found.get("answers", ())), found.get("rubric"), found.get("abstain", False))


def _parsed(text: str) -> Any:
    """Return the list or object of a packed gold; None for a text that is an answer."""
    if text[:1] not in ("[", "{"):
        return None
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if isinstance(found, list):
        return found if found and all(isinstance(each, str) for each in found) else None
    return found if found and found.keys() <= {"answers", "rubric", "abstain"} else None


def make_probes(domain: str, dialogue: OwnDialogue, config: DialoguesConfig) -> Iterator[Probe]:
    """Yield the probes of a dialogue in the order of its questions."""
    checkpoints = checkpoints_of(dialogue.messages)
    ends = {last: place + 1 for place, last in enumerate(checkpoints)}
    for asked in dialogue.questions:
        fields = asked.fields
        checkpoint = checkpoints[asked.visible - 1] if asked.visible else 0
        inside = 0 < asked.visible < ends.get(checkpoint, 0)
        language = fields.language or dialogue.language or language_of(fields.question)
        yield Probe(
            domain=domain,
            probe_id=f"{dialogue.dialogue_id}/{asked.question_id}",
            episode_id=dialogue.dialogue_id,
            checkpoint=checkpoint,
            after=message_id(dialogue, dialogue.messages[asked.visible - 1].message_id) if inside else None,
            kind="choice" if fields.options else "open",
            dataset=dialogue.dataset,
            category=fields.type,
            language=language,
            asked_at=asked.asked_at,
            metric=metric_of(asked, config),
            question=fields.question,
            options=list(fields.options),
            variables=[],
            gold=_gold(asked),
            revealed=_revealed(asked, language),
            evidence=[message_id(dialogue, each) for each in fields.evidence],
            slices=[f"{name} {value}" for name, value in sorted(fields.slices.items())],
            reason=asked.reason or dialogue.reason,
        )


def metric_of(asked: OwnQuestion, config: DialoguesConfig) -> str:
    """Return the metric of a question: its own, or that of its kind."""
    if asked.fields.metric is not None:
        return METRIC_NAMES[asked.fields.metric]
    if asked.fields.options:
        return ACCURACY.name
    if asked.abstain:
        return ABSTENTION.name
    return METRIC_NAMES["judge" if asked.fields.rubric is not None else config.open_metric]


def is_unanswerable(probe: Probe) -> bool:
    """Return whether the gold of a probe is that there is no answer."""
    if probe.reason is not None:
        return False
    if probe.options:
        return declines(probe.options[int(probe.gold) - 1])
    return OpenGold.unpacked(probe.gold).abstain


def language_of(text: str) -> str:
    """Return `zh` for a text with Chinese characters and no Japanese kana, otherwise `en`."""
    return "zh" if _CHINESE.search(text) and not _KANA.search(text) else "en"


def _gold(asked: OwnQuestion) -> str:
    if asked.reason is not None:
        return ""
    if asked.fields.options:
        return str(asked.number)
    return OpenGold(asked.golds, asked.fields.rubric, asked.abstain).packed()


def _revealed(asked: OwnQuestion, language: str) -> str:
    """Return the gold as the memory `oracle` gets it."""
    if asked.number is not None and asked.reason is None:
        return asked.fields.options[asked.number - 1]
    if asked.abstain:
        return NO_ANSWER[language]
    return asked.golds[0] if asked.golds else asked.fields.rubric or ""
