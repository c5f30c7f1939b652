"""The copy of a lake: between folders and object stores with earlier versions, and from the former layout."""

import json
import os
from pathlib import Path

import pytest
from s3_server import BUCKET, bucket_client
from typer.testing import CliRunner
from valid_rows import valid_rows

from memflow.cli import app
from memflow.errors import BadInput, BadSettings
from resources.lake.copy import copy_lake
from resources.lake.lake import Lake
from resources.lake.storage import opening
from resources.lake.storage.object_cache import ObjectCache

TABLE = "score.verdicts"
ROWS = valid_rows()[TABLE][:4]


def fill(lake):
    for table, rows in valid_rows().items():
        lake.write(table, "d/ü a", rows, fingerprint="f", meta={"run": "r"})
    lake.write(TABLE, "d/ü a", ROWS[:2], fingerprint="g")


def test_copy_to_an_object_store_and_back_has_the_same_rows_and_history(s3, tmp_path):
    local, back = Lake(tmp_path / "lake"), Lake(tmp_path / "back")
    fill(local)
    copied = list(copy_lake(local.root, s3))
    assert {each.table: each.versions for each in copied} == {
        table: 2 if table == TABLE else 1 for table in valid_rows()
    }
    list(copy_lake(s3, back.root))
    for lake in (Lake(s3), back):
        for table in valid_rows():
            assert lake.read(table, "d/ü a") == local.read(table, "d/ü a")
            assert lake.facts(table, "d/ü a") == local.facts(table, "d/ü a")
        assert lake.versions(TABLE, "d/ü a") == local.versions(TABLE, "d/ü a")
        first = lake.versions(TABLE, "d/ü a")[1].since
        assert lake.as_of(first).read(TABLE, "d/ü a") == valid_rows()[TABLE]
    assert all(each.versions == 0 for each in copy_lake(local.root, s3))


@pytest.mark.parametrize("is_current", [True, False])
def test_damaged_version_is_not_copied(tmp_path, is_current):
    local, target = Lake(tmp_path / "lake"), Lake(tmp_path / "target")
    fill(local)
    path = Path(local.path(TABLE, "d/ü a"))
    if not is_current:
        (path,) = (tmp_path / "lake" / ".versions").rglob("*.parquet")
    state = path.stat()
    content = bytearray(path.read_bytes())
    content[200] ^= 1
    with path.open("r+b") as file:  # a disk changes no modification time
        file.write(content)
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))
    copied = {each.table: each for each in copy_lake(local.root, target.root)}
    [damage] = copied[TABLE].damages
    assert "is damaged" in damage and "Run `memflow " in damage
    # Replaced rows do not become current because the current ones are damaged.
    assert target.partitions(TABLE) == ([] if is_current else ["d/ü a"])
    if not is_current:
        assert [version.facts for version in target.versions(TABLE, "d/ü a")] == [local.facts(TABLE, "d/ü a")]
        assert target.read(TABLE, "d/ü a") == local.read(TABLE, "d/ü a")
    others = [table for table in valid_rows() if table != TABLE]
    assert all(not copied[table].damages for table in others)
    assert all(target.read(table, "d/ü a") == local.read(table, "d/ü a") for table in others)
    # The command lists it, and fails.
    variables = {"MEMFLOW_HOME": str(tmp_path / "home"), "MEMFLOW_LAKE": str(tmp_path / "second")}
    ran = CliRunner().invoke(app, ["copy-lake", local.root, "--format", "json"], env=variables)
    assert (ran.exit_code, json.loads(ran.stdout)["damages"]) == (1, [damage])


def test_version_that_cannot_be_read_is_listed_and_the_others_are_copied(tmp_path):
    local, target = Lake(tmp_path / "lake"), Lake(tmp_path / "target")
    fill(local)
    (path,) = (tmp_path / "lake" / ".versions").rglob("*.parquet")
    path.unlink()
    path.mkdir()  # reading it is an OSError, as with a damaged disk
    copied = {each.table: each for each in copy_lake(local.root, target.root)}
    [damage] = copied[TABLE].damages
    assert "cannot be read" in damage and str(tmp_path / "lake") in damage
    assert {table for table, each in copied.items() if each.versions == 1} == {*valid_rows()}
    assert target.read(TABLE, "d/ü a") == local.read(TABLE, "d/ü a")


def test_copy_in_a_folder_has_copies_of_earlier_publications(tmp_path):
    local, target = Lake(tmp_path / "lake"), Lake(tmp_path / "target")
    fill(local)
    list(copy_lake(local.root, target.root))
    Path(target.path("score.history", "d/ü a")).unlink()
    assert target.restore_copy("score.history", "d/ü a")
    assert target.read("score.history", "d/ü a") == local.read("score.history", "d/ü a")


def test_former_layout_is_copied_onto_its_own_address(s3, s3_environment, tmp_path):
    local, client = Lake(tmp_path / "lake"), bucket_client(s3_environment)
    fill(local)
    prefix = s3.removeprefix(f"s3://{BUCKET}/")
    for table in valid_rows():
        name = f"{local.path(table, 'd/ü a').rpartition('/')[2]}"
        with Path(local.path(table, "d/ü a")).open("rb") as file:
            client.put_object(
                Bucket=BUCKET, Key=f"{prefix}/{table.replace('.', '/')}/{name}", Body=file.read()
            )
    with pytest.raises(BadInput, match="memflow copy-lake"):
        Lake(s3).partitions(TABLE)
    assert len(list(copy_lake(s3, s3))) == len(valid_rows())
    opening._opened.clear()
    for table in valid_rows():
        assert Lake(s3).read(table, "d/ü a") == local.read(table, "d/ü a")
        assert Lake(s3).facts(table, "d/ü a") == local.facts(table, "d/ü a")


def test_copy_of_an_empty_or_foreign_lake_is_rejected(s3, s3_environment, tmp_path):
    with pytest.raises(BadInput, match="contains no tables"):
        list(copy_lake(str(tmp_path / "nothing"), s3))
    key = f"{s3.removeprefix(f's3://{BUCKET}/')}/former/score/verdicts/d,a.parquet"
    bucket_client(s3_environment).put_object(Bucket=BUCKET, Key=key, Body=b"not Parquet")
    [copied] = copy_lake(f"{s3}/former", s3)
    assert copied.versions == 0 and "d,a.parquet is no file of memflow's lake" in copied.damages[0]


@pytest.mark.parametrize("size", ["ten", "-1", "nan", "inf"])
def test_cache_size_that_is_no_number_of_gigabytes_is_refused(tmp_path, monkeypatch, size):
    monkeypatch.setenv("MEMFLOW_CACHE_GB", size)
    with pytest.raises(BadSettings, match=f"MEMFLOW_CACHE_GB is '{size}', which is no number of gigabytes"):
        ObjectCache(tmp_path)
    monkeypatch.setenv("MEMFLOW_CACHE_GB", "0.5")
    assert ObjectCache(tmp_path).most_bytes == 5 * 10**8
