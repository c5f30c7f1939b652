"""The scripted annotator, which chooses the label with the largest word overlap with the shown text and facts."""

from memflow.annotation.answers import Chosen
from memflow.chat.fences import layout
from memflow.chat.requests import ChatRequest
from memflow.chat.scripted import Handler
from memflow.words import search_words


def _label(request: ChatRequest) -> Chosen:
    shown = layout(request.fields["shown"])
    seen = set(search_words(f"{shown} {request.fields['facts']}".replace("_", " ")))
    labels = [line.partition(": ") for line in request.fields["labels"].split("\n")]

    def shared(place: int) -> tuple[float, int]:
        words = set(search_words(labels[place][2].replace("_", " ")))
        return (len(words & seen) / max(len(words), 1), -place)

    return Chosen(label=labels[max(range(len(labels)), key=shared)][0])


HANDLERS: dict[str, Handler] = {"annotation/label": _label}
