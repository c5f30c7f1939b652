"""A request to forget during play: it is passed to the memory, and what came of it is recorded."""

from collections.abc import Sequence
from typing import Any

from memflow.errors import CannotForget, FatalChatError, MemflowError, ServerDown
from memflow.memories.forgetting import ForgetRequest
from memflow.memories.memory import Memory, Message
from memflow.timing import Clock, timed


async def forget(
    memory: Memory, request: ForgetRequest, messages: Sequence[Message], clock: Clock | None
) -> dict[str, Any]:
    """Pass a request to the memory. Return the columns of the message that makes it.

    `messages` are all messages so far; a request for a period means those of them that it includes. If the memory
    cannot forget, or fails, `forget_failure` has the reason and `ended_entries` is None. Raises FatalChatError and
    ServerDown.
    """
    store, failure, timer = memory.store, None, None
    version = store.version
    try:
        _, timer = await timed(memory.forget(request.with_messages(messages)), clock)
    except (FatalChatError, ServerDown):
        raise
    except CannotForget as error:
        failure = str(error)
    except Exception as error:  # noqa: BLE001  (a user's memory may raise anything)
        name = "" if isinstance(error, MemflowError) else f"{type(error).__name__}: "
        failure = f"the memory failed to forget: {name}{error}"
    changes = store.changes(version)
    replaced_ids = {item.previous for item in changes}
    ended_entries = [
        item
        for item in changes
        if item.until is not None
        and item.entry_id not in replaced_ids
        and item.kind not in memory.bookkeeping_kinds
    ]
    return {
        "forgets": request.to_json(),
        "ended_entries": len(ended_entries) if failure is None else None,
        "forget_failure": failure,
        "forget_s": None if timer is None else timer.models + timer.own,
        "forget_calls": None if timer is None else timer.calls,
    }
