"""Who speaks for the user within a session, after the first message: what it is shown, and how it is asked.

As the paper has it (section 3.2), a system prompt with the profile and the present states, and then the latest
context; as the published code has it, one user message without the states. Gold beyond the present states (what
a message exposes, what comes later) is in neither. When the user speaks, the player decides.
"""

from collections.abc import Mapping, Sequence

from memflow.benchmarks.amemgym.config import Sizes
from memflow.benchmarks.amemgym.states import History
from memflow.benchmarks.amemgym.wording import prompt, written
from memflow.chat.asking import Answer, ask
from memflow.chat.requests import Chat
from memflow.memories.memory import Message
from memflow.records import Turn
from memflow.run.play import FollowUp

DAY = len("2020-10-01")


def user_model(sizes: Sizes, life: History, turn: Turn, simulator: Chat) -> FollowUp:
    """The user in the session that begins with `turn`, as the domain's `user_model` says."""
    published = sizes.user_model == "published_code"
    stem = "follow_up_published" if published else "follow_up"
    fixed = _of_the_published_code(life, turn) if published else _of_the_paper(life, turn)

    async def follow_up(said: Sequence[Message]) -> Answer[str]:
        seen = said[-sizes.user_context :] if sizes.user_context else said
        context = "\n".join(f"{message.role}: {message.text}" for message in seen)
        return await ask(simulator, prompt(stem, language=sizes.language), {**fixed, "context": context})

    return follow_up


def _of_the_paper(life: History, turn: Turn) -> Mapping[str, str]:
    """Profile and present states, on the day of the session."""
    day = (turn.sent_at or life.end(turn.checkpoint))[:DAY]
    return {**_of_both(life, turn), "date": day, "state": written(life.periods[turn.checkpoint])}


def _of_the_published_code(life: History, turn: Turn) -> Mapping[str, str]:
    """Profile alone, on the last day of the period."""
    return {**_of_both(life, turn), "date": life.end(turn.checkpoint)}


def _of_both(life: History, turn: Turn) -> Mapping[str, str]:
    return {
        "profile": life.profile.profile,
        "start": life.profile.start_date,
        "schema": written(life.schema),
        "query": turn.text,
    }
