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
    sentences = reversed(statements(request.fields["memories"]))
    subjects = [*dict.fromkeys(subject(sentence) for sentence in sentences), "all this"]
    questions = [f"What is there to say about {name[:100]}?" for name in subjects[: request.fields["count"]]]
    return Questions(questions=questions)


def _insights(request: ChatRequest) -> Insights:
    """Return an insight for each subject: the statements about it, with their numbers."""
    by_subject: dict[str, dict[int, str]] = {}
    for number, line in _NUMBERED.findall(request.fields["statements"]):
        for sentence in statements(line):
            by_subject.setdefault(subject(sentence)[:60], {})[int(number)] = sentence
    insights = []
    for topic, sentences in list(by_subject.items())[: request.fields["count"]]:
        text = f"On {topic}: {' '.join(list(sentences.values())[:6])}"
        insights.append(Insight(insight=text[:200], because=list(sentences)[:6]))
    return Insights(insights=insights)


HANDLERS: dict[str, Handler] = {
    "generative_agent/importance": _importance,
    "generative_agent/questions": _questions,
    "generative_agent/insights": _insights,
}
