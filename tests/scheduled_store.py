"""A store in memory whose requests are interleaved by a scheduler: each actor pauses before each of its requests."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from random import Random

from greenlet import getcurrent, greenlet

from memflow.resources.lake.storage.client import ListedObject, StoredObject

START = datetime(2026, 1, 1, tzinfo=UTC)


class ScheduledStore:
    """A store with conditional requests. Every request takes a second of its clock."""

    address = "s3://scheduled/lake"

    def __init__(self) -> None:
        self.seconds = 0.0
        self.objects: dict[str, tuple[bytes, str]] = {}
        self._tags = 0
        self._scheduler: greenlet | None = None

    def now(self) -> datetime:
        """Return the time of the store's clock."""
        return START + timedelta(seconds=self.seconds)

    def run(self, actors: Sequence[Callable[[], None]], chance: Random, longest: int) -> None:
        """Run actors to their ends: again and again one of them, for up to `longest` requests."""
        self._scheduler = getcurrent()
        running = [greenlet(actor) for actor in actors]
        while running:
            actor = chance.choice(running)
            for _ in range(chance.randint(1, longest)):
                if not actor.dead:
                    actor.switch()
            running = [each for each in running if not each.dead]
        self._scheduler = None

    def get(self, key: str, start: int = 0) -> StoredObject | None:
        self._pause()
        found = self.objects.get(key)
        return None if found is None else StoredObject(found[0][start:], found[1], len(found[0]))

    def head(self, key: str) -> ListedObject | None:
        self._pause()
        found = self.objects.get(key)
        return None if found is None else ListedObject(key, len(found[0]), found[1])

    def create(self, key: str, content: bytes) -> str | None:
        self._pause()
        return None if key in self.objects else self._put(key, content)

    def swap(self, key: str, content: bytes, tag: str) -> str | None:
        self._pause()
        found = self.objects.get(key)
        return None if found is None or found[1] != tag else self._put(key, content)

    def list(self, prefix: str) -> list[ListedObject]:
        self._pause()
        return [
            ListedObject(key, len(content), tag)
            for key, (content, tag) in sorted(self.objects.items())
            if key.startswith(prefix)
        ]

    def delete(self, key: str) -> None:
        self._pause()
        self.objects.pop(key, None)

    def _put(self, key: str, content: bytes) -> str:
        self._tags += 1
        self.objects[key] = (content, str(self._tags))
        return str(self._tags)

    def _pause(self) -> None:
        self.seconds += 1.0
        if self._scheduler is not None:
            self._scheduler.switch()
