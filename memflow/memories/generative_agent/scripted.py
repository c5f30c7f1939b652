"""The scripted chat's handlers for generative agents, which count statements and group them by subject."""

import re

from memflow.chat.requests import ChatRequest
from memflow.chat.scripted import Handler
from memflow.memories.generative_agent.answers import Insight, Insights, Questions, Rating
from memflow.memories.script_helpers import statements, subject

_NUMBERED = re.compile(r"^(\d+)\. (.*)$", re.MULTILINE)


def _importance(request: ChatRequest) -> Rating:
    return Rating(importance=min(10, 1 + 3 * len(statements(request.fields["memory"]))))


def _questions(request: ChatRequest) -> Questions:
    said = reversed(statements(request.fields["memories"]))
    subjects = [*dict.fromkeys(subject(sentence) for sentence in said), "all this"]
    asked = [f"What is there to say about {about[:100]}?" for about in subjects[: request.fields["count"]]]
    return Questions(questions=asked)


def _insights(request: ChatRequest) -> Insights:
    found: dict[str, dict[int, str]] = {}
    for number, line in _NUMBERED.findall(request.fields["statements"]):
        for sentence in statements(line):
            found.setdefault(subject(sentence)[:60], {})[int(number)] = sentence
    insights = [
        Insight(insight=f"On {about}: {' '.join([*said.values()][:6])}"[:200], because=[*said][:6])
        for about, said in [*found.items()][: request.fields["count"]]
    ]
    return Insights(insights=insights)


HANDLERS: dict[str, Handler] = {
    "generative_agent/importance": _importance,
    "generative_agent/questions": _questions,
    "generative_agent/insights": _insights,
}
