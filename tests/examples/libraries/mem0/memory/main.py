"""The class Memory of the fake."""

import json
import logging
import uuid
from urllib.request import Request, urlopen

from mem0.utils.factory import EmbedderFactory

logger = logging.getLogger("mem0.memory.main")


def generate_additive_extraction_prompt(*, new_messages, last_k_messages, current_date=None, timestamp=None):
    """Return a prompt with the sections of the library that matter here."""
    today = current_date or "the day of the run"
    sections = [f"## Last k Messages\n{last_k_messages}", f"## New Messages\n{new_messages}"]
    return "\n\n".join([*sections, f"## Observation Date\n{timestamp or today}", f"## Current Date\n{today}"])


class Memory:
    """A list of memories with their vectors."""

    def __init__(self, config):
        self.config = config
        self.embedder = EmbedderFactory.create("openai", config["embedder"]["config"], None)
        self.rows, self.messages = {}, {}

    @classmethod
    def from_config(cls, config):
        return cls(config)

    def add(self, messages, *, user_id, metadata, infer=True):
        assert " " not in user_id
        last = self.messages.setdefault(user_id, [])
        texts = [each["content"] for each in messages]
        found = self._extract(texts, last) if infer else texts
        last += texts
        for text in found:
            row = {"id": str(uuid.uuid4()), "memory": text, "metadata": dict(metadata), "user_id": user_id}
            self.rows[row["id"]] = row, self.embedder.embed(text)
        return {"results": []}

    def _extract(self, texts, last):
        llm = self.config["llm"]["config"]
        prompt = generate_additive_extraction_prompt(new_messages="\n".join(texts), last_k_messages=last)
        body = json.dumps({"model": llm["model"], "messages": [{"role": "user", "content": prompt}]}).encode()
        url = llm["openai_base_url"] + "/chat/completions"
        with urlopen(Request(url, body, {"Content-Type": "application/json"})) as reply:
            content = json.loads(reply.read())["choices"][0]["message"]["content"]
        try:
            return [each["text"] for each in json.loads(content)["memory"]]
        except ValueError as error:
            logger.error(f"Error parsing extraction response: {error}")
            return []

    def search(self, query, *, filters, top_k, threshold):
        wanted = self.embedder.embed(query)
        scored = []
        for row, vector in self.rows.values():
            score = sum(a * b for a, b in zip(wanted, vector, strict=True))
            if row["user_id"] == filters["user_id"] and score >= threshold:
                scored.append({**row, "score": score})
        return {"results": sorted(scored, key=lambda row: -row["score"])[:top_k]}

    def get_all(self, *, filters, top_k=20):
        found = [row for row, _ in self.rows.values() if row["user_id"] == filters["user_id"]]
        return {"results": found[:top_k]}

    def delete(self, memory_id):
        del self.rows[memory_id]

    def delete_all(self, user_id):
        self.rows = {id: pair for id, pair in self.rows.items() if pair[0]["user_id"] != user_id}

    def close(self):
        pass
