"""Early answers: the probes of a checkpoint are asked while later periods are still played.

The replies equal those that answer.py gives after the episode, since both restore the memory as of the checkpoint. A
probe without an early answer is asked by the step `replies`.
"""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from typing import Any

from memflow.chat.priority import REMAINING
from memflow.errors import ChatError, ServerDown
from memflow.records import Probe, Reply
from memflow.run.answer import EpisodeHistory
from memflow.run.play import PlayedEpisode

Ask = Callable[[Sequence[Probe], EpisodeHistory], Coroutine[Any, Any, list[Reply]]]
"""Asks probes of one episode with its memory restored from a history."""
Start = Callable[[Coroutine[Any, Any, list[Reply]]], asyncio.Task[list[Reply]]]
"""Starts a task that outlasts the step."""
Idle = Callable[[], Awaitable[None]]
"""Waits until the event loop has little to do."""
WAITING = 256
"""Checkpoints that may wait for an idle event loop: a bound on their probes and entries in RAM."""


class EarlyAnswers:
    """Replies to probes that are asked while the episodes of one assistant in one domain are still played.

    Pass `on_checkpoint` to play_all, and await `replies` in the step that answers the probes.
    """

    def __init__(self, probes: Iterable[Probe]) -> None:
        self._probes: dict[str, list[Probe]] = defaultdict(list)
        for probe in probes:
            self._probes[probe.episode_id].append(probe)
        self._running: list[asyncio.Task[list[Reply]]] = []
        self._waiting: set[asyncio.Task[Any] | None] = set()
        """The tasks that still wait for an idle event loop; None stands for code outside a task."""
        self._indexes: dict[str, dict[Any, Any]] = {}
        """The search indexes (EntryStore.indexes) that the restored memories of an episode share."""

    def probes(self) -> list[Probe]:
        """Return the probes of all episodes whose checkpoints have not ended."""
        return [probe for probes in self._probes.values() for probe in probes]

    def on_checkpoint(self, ask: Ask, start: Start, idle: Idle) -> Callable[[PlayedEpisode, int, int], None]:
        """Return a callback for the player that asks the probes from a checkpoint up to the next one.

        The probes wait until the event loop is `idle`, because the next message of an episode is more urgent. Where
        WAITING checkpoints wait already, the step `replies` asks the probes.
        """

        async def ask_when_idle(probes: Sequence[Probe], history: EpisodeHistory) -> list[Reply]:
            REMAINING.set(0)  # the lowest priority: no event of the episode depends on these requests
            await idle()
            self._waiting.discard(asyncio.current_task())
            return await ask(probes, history)

        def ask_due_probes(played: PlayedEpisode, checkpoint: int, following: int) -> None:
            unasked = self._probes.pop(played.episode_id, [])
            due = [probe for probe in unasked if checkpoint <= probe.checkpoint < following]
            later = [probe for probe in unasked if probe.checkpoint >= following]
            indexes = self._indexes.setdefault(played.episode_id, {})
            if later:
                self._probes[played.episode_id] = later
            else:
                del self._indexes[played.episode_id]
            if len(self._waiting) >= WAITING:
                return  # the step `replies` asks these probes
            history = _history(played, due, indexes)
            # A probe can follow a message that was not played, for instance because a reply failed.
            answerable = [probe for probe in due if probe.after is None or probe.after in history.messages]
            if answerable:
                task = start(ask_when_idle(answerable, history))
                self._running.append(task)
                self._waiting.add(task)

        return ask_due_probes

    async def replies(self) -> dict[str, Reply]:
        """Wait for the running requests. Return the replies by probe id, and forget all probes.

        Probes that still wait for an idle event loop, or whose request failed, are missing.
        """
        replies: dict[str, Reply] = {}
        for task in self._waiting:
            if task is not None:
                task.cancel()
        self._waiting.clear()
        self._probes.clear()
        self._indexes.clear()
        running, self._running = self._running, []
        for outcome in await asyncio.gather(*running, return_exceptions=True):
            if isinstance(outcome, BaseException):
                # A spent budget, or an endpoint or memory server that is down: the step asks again and reports it.
                if not isinstance(outcome, (ChatError, ServerDown, asyncio.CancelledError)):
                    raise outcome
                continue
            replies.update((reply.probe_id, reply) for reply in outcome)
        return replies

    def cancel(self) -> None:
        """Cancel the running requests. Call this method in the event loop in which they run."""
        for task in self._running:
            task.cancel()
        self._running.clear()


def _history(played: PlayedEpisode, probes: Sequence[Probe], indexes: dict[Any, Any]) -> EpisodeHistory:
    """Return the history of an episode up to now, with the checkpoints and messages that `probes` refer to."""
    sequences = {line.message.message_id: line.sequence + 1 for line in played.lines if line.reason is None}
    now = max(sequences.values(), default=0)
    due, starts = {probe.checkpoint for probe in probes}, dict[int, int]()
    for line in played.lines:
        checkpoint = line.event.checkpoint
        if line.reason is None and checkpoint in due:
            starts[checkpoint] = min(line.sequence, starts.get(checkpoint, line.sequence))
    return EpisodeHistory(
        list(played.store),
        dict.fromkeys(due, now),
        {probe.after: sequences[probe.after] for probe in probes if probe.after in sequences},
        indexes,
        starts,
    )
