"""Transfers from a local server: whole, truncated, resumed, redirected, denied, stalled, and on a full disk."""

import errno
import json
from dataclasses import replace
from pathlib import Path

import pytest
from download_origin import LIMITS

from memflow.errors import DownloadFailed
from resources.data.downloads.addresses import check_address
from resources.data.downloads.partial_file import validator_path

CONTENT = bytes(range(256)) * 40


@pytest.fixture
def partial(tmp_path: Path) -> Path:
    return tmp_path / "partial"


def test_whole_file_is_downloaded_in_one_request(origin, fetch, partial):
    fetch(origin.add("a", CONTENT), partial, len(CONTENT))
    assert partial.read_bytes() == CONTENT
    [headers] = origin.downloads()
    assert "Range" not in headers and headers["Accept-Encoding"] == "identity"


def test_truncated_file_is_continued_from_its_last_byte(origin, fetch, partial):
    fetch(origin.add("a", CONTENT, cuts=[1000, 500]), partial)
    assert partial.read_bytes() == CONTENT
    ranges = [headers.get("Range") for headers in origin.downloads()]
    assert ranges == [None, "bytes=1000-", "bytes=1500-"]
    assert {headers.get("If-Range") for headers in origin.downloads()[1:]} == {'"v1"'}


def test_file_that_is_truncated_in_every_attempt_fails_and_keeps_its_bytes(origin, fetch, partial):
    url = origin.add("a", CONTENT, cuts=[1000, 0, 0])
    with pytest.raises(DownloadFailed, match=r"interrupted after 1,000 bytes and 3 attempts. Rerun"):
        fetch(url, partial)
    assert partial.read_bytes() == CONTENT[:1000]
    fetch(url, partial)
    assert partial.read_bytes() == CONTENT
    assert origin.downloads()[-1]["Range"] == "bytes=1000-"


def test_file_without_announced_length_is_downloaded(origin, fetch, partial):
    fetch(origin.add("a", CONTENT, announces=False), partial)
    assert partial.read_bytes() == CONTENT


def test_server_that_ignores_ranges_sends_the_whole_file_again(origin, fetch, partial):
    fetch(origin.add("a", CONTENT, cuts=[1000], ranges=False), partial)
    assert partial.read_bytes() == CONTENT


def test_file_that_changed_between_two_attempts_is_downloaded_from_its_start(origin, fetch, partial):
    url = origin.add("a", CONTENT, cuts=[1000, 0, 0])
    with pytest.raises(DownloadFailed):
        fetch(url, partial)
    newer = CONTENT[::-1]
    origin.add("a", newer, etag='"v2"')
    fetch(url, partial)
    assert partial.read_bytes() == newer


def test_changed_file_of_a_server_that_ignores_the_condition_is_not_joined(origin, fetch, partial):
    url = origin.add("a", CONTENT, cuts=[1000, 0, 0])
    with pytest.raises(DownloadFailed):
        fetch(url, partial)
    newer = CONTENT[::-1]
    served = origin.files["a"]
    served.content, served.headers = newer, {"ETag": '"v2"'}  # a partial answer of another version
    fetch(url, partial)
    assert partial.read_bytes() == newer


def test_partial_answer_that_starts_at_another_byte_is_not_joined(origin, fetch, partial):
    url = origin.add("a", CONTENT, cuts=[1000], restart=7)
    fetch(url, partial)
    assert partial.read_bytes() == CONTENT


@pytest.mark.parametrize("etag", ["", 'W/"weak"'])
def test_file_without_a_strong_validator_is_not_resumed_unless_a_checksum_verifies_it(
    origin, fetch, partial, etag
):
    url = origin.add("a", CONTENT, etag=etag, cuts=[1000])
    fetch(url, partial)
    assert partial.read_bytes() == CONTENT
    assert all("Range" not in headers for headers in origin.downloads())
    partial.unlink()
    origin.add("b", CONTENT, etag=etag, cuts=[1000])
    fetch(f"{origin.url}/b", partial, None, True)
    assert partial.read_bytes() == CONTENT
    assert origin.downloads()[-1]["Range"] == "bytes=1000-"


def test_file_with_a_date_is_resumed_on_condition_of_the_date(origin, fetch, partial):
    date = "Wed, 21 Oct 2015 07:28:00 GMT"
    fetch(origin.add("a", CONTENT, etag="", modified=date, cuts=[1000]), partial)
    assert partial.read_bytes() == CONTENT and origin.downloads()[-1]["If-Range"] == date


def test_complete_partial_file_needs_no_further_bytes(origin, fetch, partial):
    url = origin.add("a", CONTENT)
    fetch(url, partial)
    fetch(url, partial)
    assert partial.read_bytes() == CONTENT and origin.downloads()[-1]["Range"] == f"bytes={len(CONTENT)}-"


def test_partial_file_that_is_longer_than_the_published_file_is_discarded(origin, fetch, partial):
    url = origin.add("a", CONTENT)
    fetch(url, partial)
    partial.write_bytes(CONTENT + b"more")
    fetch(url, partial)
    assert partial.read_bytes() == CONTENT


@pytest.mark.parametrize(
    "sidecar", ["", "{", "[]", json.dumps({"url": "https://other", "etag": '"v1"', "size": len(CONTENT)})]
)
def test_partial_file_with_a_damaged_or_foreign_sidecar_is_discarded(origin, fetch, partial, sidecar):
    partial.write_bytes(b"something else")
    validator_path(partial).write_text(sidecar)
    fetch(origin.add("a", CONTENT), partial)
    assert partial.read_bytes() == CONTENT


def test_size_other_than_the_published_one_fails_before_the_download(origin, fetch, partial):
    with pytest.raises(DownloadFailed, match="has 10,240 bytes, but the published file has 10,241"):
        fetch(origin.add("a", CONTENT), partial, len(CONTENT) + 1)
    assert not partial.exists()


def test_endless_body_is_limited(origin, fetch, partial):
    url = origin.add("a", CONTENT, announces=False)
    with pytest.raises(DownloadFailed, match="sends more than 5,000 bytes"):
        fetch(url, partial, limits=replace(LIMITS, most_bytes=5000))
    assert not partial.exists()


def test_redirect_is_followed_without_the_token_to_another_host(origin, fetch, partial):
    other = origin.add("b", CONTENT).replace("127.0.0.1", "localhost")
    url = origin.add("a", b"", location=other)
    fetch(url, partial, token="secret", token_name="TOKEN")
    assert partial.read_bytes() == CONTENT
    first, second = origin.downloads()
    assert first["Authorization"] == "Bearer secret" and "Authorization" not in second


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("http://example.org/a", "redirects to http://example.org/a, which is not an https address"),
        ("file:///etc/passwd", "which is not an https address"),
        ("a", "redirects more than 10 times"),
    ],
)
def test_redirect_to_another_scheme_or_in_a_circle_is_refused(origin, fetch, partial, target, message):
    with pytest.raises(DownloadFailed, match=message):
        fetch(origin.add("a", b"", location=target), partial)


def test_address_without_https_is_refused_unless_it_is_of_this_machine():
    assert not check_address("https://example.org/a")
    assert (
        check_address("http://127.0.0.1/a")
        and check_address("http://[::1]:80/")
        and check_address("http://localhost/")
    )
    for url in (
        "http://example.org",
        "ftp://127.0.0.1/a",
        "http://127.0.0.1.example.org/",
        "http://10.0.0.1/a",
    ):
        with pytest.raises(DownloadFailed, match="https only"):
            check_address(url)


def test_missing_file_names_the_page_of_the_data_set(origin, fetch, partial):
    with pytest.raises(DownloadFailed, match=r"does not exist any more \(404\).*https://page"):
        fetch(f"{origin.url}/gone", partial, page="https://page")
    assert len(origin.downloads()) == 1


@pytest.mark.parametrize("status", [401, 403])
def test_denied_access_names_the_terms_and_the_variable_of_the_token(origin, fetch, partial, status):
    url = origin.add("a", CONTENT, statuses=[status] * 9)
    with pytest.raises(
        DownloadFailed, match=rf"access denied \({status}\). Accept the terms on https://page, and set HF"
    ):
        fetch(url, partial, page="https://page", token_name="HF_TOKEN")
    with pytest.raises(DownloadFailed, match="needs an account"):
        fetch(url, partial, page="https://page")


def test_overloaded_server_is_asked_again(origin, fetch, partial):
    fetch(origin.add("a", CONTENT, statuses=[503, 429], headers={"Retry-After": "0"}), partial)
    assert partial.read_bytes() == CONTENT
    with pytest.raises(DownloadFailed, match="the server answers 500"):
        fetch(origin.add("b", CONTENT, statuses=[500] * 3), partial)


def test_stalled_server_fails_after_the_time_limit_and_keeps_its_bytes(origin, fetch, partial):
    url = origin.add("a", CONTENT, stalls_at=1)
    with pytest.raises(DownloadFailed, match="sends too slowly or not at all"):
        fetch(url, partial, limits=replace(LIMITS, stall=0.1, attempts=1))
    assert partial.read_bytes() == CONTENT[:1]


def test_server_that_sends_too_few_bytes_fails_after_the_time_limit(origin, fetch, partial):
    url = origin.add("a", CONTENT, trickles=0.02)
    with pytest.raises(DownloadFailed, match="sends too slowly or not at all"):
        fetch(url, partial, limits=replace(LIMITS, stall=0.1, least_bytes=1000, attempts=1))
    assert 1 < partial.stat().st_size < 20


def test_server_that_cannot_be_reached_fails_with_its_address(origin, fetch, partial):
    with pytest.raises(DownloadFailed, match=r"http://127.0.0.1:9/a.*in 3 attempts. Check the network"):
        fetch("http://127.0.0.1:9/a", partial)


def test_full_disk_keeps_the_partial_file(origin, fetch, partial, monkeypatch):
    class FullFile:
        def __init__(self, file):
            self.file = file

        def __enter__(self):
            return self

        def __exit__(self, *_):
            self.file.close()

        def write(self, chunk):
            self.file.write(chunk[:100])
            raise OSError(errno.ENOSPC, "No space left on device")

        def tell(self):
            return self.file.tell()

    opened = Path.open

    def open_full(path, mode="r", *arguments, **options):
        file = opened(path, mode, *arguments, **options)
        return FullFile(file) if mode == "wb" else file

    monkeypatch.setattr(Path, "open", open_full)
    url = origin.add("a", CONTENT)
    with pytest.raises(DownloadFailed, match=r"is full after 100 bytes\. Free space"):
        fetch(url, partial)
    monkeypatch.undo()
    fetch(url, partial)
    assert partial.read_bytes() == CONTENT and origin.downloads()[-1]["Range"] == "bytes=100-"


def test_compressed_answer_is_refused(origin, fetch, partial):
    with pytest.raises(DownloadFailed, match="encoding gzip"):
        fetch(origin.add("a", CONTENT, headers={"Content-Encoding": "gzip"}), partial)


def test_proxy_of_the_environment_is_used_unless_no_proxy_names_the_host(origin, fetch, partial, monkeypatch):
    # A proxy receives the whole address in the request line.
    origin.add(f"{origin.url}/a".removeprefix("/"), CONTENT)
    monkeypatch.setenv("http_proxy", origin.url)
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    fetch(f"{origin.url}/a", partial)
    assert partial.read_bytes() == CONTENT and origin.requests[-1][1].startswith("http://")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    partial.unlink()
    with pytest.raises(DownloadFailed, match="404"):
        fetch(f"{origin.url}/a", partial)


def test_sizes_with_too_many_digits_are_ignored_and_a_location_that_is_no_address_is_named(
    origin, fetch, partial
):
    url = origin.add("a", CONTENT, cuts=[1000], headers={"Content-Range": f"bytes 1000-2000/{'9' * 5000}"})
    fetch(url, partial)
    assert partial.read_bytes() == CONTENT
    moved = origin.add("b", b"", location="http://[bad")
    with pytest.raises(DownloadFailed, match="which is no address"):
        fetch(moved, partial)
