"""The migration of ledgers of former versions, on SQLite and PostgreSQL."""

import multiprocessing

import pytest
import sqlalchemy as sa
from ledger_rows import ACCOUNT, fill, find, request, store

from memflow.chat.requests import Completion
from resources.ledger.migration import is_current
from resources.ledger.sql_ledger import SqlLedger
from resources.ledger.tables import failures, tables, usage_totals
from resources.ledger.usage import GROUPS
from resources.ledger.verification import problems

ADDED = {
    "completions": ("end", "reasoning_tokens", "estimated", "checksum", "request_checksum"),
    "embeddings": ("checksum",),
    "embedding_times": ("checksum",),
    "failures": ("end", "repeats"),
    "usage_totals": ("cut", "reasoning_tokens"),
}
"""The columns that the former version did not have."""
KEYS = {name: letter * 32 for name, letter in (("whole", "a"), ("cut", "b"), ("error body", "c"))}


def make_former(url: str) -> None:
    """Write a ledger as the former version did: with a whole answer, a cut one, and an error body as an empty one."""
    with SqlLedger(url) as ledger:
        (error_body,) = store(ledger, KEYS["error body"])
        store(ledger, KEYS["whole"], KEYS["cut"])
        ledger.used(error_body, request("error body"), ACCOUNT)
    engine = sa.create_engine(url)
    with engine.begin() as connection:
        update = "UPDATE completions SET {} WHERE digest = '{}'"
        connection.exec_driver_sql(update.format("finish_reason = 'length'", KEYS["cut"]))
        empty = "text = '', prompt_tokens = 0, completion_tokens = 0, cached_tokens = 0, latency_s = 0"
        connection.exec_driver_sql(update.format(empty, KEYS["error body"]))
        tables.tables["forgotten_usage"].drop(connection)
        for table, columns in ADDED.items():
            for column in columns:
                connection.exec_driver_sql(f'ALTER TABLE {table} DROP COLUMN "{column}"')
    engine.dispose()


def test_migration_marks_completions_with_finish_reason_length_as_cut(either_url: str) -> None:
    make_former(either_url)
    with SqlLedger(either_url) as ledger:
        whole, cut = find(ledger, KEYS["whole"]), find(ledger, KEYS["cut"])
        assert whole == Completion("yes", "stop", 10, 3, 4, 0.25, KEYS["whole"])
        assert cut == Completion("yes", "length", 10, 3, 4, 0.25, KEYS["cut"], "cut")
        (usage,) = ledger.usage(by=())
        assert (usage.requests, usage.cut, usage.paid_completion_tokens) == (2, 1, 6)


def test_migration_turns_empty_answers_without_tokens_into_blank_failures(either_url: str) -> None:
    make_former(either_url)
    with SqlLedger(either_url) as ledger:
        assert find(ledger, KEYS["error body"]) is None
        assert ledger.usage(by=())[0].failed == 2
        with ledger.connect() as connection:
            ends = connection.execute(sa.select(failures.c.end, failures.c.run, failures.c.model)).all()
        assert ends == [("blank", ACCOUNT.run, ACCOUNT.model)] * 2
        (answered,) = store(ledger, KEYS["error body"], text="an answer")
        assert find(ledger, KEYS["error body"]) == answered != ""


def test_migrated_ledger_is_consistent_and_unchanged_when_opened_again(either_url: str) -> None:
    make_former(either_url)
    with SqlLedger(either_url) as ledger:
        expected = ledger.usage(by=GROUPS)
    with SqlLedger(either_url) as ledger:
        assert ledger.usage(by=GROUPS) == expected
        with ledger.connect(transaction=True) as connection:
            assert problems(connection) == []


def test_migration_adds_usage_totals_to_a_ledger_without_totals(either_url: str) -> None:
    make_former(either_url)
    engine = sa.create_engine(either_url)
    usage_totals.drop(engine)
    engine.dispose()
    with SqlLedger(either_url) as ledger:
        assert [row.requests for row in ledger.usage(by=("model",))] == [2]


@pytest.mark.postgres
def test_postgresql_stores_messages_without_compressing_them_again(postgres_ledger_url: str) -> None:
    SqlLedger(postgres_ledger_url).close()
    engine = sa.create_engine(postgres_ledger_url)
    with engine.begin() as connection:
        assert is_current(connection)
        connection.exec_driver_sql("ALTER TABLE completions ALTER COLUMN messages SET STORAGE EXTENDED")
        assert not is_current(connection)
    SqlLedger(postgres_ledger_url).close()
    with engine.connect() as connection:
        assert is_current(connection)
    engine.dispose()


@pytest.mark.postgres
def test_user_who_does_not_own_the_tables_opens_a_ledger_that_compresses_messages(
    postgres_ledger_url: str,
) -> None:
    SqlLedger(postgres_ledger_url).close()
    owner = sa.create_engine(postgres_ledger_url)
    with owner.begin() as connection:
        connection.exec_driver_sql("ALTER TABLE completions ALTER COLUMN messages SET STORAGE EXTENDED")
        connection.exec_driver_sql("CREATE ROLE ledger_user LOGIN")
        for kind in ("TABLES", "SEQUENCES"):
            connection.exec_driver_sql(f"GRANT ALL ON ALL {kind} IN SCHEMA public TO ledger_user")
    try:
        url = owner.url.set(username="ledger_user").render_as_string(hide_password=False)
        with SqlLedger(url) as ledger:
            store(ledger, "a")
            assert ledger.digests() == {"a"}
    finally:
        with owner.begin() as connection:
            connection.exec_driver_sql("DROP OWNED BY ledger_user")
            connection.exec_driver_sql("DROP ROLE ledger_user")
        owner.dispose()


@pytest.mark.parametrize("processes", [4])
def test_concurrent_processes_migrate_a_former_ledger_once(either_url: str, processes: int) -> None:
    make_former(either_url)
    context = multiprocessing.get_context("spawn")
    running = [context.Process(target=fill, args=(either_url, n, 10)) for n in range(processes)]
    for process in running:
        process.start()
    for process in running:
        process.join()
    assert [process.exitcode for process in running] == [0] * processes
    with SqlLedger(either_url) as ledger:
        (usage,) = ledger.usage(by=())
        assert (usage.cut, usage.failed) == (1, 2)
        with ledger.connect(transaction=True) as connection:
            found = [each.name for each in problems(connection)]
        assert found == ["malformed digest"], "the keys of `fill` are no digests"
