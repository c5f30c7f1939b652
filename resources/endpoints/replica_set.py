"""The servers of one model: the choice of one for each request, probes, and the check that all serve the model."""

import asyncio
import logging
from collections.abc import Collection, Sequence

from memflow.errors import ModelMisconfigured
from resources.endpoints.http_client import ExchangeFailed
from resources.endpoints.replicas import Replica
from resources.endpoints.routing import choose, mean_load
from resources.models.event_loop import detached

USUAL = 64
"""Number of requests over which the usual load is averaged (exponentially)."""


class ReplicaSet:
    """The servers of one model. `model` is the name that each must list; "" checks no list.

    `setting` is the setting with the addresses, for error messages. A single server is neither checked nor probed.
    """

    def __init__(self, replicas: Sequence[Replica], model: str, setting: str) -> None:
        self.replicas = replicas
        self.model = model
        self.setting = setting
        self.has_several = len(replicas) > 1
        self._is_checked = not (self.has_several and model)
        self._checking = asyncio.Lock()
        self._turn = 0
        self._usual_load = 0.0
        self._without_quota: list[Replica] = []

    @property
    def addresses(self) -> str:
        """The addresses of all servers, for messages."""
        *others, last = (each.address for each in self.replicas)
        return f"{', '.join(others)} and {last}" if others else last

    def choose(self, key: str, avoided: Collection[str] = ()) -> Replica:
        """Return the server for a request of the conversation `key`, if possible none of the `avoided` addresses.

        Servers that do not respond, or that have asked to wait, are used only if all others are avoided.
        """
        if not self.has_several:
            return self.replicas[0]
        self._turn += 1
        self._usual_load += (mean_load(self.replicas) - self._usual_load) / USUAL
        for each in self.replicas:
            if each.is_probe_due():
                each.start_probe(self._probe, detached)
        usable = self._usable()
        left = [each for each in usable if each.url not in avoided] or usable
        return choose(key, [each for each in left if each.is_free] or left, self._turn, self._usual_load)

    def set_aside(self, replica: Replica, reason: str) -> bool:
        """Stop using a server whose quota is used up. Return False, and keep the server, if it is the last one."""
        if not any(other is not replica for other in self.replicas):
            return False
        if replica in self.replicas:
            self.replicas = [other for other in self.replicas if other is not replica]
            self._without_quota.append(replica)
            logging.getLogger("memflow").warning(
                "%s is no longer used; its requests go to the other addresses: %s", replica.address, reason
            )
        return True

    def has_left(self, avoided: Collection[str]) -> bool:
        """Return whether a server that responds is not among the `avoided` addresses."""
        return any(each.is_up and each.url not in avoided for each in self.replicas)

    def are_all_in(self, avoided: Collection[str]) -> bool:
        """Return whether all servers that may be chosen are among the `avoided` addresses."""
        return all(each.url in avoided for each in self._usable())

    async def check(self) -> None:
        """Request the list of models of each server once, before the first request.

        A server that does not respond is marked as down. A server without a list is accepted. Raises ModelMisconfigured
        if a server lists other models only.
        """
        if self._is_checked:
            return
        async with self._checking:
            if not self._is_checked:
                found = await asyncio.gather(*map(self._mismatch, self.replicas))
                if wrong := [mismatch for mismatch in found if mismatch]:
                    raise ModelMisconfigured(
                        f"{' '.join(wrong)} All addresses in {self.setting} must serve the same model. Remove the "
                        "address, or start a server with this model there, then rerun."
                    )
                self._is_checked = True

    def _usable(self) -> Sequence[Replica]:
        """Return the servers that respond; all, if none responds."""
        return [each for each in self.replicas if each.is_up] or self.replicas

    async def close(self) -> None:
        """End the probes, and close the connections."""
        for each in (*self.replicas, *self._without_quota):
            await each.close()

    async def _mismatch(self, replica: Replica) -> str:
        """Return a sentence about a server that lists other models only, else "". Mark a server that fails as down."""
        try:
            listed = await replica.listed_models(replica.keys.headers(replica.keys.choose()))
        except ExchangeFailed as failed:
            replica.mark_down(replica.keys.redact(str(failed)))
            return ""
        if not listed or self.model in listed:
            return ""
        names = ", ".join(listed[:5]) + (", ..." if len(listed) > 5 else "")
        return replica.keys.redact(f"{replica.address} serves {names}, but not {self.model!r}.")

    async def _probe(self, replica: Replica) -> None:
        """Use a server again if it responds and serves the model."""
        began = replica.now()
        try:
            listed = await replica.listed_models(replica.keys.headers(replica.keys.choose()))
        except ExchangeFailed:
            return
        if self.model and listed and self.model not in listed:
            logging.getLogger("memflow").warning(
                "%s responds again, but does not serve %r; it is not used.", replica.address, self.model
            )
            return
        replica.mark_up(began)
