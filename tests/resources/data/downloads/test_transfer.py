"""Transfers of single files: retries, redirects, sizes and the sentences of failures."""

from pathlib import Path

import pytest

from memflow.errors import DownloadFailed
from memflow.resources.data.downloads import transfer
from memflow.resources.data.downloads.transfer import RETRIES, fetch

CONTENT = bytes(range(256)) * 40


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "file"


def test_whole_file_is_downloaded_in_one_request(origin, path):
    fetch(origin.add("a", CONTENT), path, len(CONTENT))
    assert path.read_bytes() == CONTENT and len(origin.downloads()) == 1
    assert origin.downloads()[0]["Accept-Encoding"] == "identity"


@pytest.mark.parametrize("faults", [{"cuts": [100, 0]}, {"statuses": [503, 429]}])
def test_interrupted_or_overloaded_server_is_asked_again(origin, path, faults):
    fetch(origin.add("a", CONTENT, **faults), path)
    assert path.read_bytes() == CONTENT and len(origin.downloads()) == 3


@pytest.mark.parametrize("faults", [{"cuts": [100] * 9}, {"stalls_at": 50}])
def test_file_that_never_arrives_as_a_whole_fails_and_leaves_nothing(origin, path, faults, monkeypatch):
    monkeypatch.setitem(transfer.OPTIONS, "timeout", (30.0, 1.0))
    with pytest.raises(DownloadFailed, match="Check the network"):
        fetch(origin.add("a", CONTENT, **faults), path)
    assert len(origin.downloads()) == RETRIES + 1 and not list(path.parent.iterdir())


def test_server_that_cannot_be_reached_fails_with_its_address(origin, path):
    with pytest.raises(DownloadFailed, match=r"127\.0\.0\.1.*port=1.*Check the network"):
        fetch("http://127.0.0.1:1/a", path)


@pytest.mark.parametrize("announces", [True, False])
def test_other_size_than_the_published_one_is_refused(origin, path, announces):
    with pytest.raises(DownloadFailed, match="has 10,240 bytes, but the published file has 10,241"):
        fetch(origin.add("a", CONTENT, announces=announces), path, len(CONTENT) + 1)


def test_redirect_is_followed_unless_it_leaves_https(origin, path):
    fetch(origin.add("a", b"", location=origin.add("b", CONTENT)), path)
    assert path.read_bytes() == CONTENT
    for number, target in enumerate(("http://example.com/x", "ftp://127.0.0.1/x")):
        with pytest.raises(DownloadFailed, match=r"redirects to .*over https only"):
            fetch(origin.add("c", b"", location=target), path.with_name(str(number)))
    with pytest.raises(DownloadFailed, match="redirects"):
        fetch(origin.add("d", b"", location=f"{origin.url}/d"), path.with_name("d"))


@pytest.mark.parametrize("url", ["http://example.com/a", "ftp://example.com/a", "file:///etc/passwd", "a"])
def test_address_without_https_is_refused(path, url):
    with pytest.raises(DownloadFailed, match="over https only"):
        fetch(url, path)


@pytest.mark.parametrize("status", [401, 403, 404, 410])
def test_file_that_cannot_be_had_names_what_to_look_for(origin, path, status):
    with pytest.raises(DownloadFailed, match=rf"{status}.*`memflow data`.*moved or needs an account"):
        fetch(origin.add("a", CONTENT, statuses=[status] * 9), path)
