"""The event log on SQLite with several processes and threads: no lost events, no deadlock."""

import logging
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
import traceback
from collections import Counter
from pathlib import Path

import dagster as dg
import pytest
from checked_graph import PARTITIONS, build_job, check_names, execute
from event_logs import (
    CHECKS,
    PYTHONPATH,
    evaluations,
    in_threads,
    integrity,
    kind_of,
    logs,
    opened,
    planned_events,
    rows,
    start_writer,
    wait_until,
)

from resources.instance.event_log import SqliteEventLog


def test_watcher_receives_every_event_while_the_run_database_is_open(home: Path) -> None:
    with opened(home) as instance:
        writer = start_writer(home, "a", CHECKS=str(CHECKS), PAUSE_S="3", STAY="yes")
        wait_until(lambda: instance.get_runs_count() == 1)
        (run,) = instance.get_runs()
        seen: list[str] = []
        first_seen_in: list[str] = []

        def note(event: dg.EventLogEntry, _cursor: str) -> None:
            if not seen:
                first_seen_in.append(instance.get_run_by_id(run.run_id).status.value)  # type: ignore[union-attr]
            seen.append(kind_of(event))

        instance.watch_event_logs(run.run_id, None, note)
        wait_until(lambda: "PIPELINE_SUCCESS" in seen)
        assert writer.poll() is None, "the writer lives, and its connections are open"
        assert list(logs(home).glob("*.db-wal"))
        stored = instance.all_logs(run.run_id)
        assert len(seen) == len(stored)
        assert first_seen_in == ["STARTED"], "the log moved while the run was in progress"
        instance.end_watch_event_logs(run.run_id, note)
        writer.communicate(timeout=30)
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("sql-event-watch")]


def test_reader_sees_each_event_of_three_writer_processes_once(home: Path) -> None:
    # The databases are created before: two processes at once leave them without a version.
    opened(home).dispose()
    each = 2
    writers = [
        start_writer(home, *PARTITIONS[each * number : each * number + each], CHECKS=str(CHECKS))
        for number in range(3)
    ]
    seen: Counter[str] = Counter()
    with opened(home) as instance:
        cursors: dict[str, str | None] = {}

        def read() -> None:
            for run in instance.get_runs():
                page = instance.get_records_for_run(run.run_id, cursors.get(run.run_id))
                cursors[run.run_id] = page.cursor
                seen[run.run_id] += len(page.records)

        while any(writer.poll() is None for writer in writers):
            read()
            time.sleep(0.02)
        read()
        run_ids = [line for writer in writers for line in writer.communicate(timeout=30)[0].split()]
        assert [writer.returncode for writer in writers] == [0, 0, 0]
        assert len(run_ids) == 3 * each
        counts = {run_id: len(instance.all_logs(run_id)) for run_id in run_ids}
        assert dict(seen) == counts, "the reader saw each event once"
        assert len(set(counts.values())) == 1
        for name in check_names(CHECKS):
            assert sorted(run_id for run_id, _ in evaluations(instance, name)) == sorted(run_ids)
        index = rows(logs(home) / "index.db")
    kinds = Counter((row[1], row[3]) for row in index["event_logs"])
    expected = {"ASSET_CHECK_EVALUATION_PLANNED": CHECKS, "ASSET_CHECK_EVALUATION": CHECKS}
    for run_id in run_ids:
        for kind, count in {**expected, "ASSET_MATERIALIZATION": 1}.items():
            assert kinds[run_id, kind] == count
    assert len(index["asset_check_executions"]) == CHECKS * len(run_ids)
    assert integrity(home) == {"ok"}


KILLED = textwrap.dedent(
    """
    import os, sys
    import dagster as dg
    from checked_graph import build_job, execute

    with dg.DagsterInstance.from_config(sys.argv[1]) as instance:
        out = os.fdopen(os.dup(1), "w", buffering=1)
        storage = instance.event_log_storage
        store, store_batch = storage.store_event, storage.store_event_batch
        in_batch = False

        def store_and_report(event):
            store(event)
            if not in_batch:
                out.write(f"{event.run_id}\\n")

        def store_batch_and_report(events):
            global in_batch
            in_batch = True
            store_batch(events)
            in_batch = False
            out.write("".join(f"{event.run_id}\\n" for event in events))

        storage.store_event, storage.store_event_batch = store_and_report, store_batch_and_report
        job = build_job(40)
        while True:
            execute(job, instance, "a")
    """
)


@pytest.mark.kill
@pytest.mark.parametrize("events", [1, 75, 130])
def test_stored_events_survive_the_kill_of_their_writer_process(home: Path, events: int) -> None:
    environment = {**os.environ, **PYTHONPATH}
    writer = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(home)], env=environment, stdout=subprocess.PIPE, text=True
    )
    assert writer.stdout is not None
    reported = Counter(writer.stdout.readline().strip() for _ in range(events))
    writer.send_signal(signal.SIGKILL)
    reported += Counter(writer.communicate()[0].split())
    with opened(home) as instance:
        for run_id, count in reported.items():
            assert len(instance.all_logs(run_id)) >= count
        run_id = execute(build_job(CHECKS), instance, "b").run_id
        assert (run_id, "SUCCEEDED") in evaluations(instance, "check_0")
    assert integrity(home) == {"ok"}


THREADS = textwrap.dedent(
    """
    import os, sys, threading
    from pathlib import Path
    from checked_graph import PARTITIONS, build_job, execute
    from resources.instance.instance import open_instance

    job = build_job(5)
    out = os.fdopen(os.dup(1), "w")
    counts = []
    with open_instance(Path(sys.argv[1])) as opened:
        def work(partition):
            for _ in range(5):
                run_id = execute(job, opened.instance, partition).run_id
                counts.append(len(opened.instance.all_logs(run_id)))

        threads = [threading.Thread(target=work, args=(each,)) for each in PARTITIONS[:4]]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
    out.write(f"{len(counts)} {len(set(counts))}")
    """
)


def test_runs_in_four_threads_finish_and_store_all_events(tmp_path: Path) -> None:
    environment = {**os.environ, **PYTHONPATH}
    environment.pop("DAGSTER_HOME", None)
    done = subprocess.run(
        [sys.executable, "-c", THREADS, str(tmp_path)],
        env=environment,
        timeout=120,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "20 1", "20 runs, each with as many events as the others"
    with opened(tmp_path / "dagster") as instance:
        assert len(evaluations(instance, "check_0")) == 20
    assert integrity(tmp_path / "dagster") == {"ok"}


def test_threads_lose_no_event_in_a_shared_log(recorded: list[dg.EventLogEntry], tmp_path: Path) -> None:
    storage = SqliteEventLog(str(tmp_path))
    planned = planned_events(recorded)

    def write(number: int) -> None:
        for event in recorded:
            storage.store_event(event._replace(run_id=f"run-{number}"))
            storage.get_records_for_run(f"run-{(number + 1) % 12}")
        storage.store_event_batch([event._replace(run_id=f"batch-{number}") for event in planned])

    in_threads(write, 12)
    for number in range(12):
        assert len(storage.get_records_for_run(f"run-{number}").records) == len(recorded)
        assert len(storage.get_records_for_run(f"batch-{number}").records) == len(planned)
    storage.dispose()


def test_event_is_stored_while_another_thread_holds_the_logging_lock(
    recorded: list[dg.EventLogEntry], tmp_path: Path
) -> None:
    """Storing an event must not wait for a thread that holds the logging lock."""
    storage = SqliteEventLog(str(tmp_path))
    storage.store_event(recorded[0])
    logging.root.manager._clear_cache()  # type: ignore[attr-defined]
    release, held = threading.Event(), threading.Event()

    def hold() -> None:
        with logging._lock:  # type: ignore[attr-defined]
            held.set()
            release.wait(60)

    def store() -> None:
        for event in recorded:
            storage.store_event(event._replace(run_id="another"))  # a new database is created too

    holder, writer = (threading.Thread(target=target, daemon=True) for target in (hold, store))
    holder.start()
    held.wait()
    writer.start()
    writer.join(30)
    waits = writer.is_alive()
    frames = traceback.format_stack(sys._current_frames()[writer.ident]) if waits and writer.ident else []
    release.set()
    assert not waits, "".join(frames)
    assert len(storage.get_records_for_run("another").records) == len(recorded)
    storage.dispose()
