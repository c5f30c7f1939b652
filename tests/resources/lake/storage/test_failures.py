"""Failures of an object store: each is a sentence with the table, the partition and the fix; other partitions go on."""

from datetime import timedelta

import pytest
from s3_faults import faulty_proxy
from valid_rows import valid_rows

from memflow.errors import BadSettings, StoreFailed
from memflow.resources.lake.lake import Lake
from memflow.resources.lake.storage.obstore_client import probe_conditions

TABLE = "score.verdicts"
ROWS = valid_rows()[TABLE][:4]
CLIENT = "memflow.resources.lake.storage.obstore_client"
QUICK = {
    "max_retries": 2,
    "backoff": {
        "init_backoff": timedelta(milliseconds=1),
        "max_backoff": timedelta(milliseconds=2),
        "base": 2,
    },
}


@pytest.fixture
def proxy(s3, s3_environment, monkeypatch):
    """Return a proxy before the S3 server, with quick retries."""
    monkeypatch.setattr(f"{CLIENT}.RETRIES", QUICK)
    with faulty_proxy(s3_environment["AWS_ENDPOINT_URL"]) as proxy:
        monkeypatch.setenv("AWS_ENDPOINT_URL", proxy.url)
        yield proxy


@pytest.fixture
def filled(proxy, s3):
    """Return a lake with two partitions behind the proxy."""
    lake = Lake(s3)
    for partition in ("d/a", "d/b"):
        lake.write(TABLE, partition, ROWS, fingerprint="")
    return lake


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (
            (403, "AccessDenied"),
            r"refuses access \(403 AccessDenied\)\. Set valid credentials .*AWS_ACCESS_KEY_ID",
        ),
        ((403, "SignatureDoesNotMatch"), r"refuses access \(403 SignatureDoesNotMatch\)"),
        ((400, "ExpiredToken"), r"refuses access \(400 ExpiredToken\)"),
        ((500, "InternalError"), "answered 500 InternalError, also after retries"),
        ((503, "SlowDown"), "answered 503 SlowDown, also after retries"),
    ],
)
def test_fault_names_table_partition_and_fix_and_spares_others(filled, proxy, fault, message):
    proxy.fault, proxy.only = fault, "d,a"
    for action, verb in (
        (lambda: filled.read(TABLE, "d/a"), "read"),
        (lambda: filled.facts(TABLE, "d/a"), "read"),
        (lambda: filled.write(TABLE, "d/a", ROWS[:1], fingerprint=""), "read"),
    ):
        with pytest.raises(
            StoreFailed, match=rf"score\.verdicts of d/a cannot be {verb}: s3://.*{message}"
        ) as wrong:
            action()
        assert "tests" not in str(wrong.value)
    assert filled.read(TABLE, "d/b") == ROWS
    proxy.fault = None
    assert filled.read(TABLE, "d/a") == ROWS


def test_fault_that_ends_is_retried(filled, proxy):
    proxy.fault, proxy.most_faults = (503, "SlowDown"), 2
    filled.write(TABLE, "d/a", ROWS[:1], fingerprint="")
    assert proxy.faults == 2
    assert len(filled.versions(TABLE, "d/a")) == 2


def test_credentials_that_expire_during_a_write_leave_the_old_rows(filled, proxy):
    proxy.fault, proxy.only = (400, "ExpiredToken"), ".versions/"
    with pytest.raises(StoreFailed, match=r"score\.verdicts of d/a cannot be written: .*400 ExpiredToken"):
        filled.write(TABLE, "d/a", ROWS[:1], fingerprint="")
    proxy.fault = None
    assert filled.read(TABLE, "d/a") == ROWS
    assert len(filled.versions(TABLE, "d/a")) == 1


def test_list_that_fails_names_the_table(filled, proxy):
    proxy.fault = (500, "InternalError")
    with pytest.raises(StoreFailed, match=r"the partitions of score\.verdicts cannot be listed: .*500"):
        filled.listing_view().facts(TABLE, "d/a")


def test_slow_store_is_reported(proxy, s3, monkeypatch):
    monkeypatch.setattr(f"{CLIENT}.RETRIES", {"max_retries": 0})
    monkeypatch.setattr(f"{CLIENT}.TIMEOUTS", {"read_timeout": "100ms", "timeout": "200ms"})
    proxy.delay_s = 2.0
    with pytest.raises(
        StoreFailed, match=r"d/a cannot be read: .*cannot be reached \(it does not answer in time\)"
    ):
        Lake(s3).facts(TABLE, "d/a")


def test_unreachable_store_names_table_and_partition(s3, monkeypatch):
    monkeypatch.setattr(f"{CLIENT}.RETRIES", {"max_retries": 0})
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    with pytest.raises(StoreFailed, match=r"d/a cannot be read: .* cannot be reached \(no connection\)"):
        Lake(s3).facts(TABLE, "d/a")


class CarelessStore:
    """A store in memory that ignores some of the conditions of requests."""

    address = "s3://careless/lake"

    def __init__(self, *ignored):
        self.ignored = ignored
        self.objects: dict[str, bytes] = {}

    def create(self, key, content):
        if key in self.objects and "create" not in self.ignored:
            return None
        self.objects[key] = content
        return content.decode()

    def swap(self, key, content, tag):
        if "never" in self.ignored or (self.objects[key].decode() != tag and "swap" not in self.ignored):
            return None
        self.objects[key] = content
        return content.decode()

    def delete(self, key):
        self.objects.pop(key, None)


@pytest.mark.parametrize(
    ("ignored", "message"),
    [
        ("create", "creates an object that exists"),
        ("swap", "replaces an object of another version"),
        ("never", "does not replace an object of a known version"),
    ],
)
def test_store_without_conditional_requests_is_rejected(ignored, message):
    store = CarelessStore(ignored)
    with pytest.raises(BadSettings, match=rf"{message}.*writers would overwrite each other"):
        probe_conditions(store)
    assert store.objects == {}
    probe_conditions(CarelessStore())
