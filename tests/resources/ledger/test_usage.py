"""Usage from the ledger's totals: groups, runs, cost, ledgers of former versions, and equality with the single uses."""

import asyncio
import tempfile

import pytest
import sqlalchemy as sa
from hypothesis import given, settings
from hypothesis import strategies as st
from ledger_rows import ACCOUNT, completion, request, store

from memflow.chat.ledger import LedgeredChat, RecordedChat, RequestContext
from memflow.chat.requests import ChatRequest, Completion, Sampling, ServedCompletion
from memflow.errors import BadSettings, ChatError, EndpointDown
from resources.endpoints.limits import Prices
from resources.ledger.database import open_engine
from resources.ledger.sql_ledger import SqlLedger
from resources.ledger.tables import usage_totals
from resources.ledger.usage import GROUPS, AddressUsageRow, UsageRow, cost, fill_totals

JUDGE = RequestContext("run 1", "score", "judge", "d", "full", "j")
LATER = RequestContext("run 2", "answer", "assistant", "d", "full", "m")


def record_two_runs(ledger: SqlLedger) -> None:
    (stored, _) = store(ledger, "a", "b")
    store(ledger, "c", account=JUDGE)
    ledger.used(stored, request("a"), ACCOUNT)
    ledger.used(stored, request("a"), LATER)
    ledger.failed(request("d"), ACCOUNT, EndpointDown("nobody there"))
    ledger.failed(request("d"), JUDGE, EndpointDown("nobody there"))


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
        assert cost(rows[0], {"m": Prices(prompt=1e6, completion=2e6)}) == 20 + 12
        assert cost(rows[1], {"m": Prices(prompt=1e6)}) == 0
        (hit,) = ledger.usage(by=("model",), runs=["run 2"])
        assert cost(hit, {"m": Prices(prompt=1.0, completion=1.0)}) == 0


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


def test_ledger_records_the_requests_of_each_address_in_the_transaction_that_stores_them(
    either_url: str,
) -> None:
    a, b = "http://a:8000/v1", "http://b:8000/v1"

    def served(key: str, address: str, *failed_at: str) -> ServedCompletion:
        return ServedCompletion("yes", "stop", 10, 3, 4, 0.25, key, address=address, failed_at=failed_at)

    async def put(*answers: ServedCompletion, account: RequestContext = ACCOUNT) -> list[Completion]:
        stored = [ledger.put(answer, request(answer.digest), account) for answer in answers]
        return await asyncio.gather(*stored)

    with SqlLedger(either_url) as ledger:
        first, *_ = asyncio.run(put(served("1", a), served("2", b, a), served("3", b, a, a, b)))
        asyncio.run(put(served("4", a), account=LATER))
        ledger.used(first, request("1"), LATER)
        store(ledger, "of a model with one address")
        error = EndpointDown("all are down")
        error.failed_at = (a, b)
        ledger.failed(request("5"), ACCOUNT, error)
        ledger.failed(request("6"), ACCOUNT, EndpointDown("of a model with one address"))
        assert ledger.addresses(runs=["run 1"]) == [
            AddressUsageRow("m", a, requests=1, failed=4, moved=3, prompt_tokens=10, cached_tokens=4),
            AddressUsageRow("m", b, requests=2, failed=2, moved=0, prompt_tokens=20, cached_tokens=8),
        ]
        assert [row.requests for row in ledger.addresses()] == [2, 2]
        assert ledger.addresses(runs=[]) == []


def test_attempts_of_a_failed_request_are_counted_once_although_others_wait_for_it(url: str) -> None:
    a, b = "http://a:8000/v1", "http://b:8000/v1"

    class FailingChat(RecordedChat):
        async def complete(self, request: ChatRequest) -> Completion:
            await asyncio.sleep(0.01)
            error = EndpointDown("all are down")
            error.failed_at = (a, b)
            raise error

    async def ask() -> None:
        chat = LedgeredChat(FailingChat("m", Sampling()), ledger, ACCOUNT)
        raised = await asyncio.gather(
            *(chat.complete(request("1")) for _ in range(3)), return_exceptions=True
        )
        assert [type(each) for each in raised] == [EndpointDown] * 3

    with SqlLedger(url) as ledger:
        asyncio.run(ask())
        assert ledger.usage(by=())[0].failed == 3
        assert [(row.address, row.failed) for row in ledger.addresses()] == [(a, 1), (b, 1)]


def test_usage_by_unknown_group_is_rejected(url: str) -> None:
    with SqlLedger(url) as ledger, pytest.raises(BadSettings, match="cannot be grouped by colour"):
        ledger.usage(by=("colour",))


def test_usage_needed_without_cache_counts_each_completion_of_a_run_once(either_url: str) -> None:
    """Repeated requests and cache hits of a run count once."""
    with SqlLedger(either_url) as ledger:
        first, second = store(ledger, "a", "b")
        ledger.used(second, request("b"), ACCOUNT)
        for stored in (first, second, second, second):
            ledger.used(stored, request("x"), LATER)
        (played,) = ledger.needed(("role",), "run 1")
        (replayed,) = ledger.needed(("role",), "run 2")
        expected = UsageRow({"role": "assistant"}, 2, 0, 0, 20, 6, 8, 0.5, 20, 6, paid_cached_tokens=8)
        assert played == expected == replayed
        ledger.failed(request("c"), ACCOUNT, EndpointDown("nobody there"))
        assert ledger.needed(("role",), "run 1")[0].failed == 1
        assert ledger.needed(("role",), "run 3") == []


def test_usage_counts_stored_completion_if_another_process_stored_the_request_first(either_url: str) -> None:
    """Another process stored a completion of the same request first."""
    with SqlLedger(either_url) as ledger, SqlLedger(either_url) as other:
        store(other, "a")
        longer = completion("a longer text", "a")

        async def overtaken() -> None:
            await ledger.put(longer.__class__("longer", "stop", 99, 99, 99, 9.0, "a"), request("a"), ACCOUNT)

        asyncio.run(overtaken())
        assert ledger.usage(by=()) == [UsageRow({}, 2, 0, 0, 20, 6, 8, 0.5, 20, 6, paid_cached_tokens=8)]


def test_totals_of_former_ledger_are_computed_when_it_is_opened(either_url: str) -> None:
    with SqlLedger(either_url) as ledger:
        record_two_runs(ledger)
        expected = ledger.usage(by=GROUPS)
    engine = sa.create_engine(either_url)
    usage_totals.drop(engine)
    engine.dispose()
    with SqlLedger(either_url) as ledger:
        assert ledger.usage(by=GROUPS) == expected
        store(ledger, "e")
        assert sum(row.requests for row in ledger.usage()) == 4


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["put", "used", "failed", "flush"]),
        st.sampled_from("abc"),
        st.sampled_from([ACCOUNT, JUDGE, LATER]),
    ),
    max_size=20,
)


@settings(deadline=None, max_examples=30)
@given(steps=STEPS)
def test_ledger_totals_equal_the_sums_over_single_uses(steps: list[tuple[str, str, RequestContext]]) -> None:
    with tempfile.TemporaryDirectory() as folder, SqlLedger(f"sqlite:///{folder}/ledger.sqlite") as ledger:
        known = {key: store(ledger, key)[0] for key in "abc"}
        for step, key, account in steps:
            match step:
                case "put":
                    store(ledger, key, text="another", account=account)
                case "used":
                    ledger.used(known[key], request(key), account)
                case "failed":
                    ledger.failed(request(key), account, ChatError("no"))
                case "flush":
                    ledger.flush()
        totals = ledger.usage(by=GROUPS)
        engine = open_engine(ledger.url)
        with engine.begin() as connection:
            connection.execute(sa.delete(usage_totals))
            fill_totals(connection)
        assert ledger.usage(by=GROUPS) == totals
        engine.dispose()
