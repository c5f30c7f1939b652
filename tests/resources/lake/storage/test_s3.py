"""A lake on an S3 server: round trips, conditional writes, versions, requests and damaged objects."""

import subprocess
import sys
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from secrets import token_hex

import pytest
from s3_server import BUCKET, bucket_client
from valid_rows import valid_rows

from memflow.errors import BadSettings, DamagedFile, StoreFailed
from memflow.resources.lake.lake import Lake
from memflow.resources.lake.partition_catalog import PartitionCatalog
from memflow.resources.lake.past import PastLake
from memflow.resources.lake.snapshots import snapshot_of
from memflow.resources.lake.storage import opening
from memflow.resources.lake.storage.client import check_address, sentence
from memflow.resources.lake.storage.object_store import END_BYTES, ObjectStorage
from memflow.resources.lake.versions import version_key
from memflow.resources.publishing.warehouse import Warehouse

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


def test_s3_lake_has_the_keys_of_a_local_lake(lake, s3_environment):
    lake.write(TABLE, "d/a", ROWS[:1], fingerprint="one")
    first = lake.facts(TABLE, "d/a")
    lake.write(TABLE, "d/a", ROWS, fingerprint="two")
    lake.write(TABLE, "d/a", ROWS, fingerprint="two")  # no version: nothing differs
    assert keys_of(lake, s3_environment) == [version_key(TABLE, "d/a", first), "score/verdicts/d,a.parquet"]
    assert PastLake(lake, first.since).read(TABLE, "d/a") == ROWS[:1]


def test_write_that_lost_the_race_comes_after_the_winner(lake, monkeypatch):
    lake.write(TABLE, "d/a", ROWS[:1], fingerprint="first")
    commit, other = ObjectStorage.commit, Lake(lake.root)

    def committed_before(self, *arguments):
        monkeypatch.setattr(ObjectStorage, "commit", commit)
        other.write(TABLE, "d/a", ROWS[:2], fingerprint="winner")
        return commit(self, *arguments)

    monkeypatch.setattr(ObjectStorage, "commit", committed_before)
    facts = lake.write(TABLE, "d/a", ROWS[:3], fingerprint="later")
    assert lake.read(TABLE, "d/a") == ROWS[:3]
    versions = lake.versions(TABLE, "d/a")
    assert [each.facts.fingerprint for each in versions] == ["later", "winner", "first"]
    assert all(after.since > before.since for after, before in pairwise(versions))
    assert lake.check(TABLE, "d/a") == facts  # also with the later time in its footer


def test_replacement_whose_answer_was_lost_is_not_repeated(lake, monkeypatch):
    lake.write(TABLE, "d/a", ROWS[:1], fingerprint="first")
    client = lake.storage.store
    swap = client.swap
    monkeypatch.setattr(client, "swap", lambda *given: swap(*given) and None)
    lake.write(TABLE, "d/a", ROWS, fingerprint="second")
    assert [each.facts.fingerprint for each in lake.versions(TABLE, "d/a")] == ["second", "first"]


def test_snapshot_has_the_partitions_of_one_moment_as_local_files(lake, tmp_path):
    for partition in ("d/a", "d/b"):
        lake.write(TABLE, partition, ROWS[:1], fingerprint="old")
    with snapshot_of(lake, [TABLE]) as still:
        lake.write(TABLE, "d/a", ROWS, fingerprint="new")
        assert still.local
        assert still.read(TABLE, "d/a") == still.read(TABLE, "d/b") == ROWS[:1]
        folder = Path(still.root)
        assert folder.exists()
    assert not folder.exists()
    assert Warehouse(lake, tmp_path / "m.duckdb").sql(f"SELECT count(*) AS n FROM {TABLE}") == [{"n": 5}]


def test_reading_costs_one_request_and_a_view_lists_each_table_once(lake):
    partitions = [f"d/a{number}" for number in range(60)]
    for number, partition in enumerate(partitions):
        row = replace(ROWS[0], probe_id=str(number))
        lake.write(TABLE, partition, [row], fingerprint="f")
    write = requests_of(lake, lambda: lake.write(TABLE, "d/a1", ROWS, fingerprint="g"))
    assert write == {"head": 1, "create": 1, "swap": 1}
    assert requests_of(lake, lambda: lake.read(TABLE, "d/a1")) == {"head": 1}
    assert requests_of(lake, lambda: lake.facts(TABLE, "d/a1")) == {"head": 1}
    listed = lake.listing_view()
    assert requests_of(lake, lambda: [listed.facts(TABLE, name) for name in partitions]) == {"list": 1}
    assert requests_of(lake, lambda: [listed.read(TABLE, name) for name in partitions]) == {}
    assert requests_of(lake, lambda: PartitionCatalog(lake, [TABLE])) == {"list": 1}


def test_new_host_fetches_each_object_once(lake, tmp_path, monkeypatch):
    partitions = [f"d/a{number}" for number in range(20)]
    for partition in partitions:
        lake.write(TABLE, partition, ROWS, fingerprint="f")
    other = other_host(lake, tmp_path, monkeypatch)
    listed = other.listing_view()
    found = requests_of(other, lambda: [listed.facts(TABLE, name) for name in partitions])
    assert found == {"get": 20, "list": 1}
    assert requests_of(other, lambda: other.read(TABLE, "d/a1")) == {"head": 1}
    opening._opened.clear()
    again = Lake(lake.root)
    assert requests_of(again, lambda: again.listing_view().facts(TABLE, "d/a1")) == {"list": 1}


def test_metadata_of_a_large_object_costs_the_end_of_it(lake, tmp_path, monkeypatch):
    rows = [replace(ROWS[0], probe_id=token_hex(8)) for _ in range(20_000)]
    facts = lake.write(TABLE, "d/a", rows, fingerprint="f")
    other = other_host(lake, tmp_path, monkeypatch)
    read = []
    get = other.storage.store.get
    monkeypatch.setattr(other.storage.store, "get", lambda *given: read.append(get(*given)) or read[-1])
    assert other.facts(TABLE, "d/a") == facts
    assert len(read[0].content) == END_BYTES < read[0].size
    assert other.read(TABLE, "d/a") == rows


def test_damaged_object_is_named_and_replaced_by_a_write(lake, s3_environment, tmp_path, monkeypatch):
    for partition in ("d/a", "d/b"):
        lake.write(TABLE, partition, ROWS, fingerprint="")
    key, client = lake.path(TABLE, "d/a").removeprefix(f"s3://{BUCKET}/"), bucket_client(s3_environment)
    content = bytearray(client.get_object(Bucket=BUCKET, Key=key)["Body"].read())
    content[len(content) // 4] ^= 1
    client.put_object(Bucket=BUCKET, Key=key, Body=bytes(content))
    other = other_host(lake, tmp_path, monkeypatch)
    with snapshot_of(other, [TABLE]) as still:
        assert (still.partitions(TABLE), [*still.left_out[TABLE]]) == (["d/b"], ["d/a"])
    for look in (other.read, other.check, other.facts):
        with pytest.raises(
            DamagedFile, match=r"d,a\.parquet is damaged: its rows changed.*memflow run --domain d"
        ):
            look(TABLE, "d/a")
    assert other.current_partitions(TABLE) == other.listing_view().current_partitions(TABLE) == ["d/b"]
    other.write(TABLE, "d/a", ROWS, fingerprint="")
    assert other.check(TABLE, "d/a").rows == len(ROWS)
    assert other.read(TABLE, "d/a") == Lake(lake.root).read(TABLE, "d/a") == ROWS


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
    with snapshot_of(other, [TABLE]) as still:
        assert still.read(TABLE, "d/a") == ROWS


def test_cache_deletes_the_least_recently_used_objects(lake, monkeypatch):
    monkeypatch.setattr("memflow.resources.lake.storage.object_cache.EVICT_EVERY", 1)
    lake.storage.cache.most_bytes = 20_000
    for number in range(30):
        lake.write(TABLE, f"d/{number}", ROWS, fingerprint="", meta={"run": str(number)})
    lake.storage.cache.evict()
    assert sum(path.stat().st_size for path in (lake.storage.cache.folder / "objects").iterdir()) <= 20_000
    assert lake.read(TABLE, "d/0") == lake.read(TABLE, "d/29") == ROWS


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
    monkeypatch.setitem(sys.modules, "memflow.resources.lake.storage.obstore_client", None)
    with pytest.raises(BadSettings, match=r"Install memflow-bench\[s3\]"):
        Lake("s3://bucket/without-package")


def test_local_lake_does_not_import_the_object_store():
    script = (
        "import sys; from memflow.resources.lake.lake import Lake; "
        "Lake('lake'); sys.exit('obstore' in sys.modules)"
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
