"""Usage from the ledger's totals: groups, runs, cost, and equality with the single uses."""

import asyncio
import tempfile
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ledger_rows import ACCOUNT, completion, request, store

from memflow.chat.budget import Prices
from memflow.chat.ledger import RequestContext
from memflow.chat.requests import Completion
from memflow.errors import BadSettings, ChatError, EndpointDown
from memflow.resources.ledger.sql_ledger import SqlLedger
from memflow.resources.ledger.usage import GROUPS, UsageRow, cost

JUDGE = RequestContext("run 1", "score", "judge", "d", "full", "j")
LATER = RequestContext("run 2", "answer", "assistant", "d", "full", "m")


def record_two_runs(ledger: SqlLedger) -> None:
    (stored, _) = store(ledger, "a", "b")
    store(ledger, "c", account=JUDGE)
    ledger.record_cache_hit(stored, request("a"), ACCOUNT)
    ledger.record_cache_hit(stored, request("a"), LATER)
    ledger.record_failure(request("d"), ACCOUNT, EndpointDown("nobody there"))
    ledger.record_failure(request("d"), JUDGE, EndpointDown("nobody there"))


def test_ledger_sums_usage_by_group(either_url: str) -> None:
    with SqlLedger(either_url) as ledger:
        record_two_runs(ledger)
        rows = ledger.usage(by=("role", "model"), runs=["run 1"])
        assert rows == [
            UsageRow(
                {"role": "assistant", "model": "m"}, 2, 1, 1, 30, 9, 12, 0.75, 20, 6, paid_cached_tokens=8
            ),
            UsageRow({"role": "judge", "model": "j"}, 1, 0, 1, 10, 3, 4, 0.25, 10, 3, paid_cached_tokens=4),
        ]
        assert all(type(number) is int for number in (rows[0].requests, rows[0].paid_prompt_tokens))
        assert cost(rows[0], Prices(prompt=1e6, completion=2e6)) == 20 + 12
        assert cost(rows[0], Prices(prompt=1e6, completion=2e6, cached=5e5)) == 20 + 12 - 8 / 2
        assert cost(rows[1], None) is None
        (hit,) = ledger.usage(by=("model",), runs=["run 2"])
        assert cost(hit, Prices(prompt=1.0, completion=1.0)) == cost(hit, None) == 0


def test_usage_of_runs_covers_these_runs_only(either_url: str) -> None:
    with SqlLedger(either_url) as ledger:
        record_two_runs(ledger)
        (whole,) = ledger.usage(by=())
        assert (whole.requests, whole.cache_hits, whole.failed) == (3, 2, 2)
        (second,) = ledger.usage(by=("run",), runs=["run 2"])
        assert second == UsageRow({"run": "run 2"}, 0, 1, 0, 10, 3, 4, 0.25, 0, 0)
        (both,) = ledger.usage(by=("domain",), runs={"run 1", "run 2", "run 3"})
        assert (both.requests, both.cache_hits) == (3, 2)
        assert ledger.usage(runs=[]) == []


def test_ledger_counts_retries_and_the_tokens_of_their_answers(either_url: str) -> None:
    with SqlLedger(either_url) as ledger:
        store(ledger, "a")
        again = replace(request("b"), retry=True)

        async def put() -> Completion:
            return await ledger.put(completion(key="b"), again, ACCOUNT)

        ledger.record_cache_hit(asyncio.run(put()), again, LATER)
        (whole,) = ledger.usage(by=())
        assert (whole.requests, whole.cache_hits, whole.retries, whole.retry_tokens) == (2, 1, 2, 6)


def test_usage_by_unknown_group_is_rejected(url: str) -> None:
    with SqlLedger(url) as ledger, pytest.raises(BadSettings, match="cannot be grouped by colour"):
        ledger.usage(by=("colour",))


def test_usage_counts_stored_completion_if_another_process_stored_the_request_first(either_url: str) -> None:
    """Another process stored a completion of the same request first."""
    with SqlLedger(either_url) as ledger, SqlLedger(either_url) as other:
        store(other, "a")
        longer = completion("a longer text", "a")

        async def overtaken() -> None:
            await ledger.put(longer.__class__("longer", "stop", 99, 99, 99, 9.0, "a"), request("a"), ACCOUNT)

        asyncio.run(overtaken())
        assert ledger.usage(by=()) == [UsageRow({}, 2, 0, 0, 20, 6, 8, 0.5, 20, 6, paid_cached_tokens=8)]


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["put", "used", "failed", "flush"]),
        st.sampled_from("abc"),
        st.sampled_from([ACCOUNT, JUDGE, LATER]),
    ),
    max_size=20,
)


def sums_over_single_uses(ledger: SqlLedger) -> dict[tuple[str, ...], tuple[int, ...]]:
    """Return requests, cache hits, failures and prompt tokens by group, computed from the single rows."""
    groups = ", ".join(GROUPS)
    prompt_tokens = completion().prompt_tokens
    sums: dict[tuple[str, ...], tuple[int, ...]] = {}
    with ledger.connect() as connection:
        for row in connection.exec_driver_sql(
            f"select {groups}, sum(not kept), sum(kept), 0, count(*) * {prompt_tokens} from uses group by {groups} "
            f"union all select {groups}, 0, 0, count(*), 0 from failures group by {groups}"
        ):
            names, numbers = tuple(row[: len(GROUPS)]), row[len(GROUPS) :]
            earlier = sums.get(names, (0, 0, 0, 0))
            sums[names] = tuple(map(sum, zip(earlier, numbers, strict=True)))
    return sums


@settings(deadline=None, max_examples=12)
@given(steps=STEPS)
def test_ledger_totals_equal_the_sums_over_single_uses(steps: list[tuple[str, str, RequestContext]]) -> None:
    with tempfile.TemporaryDirectory() as folder, SqlLedger(f"sqlite:///{folder}/ledger.sqlite") as ledger:
        known = {key: store(ledger, key)[0] for key in "abc"}
        for step, key, account in steps:
            match step:
                case "put":
                    store(ledger, key, text="another", account=account)
                case "used":
                    ledger.record_cache_hit(known[key], request(key), account)
                case "failed":
                    ledger.record_failure(request(key), account, ChatError("no"))
                case "flush":
                    ledger.flush()
        totals = {
            tuple(row.by.values()): (row.requests, row.cache_hits, row.failed, row.prompt_tokens)
            for row in ledger.usage(by=GROUPS)
        }
        assert totals == sums_over_single_uses(ledger)
