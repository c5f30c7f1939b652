"""A chat that can only replay the ledger."""

from memflow.chat.requests import ChatRequest, Completion, Sampling
from memflow.errors import EndpointDown


class RecordedChat:
    """A chat without a model; wrap it in a LedgeredChat."""

    def __init__(self, fingerprint: str, sampling: Sampling, scripted: bool = False) -> None:
        self.fingerprint = fingerprint
        self.sampling = sampling
        self.scripted = scripted

    async def complete(self, request: ChatRequest) -> Completion:
        """Raise EndpointDown: a request reaches this chat only if it is not in the ledger."""
        raise EndpointDown(f"the request {request.prompt} is not in the ledger; rerun it with a model")
