"""A fake of qdrant-client: the adapter only constructs a client in memory."""


class QdrantClient:
    """A client that stores nothing."""

    def __init__(self, location):
        assert location == ":memory:"
