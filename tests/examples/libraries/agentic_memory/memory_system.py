"""The class AgenticMemorySystem of the fake. As in the original, a new object clears the collection of all others."""

import logging
import os
import re
import uuid

logger = logging.getLogger(__name__)
COLLECTION = {}


class MemoryNote:
    """A note."""

    def __init__(self, content, timestamp):
        self.content, self.timestamp, self.context, self.keywords = (
            content,
            timestamp,
            "General",
            ["one", "two"],
        )


class AgenticMemorySystem:
    """Notes found by common words."""

    def __init__(
        self,
        model_name="all-MiniLM-L6-v2",
        llm_backend="openai",
        llm_model="gpt-4o-mini",
        evo_threshold=100,
        api_key=None,
    ):
        COLLECTION.clear()
        self.memories = {}
        self.llm_model = llm_model

    def add_note(self, content, time=None, **kwargs):
        print("the original prints its prompts")
        assert time == "unknown" or re.fullmatch(r"\d{12}", time)
        if "unclear" in content:
            logger.error("Error analyzing content: no JSON")
        note = MemoryNote(content, time)
        note.context = f"by {self.llm_model} at {os.environ.get('OPENAI_BASE_URL')}"
        id = str(uuid.uuid4())
        self.memories[id] = COLLECTION[id] = note
        return id

    def delete(self, memory_id):
        return bool(self.memories.pop(memory_id, None) and COLLECTION.pop(memory_id))

    def search_agentic(self, query, k=5):
        if "fault" in query:
            logger.error("Error in search_agentic: no collection")
            return []
        wanted = set(re.findall(r"\w+", query.lower()))
        found = []
        for id, note in COLLECTION.items():
            common = len(wanted & set(re.findall(r"\w+", note.content.lower())))
            if common:
                found.append((common, {"id": id, **vars(note), "score": 1.0 / common}))
        return [each for _, each in sorted(found, key=lambda pair: -pair[0])][:k]
