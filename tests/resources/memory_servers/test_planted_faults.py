"""Planted faults of memory servers: the line that names each, and healthy unusual servers, which have none."""

from typing import Any

import pytest
from planted_servers import planted

from memflow.resources.memory_servers.check_lines import CheckLine
from memflow.resources.memory_servers.server_checks import WRITES_WITH_MODELS, CheckedServer, check_server

SIZES = (120, 30)
"""Fewer messages than in a check of a user, to save time."""
FOUND = {
    "drops_after_20": ("complete", "stored 40 of 120 messages: lost are 80 of 80 messages after write 20"),
    "drops_after_50": ("complete", "20 of 20 messages after write 50"),
    "drops_long": ("complete", "18 of 18 texts of more than 394 characters"),
    "drops_short": ("complete", "10 of 10 texts of at most 9 characters"),
    "drops_cyrillic": ("complete", "9 of 9 texts in Cyrillic script"),
    "drops_digits": ("complete", "9 of 9 texts with digits"),
    "drops_code": ("complete", "9 of 9 texts with code"),
    "dedup": ("complete", "8 of 9 near-duplicates of other messages"),
    "one_role": ("complete", "60 of 60 messages of the assistant, and 0 of 60 others"),
    "last_session": ("complete", "90 of 90 messages up to session 3"),
    "keeps_20": ("complete", "stored 20 of 120 messages: lost are 100 of 100 messages up to write 50"),
    "keeps_60": ("complete", "60 of 60 messages up to session 2"),
    "merges": ("complete", "stored 20 of 120 messages"),
    "cut_160": ("unchanged", "27 of 120 texts came back without their end"),
    "cut_1000": ("unchanged", "1,238 to 3,840 characters, cut at about 1,000"),
    "lower_case": ("unchanged", "texts came back changed: "),
    "digits_removed": ("unchanged", "texts came back changed: "),
    "one_line": ("unchanged", "9 of 120 texts came back changed: "),
    "nul_removed": ("unchanged", "9 of 120 texts came back changed: "),
    "accents_removed": ("unchanged", "texts came back changed: "),
    "cap_3": (
        "item_counts",
        "returned 3 items for k = 5, 10, 30, 50, 100, 170 although 120 items are stored",
    ),
    "cap_10": ("item_counts", "returned 10 items for k = 30, 50, 100, 170"),
    "cap_50": ("item_counts", "returned 50 items for k = 100, 170"),
    "deaf_long": ("queries", "12 of 12 queries of more than 12 words"),
    "deaf_scripts": ("queries", "30 of 30 queries with characters outside ASCII"),
    "deaf_cyrillic": ("queries", "6 of 6 queries in Cyrillic script"),
    "deaf_digits": ("queries", "24 of 24 queries with digits"),
    "deaf_questions": ("queries", "24 of 24 questions"),
    "threshold": ("queries", "a threshold that is too high?"),
    "error_on_digits": ("queries", "queries with digits, and 0 of 102 others. The server reports"),
    "worst_first": ("ranked", "the best item is not first"),
    "reversed": ("ranked", "the best item is not first"),
    "random": ("stable_reads", "in another order"),
    "empty_failures": ("stable_reads", "equal reads return other items, or none, (query"),
    "cache": ("indexed", "a cache of reads"),
    "lazy": ("indexed", "0.3 s after the answer to its write, and not at once"),
    "leaks_rarely": ("isolation", "return messages of another space, as for 'garden market station'"),
    "mixed_reads": ("isolation", "concurrent reads return messages of another space"),
    "ignores_as_of": ("as_of", "the future: as of write 7, 'garden market station' finds"),
    "as_of_one_later": ("as_of", "so the memory knows the future: as of write"),
    "ids_reused": ("spaces", "when another space gets one with the same id"),
    "wrong_dates": ("dates", "or another than their message, such as 2026-01-01 instead of"),
    "dates_dropped": (
        "dates",
        "240 of 240 items have none, or another than their message, such as none instead of",
    ),
    "no_sources": ("sources", "240 of 240 items do not name the message"),
    "wrong_sources": ("sources", "238 of 240 items do not name the message"),
    "strange_sources": ("sources", "never sent: item-0"),
    "wide_sources": ("sources", "share no words with them: an item names"),
    "shuffled_sources": ("sources", "an item with words of check-1 names check-17"),
    "lost_after_restart": ("restart", "although all writes were repeated: item 1 is"),
    "writes_fail_on_digits": ("conversation", "9 of 9 texts with digits"),
    "bad_gateway": ("answers", "502 Bad Gateway"),
}
"""By fault: the only wrong line, and a part of what it says."""
FORGETS = {"forget": ["message", "text", "time"]}
HEALTHY: list[tuple[str, dict[str, Any]]] = [
    ("", {}),
    ("", FORGETS),
    ("", {**FORGETS, "design": {"merges": True}, "sources": "none"}),
    ("keeps_60", {"design": {"window": 60}}),
    ("", {"design": {"window": 50}}),
    ("one_role", {"design": {"roles": ["user"]}}),
    ("", {"design": {"roles": ["assistant"]}}),
    ("", {"design": {"merges": True}, "sources": "none"}),
    ("", {"design": {"max_items": 5}}),
    ("", {"design": {"threshold": True}}),
    ("newest", {}),
    ("newest", {"ranked": False}),
    ("no_sources", {"sources": "none"}),
    ("dates_dropped", {"dates": False}),
    ("ignores_as_of", {"as_of": "none"}),
    ("", {"export": "none", "as_of": "none", "deterministic": False}),
    ("", {"batch": "message"}),
    ("", {"batch": "pair"}),
    ("", {"batch": "session"}),
    ("", {"models": "own"}),
    ("", {"spaces": 1}),
    ("", {"spaces": 3}),
    ("", {"spaces": 3, "models": "own"}),
]


@pytest.fixture(autouse=True)
def _short_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memflow.resources.memory_servers.server_checks.LATE_S", 0.3)


async def lines_of(fault: str, can: dict[str, Any]) -> tuple[dict[str, CheckLine], CheckedServer]:
    """Return the lines of a server by name, and the server."""
    lines, server = await check_server(lambda: planted(fault, can), sizes=SIZES)
    return {line.check: line for line in lines}, server


def wrong(lines: dict[str, CheckLine]) -> list[str]:
    """Return the names of the wrong lines."""
    return [name for name, line in lines.items() if line.verdict == "wrong"]


@pytest.mark.parametrize("fault", FOUND)
async def test_planted_fault_is_named_by_one_line(fault: str) -> None:
    name, part = FOUND[fault]
    lines, _ = await lines_of(fault, {})
    assert wrong(lines) == [name], [lines[each] for each in wrong(lines)]
    assert part in lines[name].found
    assert lines[name].fix


@pytest.mark.parametrize(
    ("fault", "can", "part"),
    [
        ("forgets_nothing", {}, "after a request by message, a read still contains the message"),
        ("export_keeps", {}, "after a request by message, the export still contains the message"),
        ("forgets_all", {}, "a request by message also deleted the message beside it"),
        ("forgets_the_past", {}, "a read as of write 2, before the request, does not find"),
        ("refuses_unknown", {}, "not found"),
        ("", {"forget": ["time"], "dates": False}, "declares `forget` by time, and no `dates`"),
    ],
)
async def test_memory_that_does_not_forget_as_declared_is_found(
    fault: str, can: dict[str, Any], part: str
) -> None:
    lines, _ = await lines_of(fault, {**FORGETS, **can})
    assert wrong(lines) == ["forget"]
    assert part in lines["forget"].found


@pytest.mark.parametrize(("fault", "can"), HEALTHY)
async def test_declared_design_is_no_fault(fault: str, can: dict[str, Any]) -> None:
    lines, _ = await lines_of(fault, can)
    assert wrong(lines) == [], [lines[each] for each in wrong(lines)]


async def test_declared_window_that_keeps_less_is_a_fault() -> None:
    lines, _ = await lines_of("keeps_20", {"design": {"window": 50}})
    assert wrong(lines) == ["complete"]
    assert "stored 20 of 50 messages of the declared window of 50" in lines["complete"].found


async def test_declared_number_of_items_that_is_exceeded_is_a_fault() -> None:
    lines, _ = await lines_of("cap_10", {"design": {"max_items": 5}})
    assert wrong(lines) == ["item_counts"]
    assert "declares at most 5 items, and returned 10" in lines["item_counts"].found


@pytest.mark.parametrize("batch", ["any", "message", "pair", "session"])
async def test_server_with_models_gets_at_most_60_writes(batch: str) -> None:
    lines, server = await lines_of("", {"models": "own", "batch": batch})
    assert wrong(lines) == []
    assert 15 <= sum(server.connection.transport.writes.values()) <= WRITES_WITH_MODELS


@pytest.mark.parametrize("fault", ["drops_after_20", "cap_10", "deaf_long"])
async def test_fault_is_found_with_few_writes(fault: str) -> None:
    lines, _ = await lines_of(fault, {"models": "own"})
    assert wrong(lines) == [FOUND[fault][0]]


async def test_order_that_does_not_depend_on_the_query_is_a_note() -> None:
    lines, _ = await lines_of("newest", {})
    assert lines["ranked"].verdict == "note"
    assert "declare ranked: false" in lines["ranked"].found


async def test_check_after_a_failed_one_is_skipped_with_a_reference() -> None:
    lines, _ = await lines_of("drops_long", {})
    assert lines["queries"] == CheckLine("queries", "skipped", "because complete failed")
