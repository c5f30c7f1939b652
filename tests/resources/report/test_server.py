"""The server of `memflow view`: the report's files on the loopback address, and nothing else."""

import http.client
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from memflow.errors import BadInput
from memflow.resources.report.server import report_server


@pytest.fixture
def port(tmp_path: Path) -> Iterator[int]:
    folder = tmp_path / "report"
    (folder / "data").mkdir(parents=True)
    (folder / "index.html").write_text("page")
    (folder / "data/site.js").write_text("site")
    (tmp_path / "secret.txt").write_text("secret")
    with report_server(folder) as address:
        found = urlsplit(address)
        assert found.hostname == "127.0.0.1" and found.port
        yield found.port


def get(port: int, path: str, **headers: str) -> tuple[int, bytes, dict[str, str]]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        connection.request("GET", path, headers=headers)
        response = connection.getresponse()
        return response.status, response.read(), dict(response.getheaders())
    finally:
        connection.close()


def test_server_returns_the_page_and_data_files(port: int) -> None:
    assert get(port, "/")[:2] == (200, b"page")
    status, content, headers = get(port, "/data/site.js")
    assert (status, content) == (200, b"site") and "javascript" in headers["Content-type"]
    assert headers["X-Content-Type-Options"] == "nosniff" and headers["Cache-Control"] == "no-cache"


@pytest.mark.parametrize("path", ["/../secret.txt", "/%2e%2e/secret.txt", "/data/", "/missing.js"])
def test_server_returns_no_other_file_and_no_listing(port: int, path: str) -> None:
    assert get(port, path)[0] == 404


def test_server_rejects_requests_to_another_host_name(port: int) -> None:
    assert get(port, "/", Host="attacker.example")[0] == 403


def test_used_port_is_reported(port: int, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=rf"port {port} .*--port"), report_server(tmp_path, port):
        pass
