"""The checks of a memory with a conversation of some 300 messages, in order, and what to do about each fault.

They are the same for memory servers and for memories in Python.
"""

from resources.memory_servers.check_lines import Check
from resources.memory_servers.content_checks import ContentChecks
from resources.memory_servers.played_conversation import PlayedConversation
from resources.memory_servers.read_checks import ReadChecks


def conversation_checks(played: PlayedConversation) -> list[Check]:
    """Return the checks of one memory with the conversation."""
    content, reads = ContentChecks(played), ReadChecks(played)
    design = "or declare it in `design`"
    written = ("conversation", "stable_reads")
    return [
        Check(
            "conversation",
            played.fill,
            "Answer each write when it is done, whatever its text.",
            after=("indexed", "pure_reads", "reused_ids"),
        ),
        Check(
            "stable_reads",
            reads.equal_reads,
            "Report a failed read as an error, and sort by score and then by a fixed order.",
            after=("conversation",),
        ),
        Check(
            "fresh_reads",
            played.fresh_reads,
            "Answer a write only when `read` finds it, and cache no reads.",
            after=written,
        ),
        Check("complete", content.complete, f"Store every message, {design}.", after=written),
        Check(
            "unchanged",
            content.unchanged,
            f"Store texts as they are, {design} (merges).",
            after=(*written, "complete"),
        ),
        Check(
            "item_counts",
            reads.item_counts,
            f"Return k items where there are as many, {design} (max_items).",
            after=written,
        ),
        Check(
            "isolation",
            content.isolation,
            "Filter reads by `space`, also caches and indexes.",
            after=(*written, "spaces"),
        ),
        Check("ranked", reads.ranked, "Return the best item first, or declare ranked: false.", after=written),
        Check(
            "queries",
            reads.queries,
            f"Answer every query, {design} (threshold).",
            after=(*written, "fresh_reads", "complete"),
        ),
        Check(
            "sources",
            content.item_sources,
            "Return the ids of the messages that an item is from, or declare another `sources`.",
            after=(*written, "complete"),
        ),
        Check(
            "dates",
            content.item_dates,
            "Store `sent_at`, not the time of the write, or declare dates: false.",
            after=written,
        ),
        Check(
            "as_of",
            reads.time_travel,
            "Filter by the number of the write, or declare as_of: none.",
            after=(*written, "fresh_reads"),
        ),
        Check("speed", reads.speed, "Set `timeout`, or expect long runs.", after=written),
    ]
