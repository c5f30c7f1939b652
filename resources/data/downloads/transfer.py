"""The transfer of published files by pooch, and what pooch does not check: addresses, redirects, sizes and answers.

Proxies are those of the environment (HTTPS_PROXY, NO_PROXY).
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

import pooch
import requests

from memflow.errors import DownloadFailed
from memflow.resources.endpoints.addresses import reaches_loopback

CHUNK = 1 << 18
RETRIES = 3

pooch.get_logger().setLevel("ERROR")


def fetch(url: str, path: Path, size: int | None = None, sha256: str = "") -> None:
    """Download a file to `path`, which does not exist yet, and compare its size and checksum, if known.

    Raises DownloadFailed, and OSError if the file cannot be written.
    """
    with _explained(url):
        downloader = pooch.HTTPDownloader(sys.stderr.isatty(), CHUNK, **OPTIONS)
        registry, urls = {path.name: sha256 or None}, {path.name: url}
        known = pooch.create(path.parent, "", registry=registry, urls=urls, retry_if_failed=RETRIES)
        known.fetch(path.name, downloader=downloader)
    if size is not None and path.stat().st_size != size:
        raise DownloadFailed(
            f"{url} has {path.stat().st_size:,} bytes, but the published file has {size:,}. The file at the origin has "
            "changed; report this to memflow, or get the published version by hand."
        )


def json_pages(url: str) -> Iterator[Any]:
    """Yield the pages of a listing. Raises DownloadFailed, and ValueError for a page that is not JSON."""
    while url:
        with _explained(url):
            response = requests.get(url, **OPTIONS)
            response.raise_for_status()
        yield response.json()
        url = response.links.get("next", {}).get("url", "")


@contextmanager
def _explained(url: str) -> Iterator[None]:
    """Check an address, and raise the errors of its transfer as DownloadFailed."""
    _check_address(url)
    try:
        yield
    except requests.RequestException as wrong:
        raise DownloadFailed(
            f"{wrong}. Check the network (HTTPS_PROXY), and on its page (`memflow data`) whether the data set has "
            "moved or needs an account; if so, get it by hand."
        ) from wrong
    except ValueError as wrong:  # pooch: another checksum
        raise DownloadFailed(
            f"{url}: {wrong} Rerun; if the checksum is wrong again, the file at the origin has changed: report this to "
            "memflow."
        ) from wrong


def _check_redirect(response: requests.Response, *_: Any, **__: Any) -> None:
    if response.is_redirect:
        _check_address(urljoin(response.url, response.headers["Location"]), f"{response.url} redirects to ")


def _check_address(url: str, before: str = "") -> None:
    """Raise DownloadFailed unless an address is https, or of this machine."""
    scheme = urlsplit(url).scheme
    if scheme != "https" and not (scheme == "http" and reaches_loopback(url)):
        raise DownloadFailed(
            f"{before}{url}, which is not an https address. memflow downloads over https only."
        )


OPTIONS: dict[str, Any] = {
    "timeout": (30.0, 60.0),  # seconds until a connection, and until further bytes arrive
    "headers": {"Accept-Encoding": "identity", "User-Agent": "memflow (data get)"},
    "hooks": {"response": _check_redirect},
}
"""The options of every request."""
