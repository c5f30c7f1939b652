"""The request batcher: requests are combined; an error or a cancellation affects only its caller."""

import asyncio
from collections.abc import Mapping

import pytest

from resources.endpoints.request_batcher import MAX_WAIT_S, OnResult, RequestBatcher


class Server:
    """Return its keys in upper case after one turn of the event loop; reject the keys in `refused`."""

    def __init__(self, refused: tuple[str, ...] = (), wait: float = 0.0) -> None:
        self.asked: list[list[str]] = []
        self.refused = refused
        self.wait = wait

    async def __call__(self, texts: Mapping[str, str], have: OnResult[str]) -> None:
        self.asked.append([*texts])
        await asyncio.sleep(self.wait)
        for key, text in texts.items():
            if key not in self.refused:
                have(key, text.upper())
        if set(self.refused) & texts.keys():
            raise ValueError("refused")


async def test_request_batcher_combines_concurrent_keys_into_one_batch() -> None:
    server = Server()
    gathering = RequestBatcher(server)

    async def one(key: str) -> dict[str, str]:
        for _ in range(3):  # some come a few turns of the loop later
            await asyncio.sleep(0)
        return await gathering.of({key: key, "both": "both"})

    found = await asyncio.gather(*(one(f"k{at}") for at in range(50)))
    assert found == [{f"k{at}": f"K{at}", "both": "BOTH"} for at in range(50)]
    [asked] = server.asked
    assert sorted(asked) == sorted(["both", *(f"k{at}" for at in range(50))])
    assert await gathering.of({"both": "both"}) == {"both": "BOTH"}  # it keeps nothing: that is the ledger's
    assert len(server.asked) == 2


async def test_request_batcher_raises_only_for_callers_of_the_failed_key() -> None:
    server = Server(refused=("bad", "worse"))
    gathering = RequestBatcher(server)
    good, mixed, bad = await asyncio.gather(
        gathering.of({"a": "a"}),
        gathering.of({"a": "a", "bad": "b"}),
        gathering.of({"bad": "b", "worse": "w"}),
        return_exceptions=True,
    )
    assert good == {"a": "A"} and len(server.asked) == 1
    assert str(mixed) == str(bad) == "refused"


async def test_cancelled_caller_does_not_cancel_other_callers_of_the_same_key() -> None:
    gathering = RequestBatcher(Server(wait=0.01))
    first, second = (asyncio.ensure_future(gathering.of({"a": "a"})) for _ in range(2))
    await asyncio.sleep(0.005)
    first.cancel()
    assert await second == {"a": "A"}
    assert first.cancelled()


async def test_request_batcher_sends_a_batch_while_new_keys_keep_arriving() -> None:
    server = Server()
    gathering = RequestBatcher(server)
    loop = asyncio.get_running_loop()
    began, done = loop.time(), asyncio.ensure_future(gathering.of({"first": "first"}))
    others = []
    while not done.done() and loop.time() - began < 20 * MAX_WAIT_S:
        others.append(asyncio.ensure_future(gathering.of({f"k{len(others)}": "k"})))
        await asyncio.sleep(0)
    assert done.done() and len(server.asked) < len(others)
    await asyncio.gather(*others)


async def test_closing_the_request_batcher_cancels_waiting_callers() -> None:
    gathering = RequestBatcher(Server(wait=60))
    waiting = asyncio.ensure_future(gathering.of({"a": "a"}))
    await asyncio.sleep(0.02)
    gathering.close()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(waiting, 1)
