"""A clock for tests of retries and pauses: time passes only while requests sleep."""

import asyncio


class SleepingClock:
    """A clock that advances only while requests sleep. `slept` has the seconds of each sleep."""

    def __init__(self) -> None:
        self.now = 0.0
        self.slept: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds
        await asyncio.sleep(0)

    def clock(self) -> float:
        return self.now
