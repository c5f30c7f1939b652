"""A chat that only knows what the ledger holds: for replays that must not ask anybody anything."""

from memflow.chat.requests import ChatRequest, Completion, Sampling
from memflow.errors import EndpointDown


class RecordedChat:
    """Stands where a model stood, and answers nothing new. Wrap it in a LedgeredChat."""

    def __init__(self, fingerprint: str, sampling: Sampling, scripted: bool = False) -> None:
        self.fingerprint = fingerprint
        self.sampling = sampling
        self.scripted = scripted

    async def complete(self, request: ChatRequest) -> Completion:
        """Always raises EndpointDown: what the ledger holds never comes this far."""
        raise EndpointDown(
            f"{request.prompt} is not in the ledger, and this is a replay; run it with a model once"
        )
