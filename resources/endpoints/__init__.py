"""Chat and embedding models at OpenAI-compatible addresses: profiles, requests, replies, keys, retries and limits."""
