"""The scripted chat's answers to the prompts of memories, without a language model.

`plain_answer` answers a prompt for which a memory has no handler; the other functions help handlers.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel

from memflow.chat.requests import ChatRequest
from memflow.words import search_words

MOST_ITEMS, MOST_CHARACTERS = 6, 240
"""The most items of a list, and characters of a text, in a plain answer."""

_SENTENCE = re.compile(r"[^.!?。！？\n]+[.!?。！？]*")
_LINE = re.compile(r"^(?:\[(?P<date>[^\]]+)\]\s*)?(?:(?P<speaker>[^\s:][^:\n]{0,39}): )?(?P<said>.*)$")
_NUMBER = re.compile(r"^(?:Page |## \w+ )?(\d+)(?:\. |$)")
_MINE = re.compile(r"\b[Mm]y ([\w' -]+?)(?= (?:is|are|was)\b|[,.;:!?]|$)")


def statements(lines: str, *, speaker: str | None = None) -> list[str]:
    """Return the sentences of `speaker: text` lines that are no questions, of one `speaker` or of all."""
    sentences = []
    for line in lines.splitlines():
        match = _LINE.match(line)
        if match is None or (speaker is not None and match["speaker"] != speaker):
            continue
        candidates = (sentence.strip() for sentence in _SENTENCE.findall(match["said"]))
        sentences += [sentence for sentence in candidates if sentence and sentence[-1] not in "?？"]
    return [sentence for sentence in sentences if search_words(sentence)]


def subject(sentence: str) -> str:
    """Return the subject of a sentence: `cooking budget` for `My cooking budget is tight.`, else its first 3 words."""
    match = _MINE.search(sentence)
    return match[1].lower() if match else " ".join(search_words(sentence)[:3])


def word_overlap(text: str, other_text: str) -> float:
    """Return the Jaccard similarity of the words of two texts, from 0 to 1."""
    words, other_words = set(search_words(text)), set(search_words(other_text))
    return len(words & other_words) / len(words | other_words) if words | other_words else 0.0


def numbered_statements(text: str, *, speaker: str | None = None) -> list[tuple[int, str]]:
    """Return the statements of a text, each with the number of the line, page or section in which it stands, or 1."""
    number, numbered = 1, []
    for line in text.splitlines():
        match = _NUMBER.match(line)
        number = int(match[1]) if match else number
        rest = line[match.end() :] if match else line
        numbered += [(number, sentence) for sentence in statements(rest, speaker=speaker)]
    return numbered


def plain_answer(request: ChatRequest) -> BaseModel | str:
    """Return an answer of a request's output type, whose values are the statements and words of its longest field."""
    material = max(map(str, request.fields.values()), key=len, default="")
    sentences = numbered_statements(material) or [(1, " ".join(material.split()) or "(nothing)")]
    if request.output is None:
        return sentences[0][1]
    schema = request.output.model_json_schema()
    return request.output.model_validate(_value(schema, schema.get("$defs", {}), sentences))


def _value(schema: Mapping[str, Any], types: Mapping[str, Any], sentences: Sequence[tuple[int, str]]) -> Any:
    """Return a value of a JSON schema: a list has the words of sentences, or an item for each sentence."""
    schema = types[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema
    number, text = sentences[0][0], " ".join(sentence for _, sentence in sentences)
    match schema.get("type"):
        case "object":
            return {name: _value(part, types, sentences) for name, part in schema["properties"].items()}
        case "array":
            most = min(MOST_ITEMS, schema.get("maxItems", MOST_ITEMS))
            items = [_value(schema["items"], types, [sentence]) for sentence in sentences[:most]]
            words = [word[:32] for word in dict.fromkeys(search_words(text))][:most] or ["(nothing)"]
            return words if isinstance(items[0], str) else items
        case "integer":
            return max(schema.get("minimum", number), min(number, schema.get("maximum", number)))
        case "boolean":
            return False
    return schema["enum"][0] if "enum" in schema else text[:MOST_CHARACTERS]
