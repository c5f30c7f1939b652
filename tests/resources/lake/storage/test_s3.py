"""A lake on an S3 server: round trips, conditional writes, versions, requests and damaged objects."""

import subprocess
import sys
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

import pytest
from s3_server import BUCKET, bucket_client
from valid_rows import valid_rows

from memflow.errors import BadInput, BadSettings, DamagedFile, MissingData, StoreFailed
from resources.lake.garbage_collection import collect, collectable, kept_bytes
from resources.lake.lake import Lake
from resources.lake.partition_catalog import PartitionCatalog
from resources.lake.storage import opening
from resources.lake.storage.client import check_address, sentence
from resources.lake.storage.object_store import ObjectStorage
from resources.publishing.warehouse import Warehouse

TABLE = "score.verdicts"
ROWS = valid_rows()[TABLE][:4]
ALL = 10**12


def keys_of(lake, environment):
    """Return the keys below the lake's address, read by another client."""
    prefix = lake.root.removeprefix(f"s3://{BUCKET}/")
    listed = bucket_client(environment).list_objects_v2(Bucket=BUCKET, Prefix=prefix).get("Contents", [])
    return [each["Key"].removeprefix(f"{prefix}/") for each in listed]


def requests_of(lake, action):
    """Return the requests that an action sends, by kind."""
    before = Counter(lake.storage.store.requests)
    action()
    return dict(lake.storage.store.requests - before)


def other_host(lake, folder, monkeypatch):
    """Return the same lake as a process on another host sees it, without any cache."""
    monkeypatch.setenv("MEMFLOW_CACHE", str(folder / "other"))
    return Lake(lake.root)


def test_s3_lake_returns_the_rows_of_every_table_as_written(lake, tmp_path, monkeypatch):
    for table, rows in valid_rows().items():
        facts = lake.write(table, "d/a@m", rows, fingerprint="f", meta={"run": "ü 中"})
        assert lake.facts(table, "d/a@m") == facts
    other = other_host(lake, tmp_path, monkeypatch)
    for table, rows in valid_rows().items():
        assert lake.read(table, "d/a@m") == other.read(table, "d/a@m") == rows
        assert other.facts(table, "d/a@m") == lake.facts(table, "d/a@m")
        assert other.partitions(table) == ["d/a@m"]


@pytest.mark.parametrize(
    "name", ["a,b/c%2Fd", "../../etc", "ü 中", ".hidden", "a*[b]?", "a#b?c=d&e", "a+b c"]
)
def test_s3_lake_escapes_partition_names_in_keys_and_restores_them(lake, name):
    lake.write(TABLE, name, ROWS[:1], fingerprint="")
    lake.write(TABLE, name, ROWS, fingerprint="")
    assert lake.partitions(TABLE) == lake.listing_view().partitions(TABLE) == [name]
    assert lake.read(TABLE, name) == ROWS
    assert [version.facts.rows for version in lake.versions(TABLE, name)] == [4, 1]


def test_s3_lake_has_a_pointer_an_object_and_a_record_per_replaced_version(lake, s3_environment):
    lake.write(TABLE, "d/a", ROWS[:1], fingerprint="one")
    lake.write(TABLE, "d/a", ROWS, fingerprint="two")
    found = Counter(key.partition("/")[0] for key in keys_of(lake, s3_environment))
    assert found == {"lake.json": 1, "pointers": 1, "objects": 2, "records": 1}
    assert lake.as_of(lake.versions(TABLE, "d/a")[1].since).read(TABLE, "d/a") == ROWS[:1]


def test_write_of_equal_rows_creates_no_object_and_equal_metadata_no_version(lake, s3_environment):
    for run in ("r1", "r1", "r2"):
        lake.write(TABLE, "d/a", ROWS, fingerprint="f", meta={"run": run})
    found = Counter(key.partition("/")[0] for key in keys_of(lake, s3_environment))
    assert found == {"lake.json": 1, "pointers": 1, "objects": 1, "records": 1}
    assert [version.facts.run for version in lake.versions(TABLE, "d/a")] == ["r2", "r1"]


def test_write_that_lost_the_race_for_the_pointer_comes_after_the_winner(lake, monkeypatch):
    lake.write(TABLE, "d/a", ROWS[:1], fingerprint="first")
    swap, other = ObjectStorage._swap, Lake(lake.root)

    def swapped_before(self, *arguments):
        monkeypatch.setattr(ObjectStorage, "_swap", swap)
        other.write(TABLE, "d/a", ROWS[:2], fingerprint="winner")
        return swap(self, *arguments)

    monkeypatch.setattr(ObjectStorage, "_swap", swapped_before)
    lake.write(TABLE, "d/a", ROWS[:3], fingerprint="later")
    assert lake.read(TABLE, "d/a") == ROWS[:3]
    versions = lake.versions(TABLE, "d/a")
    assert [each.facts.fingerprint for each in versions] == ["later", "winner", "first"]
    assert all(after.since > before.since for after, before in pairwise(versions))


def test_swap_whose_answer_was_lost_is_not_repeated(lake, monkeypatch):
    lake.write(TABLE, "d/a", ROWS[:1], fingerprint="first")
    client = lake.storage.store
    swap = client.swap
    monkeypatch.setattr(client, "swap", lambda *given: swap(*given) and None)
    lake.write(TABLE, "d/a", ROWS, fingerprint="second")
    assert [each.facts.fingerprint for each in lake.versions(TABLE, "d/a")] == ["second", "first"]


def test_snapshot_has_the_partitions_of_one_moment_as_local_files(lake, tmp_path):
    for partition in ("d/a", "d/b"):
        lake.write(TABLE, partition, ROWS[:1], fingerprint="old")
    with lake.snapshot([TABLE]) as still:
        lake.write(TABLE, "d/a", ROWS, fingerprint="new")
        assert still.local
        assert still.read(TABLE, "d/a") == still.read(TABLE, "d/b") == ROWS[:1]
        folder = Path(still.root)
        assert folder.exists()
    assert not folder.exists()
    assert Warehouse(lake, tmp_path / "m.duckdb").sql(f"SELECT count(*) AS n FROM {TABLE}") == [{"n": 5}]


def test_snapshot_is_taken_again_if_a_pointer_is_swapped_while_it_is_read(lake, monkeypatch):
    for partition in ("d/a", "d/b"):
        lake.write(TABLE, partition, ROWS[:1], fingerprint="old")
    newest, other = lake.storage.newest, Lake(lake.root)
    of_version, swapped = type(newest).of_version, []

    def disturbed(self, table, stem, listed):
        found = of_version(self, table, stem, listed)
        if not swapped:
            swapped.append(stem)
            for partition in ("d/a", "d/b"):
                other.write(TABLE, partition, ROWS[:2], fingerprint="new")
        return found

    monkeypatch.setattr(type(newest), "of_version", disturbed)
    with lake.snapshot([TABLE]) as still:
        assert still.read(TABLE, "d/a") == still.read(TABLE, "d/b") == ROWS[:2]


def test_reading_costs_one_request_and_a_view_lists_each_table_once(lake):
    partitions = [f"d/a{number}" for number in range(200)]
    for number, partition in enumerate(partitions):
        row = replace(ROWS[0], probe_id=str(number))
        lake.write(TABLE, partition, [row], fingerprint="f")
    write = requests_of(lake, lambda: lake.write(TABLE, "d/a1", ROWS, fingerprint="g"))
    assert write == {"get": 2, "create": 2, "swap": 1}
    assert requests_of(lake, lambda: lake.read(TABLE, "d/a1")) == {"get": 1}
    assert requests_of(lake, lambda: lake.facts(TABLE, "d/a1")) == {"get": 1}
    listed = lake.listing_view()
    assert requests_of(lake, lambda: [listed.facts(TABLE, name) for name in partitions]) == {"list": 1}
    assert requests_of(lake, lambda: [listed.read(TABLE, name) for name in partitions]) == {}
    assert requests_of(lake, lambda: PartitionCatalog(lake, [TABLE])) == {"list": 1}
    assert requests_of(lake, lambda: lake.kept.of_table(TABLE)) == {"list": 3}


def test_new_host_reads_pointers_and_objects_once(lake, tmp_path, monkeypatch):
    partitions = [f"d/a{number}" for number in range(20)]
    for partition in partitions:
        lake.write(TABLE, partition, ROWS, fingerprint="f")
    other = other_host(lake, tmp_path, monkeypatch)
    listed = other.listing_view()
    found = requests_of(other, lambda: [listed.facts(TABLE, name) for name in partitions])
    assert found == {"get": 20 + 1, "list": 1}  # the marker of the layout too
    assert requests_of(other, lambda: other.read(TABLE, "d/a1")) == {"get": 2}
    assert requests_of(other, lambda: other.read(TABLE, "d/a1")) == {"get": 1}
    opening._opened.clear()
    again = Lake(lake.root)
    assert requests_of(
        again, lambda: [again.listing_view().facts(TABLE, name) for name in partitions[:1]]
    ) == {
        "get": 1,
        "list": 1,
    }


def test_removed_rows_respect_the_grace_period(lake, s3_environment):
    for number in (1, 2, 3, 4):
        lake.write(TABLE, "d/a", ROWS[:number], fingerprint="")
    assert collect(lake, collectable(lake, datetime.now(UTC), 0)) == []
    at_once = Lake(ObjectStorage(lake.storage.store, lake.storage.cache, grace_s=0.0))
    before = kept_bytes(at_once)
    removed = collect(at_once, collectable(at_once, datetime.now(UTC), 0))
    assert [each.table for each in removed] == [TABLE] * 2
    assert kept_bytes(at_once) == before - sum(each.bytes for each in removed)
    first, second, third, last = reversed(lake.versions(TABLE, "d/a"))
    assert len(lake.as_of(third.since).read(TABLE, "d/a")) == 3
    assert len(lake.as_of(last.since).read(TABLE, "d/a")) == 4
    assert lake.as_of(first.since).removed_partitions(TABLE) == ["d/a"]
    with pytest.raises(MissingData, match="was removed by `memflow doctor --clean`"):
        lake.as_of(second.since).read(TABLE, "d/a")


def test_damaged_and_missing_objects_name_table_partition_and_fix(
    lake, s3_environment, tmp_path, monkeypatch
):
    for partition in ("d/a", "d/b", "d/c"):
        lake.write(TABLE, partition, ROWS, fingerprint="")
    prefix, client = lake.root.removeprefix(f"s3://{BUCKET}/"), bucket_client(s3_environment)
    by_partition = {
        key.split("/")[3]: key for key in keys_of(lake, s3_environment) if key.startswith("objects/")
    }
    damaged = f"{prefix}/{by_partition['d,a']}"
    content = bytearray(client.get_object(Bucket=BUCKET, Key=damaged)["Body"].read())
    content[len(content) // 2] ^= 1
    client.put_object(Bucket=BUCKET, Key=damaged, Body=bytes(content))
    client.delete_object(Bucket=BUCKET, Key=f"{prefix}/{by_partition['d,b']}")
    other = other_host(lake, tmp_path, monkeypatch)
    for partition, reason in (("d/a", "is damaged"), ("d/b", "is missing")):
        with pytest.raises(BadInput, match=rf"score\.verdicts of {partition} {reason}.*memflow doctor"):
            other.read(TABLE, partition)
    assert other.read(TABLE, "d/c") == ROWS
    assert other.current_partitions(TABLE) == other.listing_view().current_partitions(TABLE) == ["d/c"]
    with other.snapshot([TABLE]) as still:
        assert (still.partitions(TABLE), still.left_out) == (["d/c"], {TABLE: ["d/a", "d/b"]})
    for partition in ("d/a", "d/b"):
        other.write(TABLE, partition, ROWS, fingerprint="")
        assert other.read(TABLE, partition) == ROWS


@pytest.mark.parametrize("is_missing", [False, True])
def test_check_finds_a_damaged_object_that_the_cache_has_intact(lake, s3_environment, is_missing):
    lake.write(TABLE, "d/a", ROWS, fingerprint="")
    assert lake.check(TABLE, "d/a").rows == len(ROWS)
    prefix, client = lake.root.removeprefix(f"s3://{BUCKET}/"), bucket_client(s3_environment)
    [key] = [key for key in keys_of(lake, s3_environment) if key.startswith("objects/")]
    client.put_object(Bucket=BUCKET, Key=f"{prefix}/{key}", Body=b"x")
    if is_missing:
        client.delete_object(Bucket=BUCKET, Key=f"{prefix}/{key}")
    assert lake.read(TABLE, "d/a") == ROWS  # from the cache
    with pytest.raises(DamagedFile, match=r"is missing|is damaged"):
        lake.check(TABLE, "d/a")
    assert not lake.verify(TABLE, "d/a") and lake.intact_facts(TABLE, "d/a") is None
    lake.write(TABLE, "d/a", ROWS, fingerprint="")
    assert lake.check(TABLE, "d/a").rows == len(ROWS) and lake.read(TABLE, "d/a") == ROWS


def test_damaged_pointer_names_its_key_and_is_replaced_by_a_write(
    lake, s3_environment, tmp_path, monkeypatch
):
    for partition in ("d/a", "d/b"):
        lake.write(TABLE, partition, ROWS, fingerprint="f")
    key = lake.path(TABLE, "d/a").removeprefix(f"s3://{BUCKET}/")
    client = bucket_client(s3_environment)
    text = client.get_object(Bucket=BUCKET, Key=key)["Body"].read()
    for content in (text.replace(b'"rows":4', b'"rows":5'), text[:-9], b"", b"[]", b"null", b"\xff\xfe"):
        client.put_object(Bucket=BUCKET, Key=key, Body=content)
        for view in (lake, lake.listing_view()):
            with pytest.raises(
                BadInput, match=r"pointer s3://.*d,a\.json of score\.verdicts of d/a is damaged"
            ):
                view.facts(TABLE, "d/a")
            assert view.facts(TABLE, "d/b").rows == 4
    lake.write(TABLE, "d/a", ROWS[:2], fingerprint="f")
    assert lake.read(TABLE, "d/a") == ROWS[:2]


def test_damaged_cached_object_is_fetched_again(lake, monkeypatch):
    lake.write(TABLE, "d/a", ROWS, fingerprint="")
    [cached] = (lake.storage.cache.folder / "objects").glob("*.parquet")
    cached.write_bytes(b"x" * cached.stat().st_size)
    opening._opened.clear()
    assert Lake(lake.root).read(TABLE, "d/a") == ROWS


def test_cache_that_cannot_be_written_does_not_stop_reading(lake, tmp_path, monkeypatch):
    lake.write(TABLE, "d/a", ROWS, fingerprint="")
    (tmp_path / "file").touch()
    monkeypatch.setenv("MEMFLOW_CACHE", str(tmp_path / "file"))
    other = Lake(lake.root)
    assert other.read(TABLE, "d/a") == ROWS
    with other.snapshot([TABLE]) as still:
        assert still.read(TABLE, "d/a") == ROWS


def test_cache_deletes_the_least_recently_used_objects(lake, monkeypatch):
    monkeypatch.setattr("resources.lake.storage.object_cache.EVICT_EVERY", 1)
    lake.storage.cache.most_bytes = 20_000
    for number in range(30):
        lake.write(TABLE, f"d/{number}", ROWS, fingerprint="", meta={"run": str(number)})
    lake.storage.cache.evict()
    assert sum(path.stat().st_size for path in (lake.storage.cache.folder / "objects").iterdir()) <= 20_000
    assert lake.read(TABLE, "d/0") == lake.read(TABLE, "d/29") == ROWS


def test_lake_of_the_former_layout_names_the_command_that_copies_it(s3, s3_environment):
    key = f"{s3.removeprefix(f's3://{BUCKET}/')}/score/verdicts/d,a.parquet"
    bucket_client(s3_environment).put_object(Bucket=BUCKET, Key=key, Body=b"x")
    with pytest.raises(BadInput, match=rf"former version of memflow.*`memflow copy-lake {s3}`"):
        Lake(s3).facts(TABLE, "d/a")


def test_missing_bucket_is_named(s3_environment, s3):
    with pytest.raises(StoreFailed, match="the bucket of s3://other/lake does not exist"):
        Lake("s3://other/lake").facts(TABLE, "d/a")


def test_addresses_with_credentials_or_of_unknown_kinds_are_rejected():
    for address in (
        "s3://key:secret@bucket/lake",
        "s3://bucket/lake?access_key=secret",
        "s3://bucket/a#secret",
    ):
        with pytest.raises(BadSettings) as wrong:
            check_address(address)
        assert "secret" not in str(wrong.value) and "environment" in str(wrong.value)
    for address in ("ftp://host/lake", "s3:///lake"):
        with pytest.raises(BadSettings, match="lake's address"):
            Lake(address)


def test_missing_package_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "resources.lake.storage.obstore_client", None)
    with pytest.raises(BadSettings, match=r"Install memflow\[object-store\]"):
        Lake("s3://bucket/without-package")


def test_local_lake_does_not_import_the_object_store():
    script = (
        "import sys; from resources.lake.lake import Lake; Lake('lake'); sys.exit('obstore' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_sentences_contain_no_part_of_a_request():
    error = Exception(
        "Server returned non-2xx status code: 403 Forbidden: <Error><Code>SignatureDoesNotMatch</Code>"
        "<AWSAccessKeyId>AKIASECRET</AWSAccessKeyId></Error>"
    )
    found = sentence("s3://bucket/lake", error)
    none = sentence(
        "s3://bucket/lake", Exception("Error performing PUT http://169.254.169.254/latest: 403 Forbidden")
    )
    assert "refuses access (no credentials). Set valid credentials" in none
    assert "403 SignatureDoesNotMatch" in found and "AKIASECRET" not in found and "AWS_ACCESS_KEY_ID" in found
