"""What a ledger contains, and forgetting completions, on SQLite and PostgreSQL."""

import asyncio
from dataclasses import replace

import pytest
from ledger_rows import ACCOUNT, completion, request, store

from memflow.chat.budget import Prices
from memflow.chat.requests import ChatRequest, Completion
from memflow.errors import ChatError, EndpointDown, NoAnswer, PromptTooLong, RequestRefused
from memflow.resources.ledger.maintenance import (
    CompletionFilter,
    disk_bytes,
    forget,
    forgettable,
    groups,
)
from memflow.resources.ledger.sql_ledger import SqlLedger
from memflow.resources.ledger.usage import GROUPS

LATER = replace(ACCOUNT, run="run 2", model="n", domain="e")
A, B, C = ("a" * 32, "b" * 32, "c" * 32)


def put(ledger: SqlLedger, answer: Completion, asked: ChatRequest) -> Completion:
    async def work() -> Completion:
        return await ledger.put(answer, asked, ACCOUNT)

    return asyncio.run(work())


def fill(ledger: SqlLedger) -> None:
    """Store an answer, an answer cut at the token limit, an answer of another run and model, and a failure."""
    (first,) = store(ledger, A)
    put(ledger, replace(completion(key=B), end="cut", reasoning_tokens=2), request("b", "another/prompt"))
    store(ledger, C, account=LATER)
    ledger.record_cache_hit(first, request("a"), LATER)
    ledger.record_failure(request("d"), ACCOUNT, NoAnswer("nothing", "blank"))
    ledger.flush()


def found(ledger: SqlLedger) -> list[str]:
    return sorted(ledger.digests())


def test_ledger_groups_count_stored_answers(either_url: str) -> None:
    with SqlLedger(either_url) as ledger:
        fill(ledger)
        with ledger.connect() as connection:
            rows = groups(connection)
            assert disk_bytes(connection) > 4096
    of_cut = {"model": "m", "prompt": "another/prompt", "end": "cut"}
    [cut] = [row for row in rows if row.items() >= of_cut.items()]
    assert sorted((row["model"], row["end"], row["answers"]) for row in rows) == [
        ("m", "answered", 1),
        ("m", "cut", 1),
        ("n", "answered", 1),
    ]
    assert (cut["reasoning_tokens"], cut["prompt_tokens"]) == (2, 10) and cut["bytes"] > 20


@pytest.mark.parametrize(
    ("chosen", "left"),
    [
        (CompletionFilter(model="m"), [C]),
        (CompletionFilter(prompt="another/prompt"), [A, C]),
        (CompletionFilter(run="run 2"), [A, B]),
        (CompletionFilter(digest="aa"), [B, C]),
        (CompletionFilter(model="m", end="answered"), [B, C]),
        (CompletionFilter(digest="%"), [A, B, C]),
    ],
)
def test_forget_deletes_the_completions_that_meet_all_conditions(
    either_url: str, chosen: CompletionFilter, left: list[str]
) -> None:
    with SqlLedger(either_url) as ledger:
        fill(ledger)
        before = ledger.usage(by=GROUPS)
        with ledger.connect(transaction=True) as connection:
            selected = forgettable(connection, chosen)
            assert forget(connection, chosen) == selected.count == 3 - len(left)
        assert found(ledger) == left
        assert ledger.usage(by=GROUPS) == before


def test_forgettable_returns_cost_and_partitions_of_selected_completions(either_url: str) -> None:
    with SqlLedger(either_url) as ledger:
        fill(ledger)
        with ledger.connect() as connection:
            selected = forgettable(connection, CompletionFilter(end="answered"))
    assert selected.completions == {"m": 1, "n": 1}
    prices = {"m": Prices(1e6, 1e6), "n": Prices()}
    assert selected.cost(prices.get) == 13
    assert selected.cost({"m": Prices(1e6, 1e6)}.get) is None
    assert selected.partitions == ["d/full", "e/full"]


@pytest.mark.parametrize(
    ("error", "counts"),
    [
        (NoAnswer("nothing", "blank"), True),
        (NoAnswer("an error in a 200", "broken"), True),
        (NoAnswer("I cannot help", "refused"), False),
        (NoAnswer("withheld", "filtered"), False),
        (PromptTooLong("too long"), False),
        (RequestRefused("unknown model"), True),
        (ChatError("timeout"), True),
        (EndpointDown("no connection"), False),
        (ValueError("a fault of memflow"), True),
    ],
)
def test_ledger_counts_only_failures_that_a_rerun_can_fix_as_unfinished(
    url: str, error: Exception, counts: bool
) -> None:
    with SqlLedger(url) as ledger:
        ledger.record_failure(request("a"), ACCOUNT, error)
        assert ledger.unfinished(ACCOUNT.run, ACCOUNT.stage) == counts
        assert ledger.unfinished(ACCOUNT.run, "another stage") == 0


def test_failed_optional_request_is_not_counted_as_unfinished(url: str) -> None:
    with SqlLedger(url) as ledger:
        ledger.record_failure(replace(request("a"), optional=True), ACCOUNT, ChatError("timeout"))
        assert ledger.unfinished(ACCOUNT.run, ACCOUNT.stage) == 0
