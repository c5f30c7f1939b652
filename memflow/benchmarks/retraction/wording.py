"""Rewording of the users' messages by the simulator. The examiner must read the same from the new words.

A user with a message that the simulator cannot reword is quarantined whole: without the message, golds would be wrong.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import chain

from memflow.benchmarks.retraction.examination import Knowledge, cues, read_requests, turn_line
from memflow.benchmarks.retraction.load import Words
from memflow.benchmarks.retraction.plans import Plan
from memflow.benchmarks.retraction.question import PACKAGE
from memflow.chat.asking import ask
from memflow.chat.prompts import Prompt, load_in_language
from memflow.chat.requests import Chat
from memflow.concurrency import gather_bounded
from memflow.records import Turn

USERS_AT_ONCE = 16
"""Users whose messages are reworded at once."""
LONGEST = 2
"""How much longer than its message a wording may be: what is longer adds something."""


def reword_prompt(language: str) -> Prompt:
    """Return the prompt in a language."""
    return load_in_language(PACKAGE, "reword", language=language)


async def reword_turns(turns: Sequence[Turn], plans: Sequence[Plan], simulator: Chat) -> list[Turn]:
    """Return the turns of the users of `plans` with the messages in the simulator's words, in order."""

    async def reword(plan: Plan) -> list[Turn]:
        of_user = [turn for turn in turns if turn.episode_id == plan.user_id]
        return await reword_user(of_user, plan.words, simulator)

    return [*chain.from_iterable(await gather_bounded(reword, plans, USERS_AT_ONCE))]


async def reword_user(turns: Sequence[Turn], words: Words, simulator: Chat) -> list[Turn]:
    """Return the turns of one user with the messages in the simulator's words, in order."""
    knowledge, prompt, reworded = Knowledge(words), reword_prompt(words.language), list[Turn]()
    for turn in turns:
        if turn.role != "user":
            reworded.append(turn)
            continue
        before, knowledge = knowledge, _after(knowledge, turn)
        check = partial(_find_difference, turn, before, knowledge)
        answer = await ask(simulator, prompt, {"message": turn.text}, check=check)
        if answer.value is None:
            reason = f"message {turn.message_id} could not be reworded: {answer.reason}"
            return [replace(quarantined, reason=reason) for quarantined in turns]
        reworded.append(replace(turn, text=answer.value))
    return reworded


def _find_difference(turn: Turn, before: Knowledge, after: Knowledge, text: str) -> str | None:
    """Return why a wording is not the same message, or None. Cue words alone read `do not forget` as a request."""
    if _after(before, replace(turn, text=text)) != after or read_requests(text) != read_requests(turn.text):
        return "it does not state, take back or restrict the same facts with the same values"
    quoted, negation = cues().marks["quoted"], cues().marks["negation"]
    if quoted.findall(text) != quoted.findall(turn.text):
        return "it does not quote the same sentences in the marks “ ”"
    if len(negation.findall(text)) > len(negation.findall(turn.text)):
        return "it has more negations, such as `not`"
    return f"it has more than {LONGEST} times the length" if len(text) > LONGEST * len(turn.text) else None


def _after(knowledge: Knowledge, turn: Turn) -> Knowledge:
    copy = replace(
        knowledge,
        values=dict(knowledge.values),
        restricted=set(knowledge.restricted),
        ended=set(knowledge.ended),
    )
    copy.read(turn_line(turn))
    return copy
