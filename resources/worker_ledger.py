"""The ledger of a worker process: a request that several workers need at the same moment is sent by one of them."""

import asyncio

from memflow.chat.requests import Completion
from resources.channel import Channel
from resources.ledger import SqlLedger


class WorkerLedger(SqlLedger):
    """A ledger that claims each missing completion at the parent process until it is stored or has failed."""

    def __init__(self, url: str, channel: Channel) -> None:
        super().__init__(url)
        self._channel = channel

    async def get(self, digest: str) -> Completion | None:
        """Return the completion of a request digest, or None if this process is to send the request."""
        completion = await super().get(digest)
        if completion is not None:
            return completion
        claim = self._channel.call("claim", digest)
        self.in_flight.of_running_loop()[digest].add_done_callback(lambda _: self._release(digest))
        await asyncio.wrap_future(claim)
        return await super().get(digest)  # another process may have stored it in the meantime

    def _release(self, digest: str) -> None:
        storing = self.in_flight.of_running_loop().get(digest)
        if storing is not None and not storing.done():  # the request was cancelled while its answer is stored
            storing.add_done_callback(lambda _: self._channel.post("release", digest))
        else:
            self._channel.post("release", digest)
