"""The embedder of the fake."""

import json
from urllib.request import Request, urlopen


class EmbedderFactory:
    """Requests embeddings from the configured address."""

    def __init__(self, config):
        self.config = config

    @classmethod
    def create(cls, provider, config, vector_store):
        return cls(config)

    def embed(self, text, action=None):
        body = json.dumps({"model": self.config["model"], "input": [text]}).encode()
        url = self.config["openai_base_url"] + "/embeddings"
        with urlopen(Request(url, body, {"Content-Type": "application/json"})) as reply:
            return json.loads(reply.read())["data"][0]["embedding"]
