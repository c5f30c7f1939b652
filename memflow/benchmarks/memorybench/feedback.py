"""Off-policy feedback (paper, A.2, A.3): the backbone answers the training cases, simulated users react.

At most three answers and two reactions to a case; the last answer gets none. Where a metric settles what is
right (LoCoMo), satisfaction follows from the score and the user's words are fixed; elsewhere the simulator
speaks and scores, and it alone is shown the gold. What the user presses is actions.py's. A simulator that
fails is a row with its reason: never a satisfied user, as in the published code.
"""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.resources import files
from typing import Any

import yaml

from memflow.benchmarks.memorybench.actions import action_probabilities, draw
from memflow.benchmarks.memorybench.answers import Reaction
from memflow.benchmarks.memorybench.parameters import parameters_of
from memflow.benchmarks.memorybench.questions import PACKAGE, put, retry, spoken
from memflow.benchmarks.memorybench.selection import DIALOGUES
from memflow.benchmarks.memorybench.tasks.catalogue import LOCOMO_F1, task
from memflow.chat.asking import ask
from memflow.chat.prompts import load
from memflow.chat.requests import Chat, ChatMessage
from memflow.domains import Domain
from memflow.errors import BadInput
from memflow.fingerprint import seeded
from memflow.memories.entries import EntryStore
from memflow.memories.lexical import Lexical
from memflow.memories.memory import Memory, Message, Tools
from memflow.metrics.text import locomo_f1
from memflow.records import FeedbackRound, Probe, Turn
from memflow.tokens import estimate

__all__ = ["action_probabilities", "feedback", "satisfaction"]

ANSWERS = 3
RIGHT = 0.5
"""F1 from which an answer counts as right: the paper's `>=`. The published code has `>`."""
LANGUAGES = {"en": "English", "zh": "Chinese"}
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class _Reaction:
    """What the user made of an answer, or why that is not known."""

    score: float | None = None
    satisfaction: int | None = None
    critique: str | None = None
    ended: bool = False
    reason: str | None = None


def satisfaction(f1: float) -> int:
    """Satisfaction with an answer of that F1, 1 to 10.

    The paper gives three points (0.9 is 10, 0.8 is 9, 0.5 is 6) and leaves the rest open. They lie on one
    line, a point for each tenth, and that line is our choice for the rest: 0.7 is 8, 0.3 is 4, nothing
    right is 1.
    """
    return min(10, int(10 * f1 + _ROUNDING) + 1)


async def feedback(
    domain: Domain, turns: Sequence[Turn], probes: Sequence[Probe], backbone: Chat, simulator: Chat
) -> list[FeedbackRound]:
    """The dialogues of all training cases, in the order of `probes`, one row per answer."""
    train = [probe for probe in probes if probe.split == "train" and probe.reason is None]
    readers = await _readers(turns)
    dialogues = await asyncio.gather(
        *(_dialogue(domain, probe, readers.get(probe.episode_id), backbone, simulator) for probe in train)
    )
    metrics = {probe.probe_id: probe.metric for probe in train}
    return _pressed(domain, [row for dialogue in dialogues for row in dialogue], metrics)


async def _readers(turns: Sequence[Turn]) -> dict[str, Memory]:
    """One fixed reader per corpus for every backbone: the paper's BM25 over sessions, five of them."""
    events: dict[tuple[str, int], list[Message]] = {}
    for turn in turns:
        role: Any = turn.role
        message = Message(turn.message_id, role, turn.text, turn.speaker, turn.sent_at)
        events.setdefault((turn.episode_id, turn.event), []).append(message)
    readers: dict[str, Memory] = {}
    for (episode, _), messages in events.items():
        reader = readers.setdefault(episode, Lexical(EntryStore(), Tools(), k=5, grain="session"))
        reader.store.advance(len(messages))
        await reader.write(messages)
    return readers


async def _context(reader: Memory, question: str, tokens: int) -> str:
    """What the reader finds, cut to fit (paper, section 3.1): the sessions that match least are left out."""
    found = [item.text for item in (await reader.read(question)).entries]
    while found and sum(map(estimate, found)) > tokens:
        found.pop()
    return "\n".join(found)


async def _dialogue(
    domain: Domain, probe: Probe, reader: Memory | None, backbone: Chat, simulator: Chat
) -> list[FeedbackRound]:
    context = parameters_of(domain).context_tokens
    notes = await _context(reader, probe.question, context) if reader else ""
    rows: list[FeedbackRound] = []
    history: list[ChatMessage] = []
    said = spoken(probe)
    for number in range(ANSWERS):
        prompt, fields = retry(probe, notes, said) if rows else put(probe, notes)
        answered = await ask(backbone, prompt, fields, history)
        row = FeedbackRound(
            domain=domain.name,
            dataset=probe.dataset,
            case_id=probe.probe_id,
            episode_id=DIALOGUES,
            round=number,
            user_text=said,
            answer=answered.value or "",
            reason=answered.reason,
        )
        history += [ChatMessage("user", said), ChatMessage("assistant", row.answer)]
        if row.reason is None and number < ANSWERS - 1:
            reaction = await _react(probe, history, simulator)
            row = replace(
                row,
                score=reaction.score,
                satisfaction=reaction.satisfaction,
                critique=reaction.critique,
                ended=reaction.ended,
                reason=reaction.reason,
            )
        rows.append(row)
        if row.critique is None or row.ended:
            break
        said = row.critique
    return rows


async def _react(probe: Probe, history: Sequence[ChatMessage], simulator: Chat) -> _Reaction:
    if probe.metric == LOCOMO_F1:
        return _measured(probe, history[-1].content)
    return await _simulated(probe, history, simulator)


def _measured(probe: Probe, answer: str) -> _Reaction:
    score = locomo_f1(answer, probe.gold, probe.category or "")
    right = score >= RIGHT - _ROUNDING
    words = load(PACKAGE, "right" if right else "wrong").render({})[0].content
    return _Reaction(score, satisfaction(score), words, right)


async def _simulated(probe: Probe, history: Sequence[ChatMessage], simulator: Chat) -> _Reaction:
    persona = personas().get(probe.dataset)
    if persona is None:
        raise BadInput(f"personas.yaml has no user for the data set {probe.dataset}; add one")
    shown = {
        "conversation": "\n".join(f"{message.role.capitalize()}: {message.content}" for message in history),
        "evaluation": "\n".join(dict.fromkeys((probe.gold, probe.revealed))),
    }
    described = {name: persona[name] for name in ("persona", "expertise", "criteria", "task")}
    reacted, scored = await asyncio.gather(
        ask(
            simulator,
            load(PACKAGE, "feedback"),
            {**shown, **described, "language": LANGUAGES[probe.language]},
        ),
        ask(simulator, load(PACKAGE, "satisfaction"), shown),
    )
    if reacted.value is None or scored.value is None:
        reasons = [reason for reason in (reacted.reason, scored.reason) if reason]
        return _Reaction(reason=f"no feedback on {probe.probe_id}: {'; '.join(reasons)}")
    reaction: Reaction = reacted.value
    return _Reaction(
        satisfaction=scored.value.score, critique=reaction.response, ended=reaction.behaviour == "end"
    )


def _pressed(
    domain: Domain, rows: Sequence[FeedbackRound], metrics: Mapping[str, str]
) -> list[FeedbackRound]:
    """The rows with what users pressed; each family of scores is calibrated on its own population."""

    def family(row: FeedbackRound) -> str:
        return "locomo" if metrics[row.case_id] == LOCOMO_F1 else "general"

    population: dict[str, Counter[int]] = {}
    for row in rows:
        if row.satisfaction is not None:
            population.setdefault(family(row), Counter())[row.satisfaction] += 1
    pressed = []
    for row in rows:
        if row.satisfaction is not None:
            kind = family(row)
            long_output = kind == "general" and task(row.dataset).long_output
            chances = action_probabilities(row.satisfaction, kind, population[kind], long_output=long_output)
            drawn = draw(chances, seeded(domain.seed, domain.name, row.case_id, row.round))
            row = replace(row, liked=drawn.liked, disliked=drawn.disliked, copied=drawn.copied)  # noqa: PLW2901
        pressed.append(row)
    return pressed


@lru_cache(maxsize=1)
def personas() -> Mapping[str, Mapping[str, Any]]:
    """The simulated users by data set."""
    text = files(PACKAGE).joinpath("personas.yaml").read_text(encoding="utf-8")
    found: Mapping[str, Mapping[str, Any]] = yaml.safe_load(text)
    return found
