"""Transfer of one file over HTTPS: redirects, time limits, retries, and resumption of a partial file by byte range.

partial_file.py identifies the version that a partial file is of; addresses.py checks addresses.
"""

import asyncio
import errno
import re
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import urljoin

import aiohttp

from memflow.errors import DownloadFailed
from resources.data.downloads.addresses import check_address, host_of, proxy_of
from resources.data.downloads.partial_file import (
    byte_count,
    continues,
    discard,
    file_size,
    read_validator,
    total_size,
    validator_of,
    write_validator,
)

MOST_REDIRECTS = 10
REDIRECTS = frozenset({301, 302, 303, 307, 308})
CHUNK = 1 << 18
FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
AGENT = "memflow (data get)"
SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class TransferLimits:
    """The time limits and retries of a transfer. `least_bytes` have to arrive in every period of `stall` seconds."""

    connect: float = 30.0
    stall: float = 60.0
    least_bytes: int = 1024
    attempts: int = 4
    pause: float = 2.0
    """Seconds before the second attempt; each later pause is twice as long."""
    most_pause: float = 60.0
    most_bytes: int = 200_000_000_000
    """The maximum size of a file whose size is not known."""


@dataclass(frozen=True)
class RemoteSize:
    """The size and SHA-256 of a published file before its download, as far as the server reports them.

    Hugging Face reports both for large files, in the headers X-Linked-Size and X-Linked-Etag of a redirect.
    """

    url: str
    size: int | None
    sha256: str = ""


@dataclass
class Transfer:
    """Downloads of files in one HTTP session. Proxies are those of the environment (HTTPS_PROXY, NO_PROXY).

    `token` is sent to the host of an origin only. `page` is named where access is denied. `progress` receives the
    number of bytes that the partial file has, and its expected size.
    """

    session: aiohttp.ClientSession
    limits: TransferLimits = field(default_factory=TransferLimits)
    token: str = field(default="", repr=False)
    token_name: str = ""
    page: str = ""
    progress: Callable[[str, int, int | None], None] = lambda url, done, size: None

    async def size(self, url: str) -> RemoteSize:
        """Return the size that the server reports. Raises DownloadFailed if the file cannot be had."""
        try:
            async with asyncio.timeout(self.limits.stall), self._response(url, {}, "HEAD") as response:
                linked = byte_count(response.headers.get("X-Linked-Size", ""))
                if response.status in REDIRECTS and linked is not None:
                    etag = response.headers.get("X-Linked-Etag", "").strip('"')
                    return RemoteSize(url, linked, etag if SHA256.fullmatch(etag) else "")
                if response.status in (405, 501):
                    return RemoteSize(url, None)
                self._check(response, url)
                return RemoteSize(url, response.content_length)
        except (aiohttp.ClientError, TimeoutError) as wrong:
            raise DownloadFailed(f"{_reason(url, wrong)}. {_NETWORK}") from wrong

    async def text(self, url: str, most: int = 50_000_000) -> tuple[str, str]:
        """Return a short text, and the address of the next page where the answer has one. Raises DownloadFailed."""
        try:
            async with asyncio.timeout(self.limits.stall), self._response(url, {}) as response:
                self._check(response, url)
                content = bytearray()
                async for chunk in response.content.iter_chunked(CHUNK):
                    content += chunk
                    if len(content) > most:
                        raise DownloadFailed(f"{url} sends more than {most:,} bytes. Try again later.")
                following = response.links.get("next")
                return content.decode("utf-8"), "" if following is None else str(following.get("url", ""))
        except (aiohttp.ClientError, TimeoutError, UnicodeDecodeError) as wrong:
            raise DownloadFailed(f"{_reason(url, wrong)}. {_NETWORK}") from wrong

    async def fetch(self, url: str, partial: Path, size: int | None = None, verified: bool = False) -> None:
        """Download a file to `partial`, and resume an earlier partial file if it is of the same version.

        `size` is the published size, if known. With `verified`, the caller compares a checksum, so a file is resumed
        even if the server sends no validator. Raises DownloadFailed; the partial file is kept if it can be resumed.
        """
        pause = self.limits.pause
        for attempt in range(1, self.limits.attempts + 1):
            before = file_size(partial)
            try:
                await self._attempt(url, partial, size, verified)
                return
            except (aiohttp.ClientError, TimeoutError, _TemporaryError) as wrong:
                done = file_size(partial)
                if attempt == self.limits.attempts:
                    of_all = f" of {size:,}" if size else ""
                    raise DownloadFailed(
                        f"{_reason(url, wrong)}. The download was interrupted after {done:,}{of_all} bytes and "
                        f"{attempt} attempts. Rerun the command to continue."
                        if done
                        else f"{_reason(url, wrong)}, in {attempt} attempts. {_NETWORK}"
                    ) from wrong
                waited = wrong.wait if isinstance(wrong, _TemporaryError) and wrong.wait else pause
                await asyncio.sleep(min(waited, self.limits.most_pause))
                pause = self.limits.pause if done > before else pause * 2

    async def _attempt(self, url: str, partial: Path, size: int | None, verified: bool) -> None:
        known = read_validator(partial, url)
        have = file_size(partial)
        resumable = have and known is not None and (known.condition or verified)
        headers = {}
        if known is not None and resumable:
            headers["Range"] = f"bytes={have}-"
            if known.condition:
                headers["If-Range"] = known.condition
        async with self._response(url, headers) as response:
            if response.status == 416 and known is not None and resumable:
                if total_size(response) == have and known.size == have:
                    return  # the former run ended between the last byte and the rename
                discard(partial)
                raise _TemporaryError("the partial file is not a part of the published file", 0.0)
            if response.status == 206:
                if known is None or not resumable or not continues(response, known, have):
                    discard(partial)
                    raise _TemporaryError("the server sent another part than requested", 0.0)
                await self._write(response, url, partial, known.size, append=True)
                return
            self._check(response, url)
            encoding = response.headers.get("Content-Encoding", "identity")
            if encoding != "identity":
                raise DownloadFailed(f"{url} is sent with the encoding {encoding}, which was not requested.")
            # Status 200 to a range: the server ignores ranges, or the file has changed. Start from the first byte.
            if not verified and response.content_type == "text/html":
                raise DownloadFailed(
                    f"{url} is answered with a web page instead of the file. Open {self.page or url} and check whether "
                    "the data set has moved or needs an account; if so, get it by hand."
                )
            total = response.content_length
            if size is not None and total is not None and total != size:
                discard(partial)
                raise DownloadFailed(
                    f"{url} has {total:,} bytes, but the published file has {size:,}. The file at the origin has "
                    "changed; report this to memflow, or get the published version by hand."
                )
            if total is not None and total > self.limits.most_bytes:
                raise DownloadFailed(
                    f"{url} has {total:,} bytes, more than the limit of {self.limits.most_bytes:,}. Get it by hand."
                )
            total = size if total is None else total
            write_validator(partial, replace(validator_of(response, url), size=total))
            await self._write(response, url, partial, total, append=False)

    async def _write(
        self, response: aiohttp.ClientResponse, url: str, partial: Path, total: int | None, *, append: bool
    ) -> None:
        """Write the body to the partial file. Raises an error if it is too short, too long or too slow."""
        try:
            with partial.open("ab" if append else "wb") as file:
                done = file.tell() if append else 0
                self.progress(url, done, total)
                async for chunk in self._chunks(response):
                    await asyncio.to_thread(file.write, chunk)
                    done += len(chunk)
                    if done > (total if total is not None else self.limits.most_bytes):
                        discard(partial)
                        most = self.limits.most_bytes if total is None else total
                        raise DownloadFailed(f"{url} sends more than {most:,} bytes. Get it by hand.")
                    self.progress(url, done, total)
        except OSError as wrong:
            if wrong.errno in FULL:
                raise DownloadFailed(
                    f"{url}: the disk of {partial.parent} is full after {file_size(partial):,} bytes. Free space, then "
                    "rerun the command to continue."
                ) from wrong
            if isinstance(wrong, aiohttp.ClientError | TimeoutError):
                raise
            raise DownloadFailed(
                f"cannot write {partial}: {wrong.strerror}. Fix the folder, then rerun."
            ) from wrong
        if total is not None and done < total:
            raise _TemporaryError(f"the connection ended after {done:,} of {total:,} bytes", 0.0)

    async def _chunks(self, response: aiohttp.ClientResponse) -> AsyncIterator[bytes]:
        """Yield the body. Raises TimeoutError if fewer than `least_bytes` arrive in `stall` seconds."""
        started, arrived = time.monotonic(), 0
        while True:
            async with asyncio.timeout(self.limits.stall):
                chunk = await response.content.read(CHUNK)
            if not chunk:
                return
            arrived += len(chunk)
            now = time.monotonic()
            if now - started >= self.limits.stall:
                if arrived < self.limits.least_bytes:
                    raise TimeoutError
                started, arrived = now, 0
            yield chunk

    @asynccontextmanager
    async def _response(
        self, url: str, headers: Mapping[str, str], method: str = "GET"
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        """Yield the response after redirects, each of which is checked."""
        first = check_address(url)
        timeout = aiohttp.ClientTimeout(total=None, connect=self.limits.connect, sock_read=self.limits.stall)
        target = url
        for _ in range(MOST_REDIRECTS + 1):
            sent = {"Accept-Encoding": "identity", "User-Agent": AGENT, **headers}
            if self.token and host_of(target) == host_of(url):
                sent["Authorization"] = f"Bearer {self.token}"
            async with self.session.request(
                method, target, headers=sent, allow_redirects=False, timeout=timeout, proxy=proxy_of(target)
            ) as response:
                linked = method == "HEAD" and "X-Linked-Size" in response.headers
                if response.status not in REDIRECTS or linked:
                    yield response
                    return
                location = response.headers.get("Location", "")
            try:
                target = urljoin(target, location)
            except ValueError as wrong:
                raise DownloadFailed(
                    f"{url} redirects to {location!r}, which is no address ({wrong}). Try again later."
                ) from wrong
            if check_address(target, f"{url} redirects to ") and not first:
                raise DownloadFailed(f"{url} redirects to this machine ({target}), which is not allowed.")
        raise DownloadFailed(f"{url} redirects more than {MOST_REDIRECTS} times. Try again later.")

    def _check(self, response: aiohttp.ClientResponse, url: str) -> None:
        """Raise an error unless the response has the whole file."""
        status = response.status
        if status == 200:
            return
        if status in (401, 403):
            way = f"Accept the terms on {self.page or url}" if self.token_name else f"Open {self.page or url}"
            token = (
                f", and set {self.token_name} to an access token of an account that has accepted them"
                if self.token_name and not self.token
                else " and check whether the data set needs an account; if so, get it by hand"
            )
            raise DownloadFailed(f"{url}: access denied ({status}). {way}{token}.")
        if status in (404, 410):
            raise DownloadFailed(
                f"{url} does not exist any more ({status}). Find the data set on {self.page or 'its page'} and get it "
                "by hand (`memflow data`)."
            )
        if status in (408, 425, 429) or status >= 500:
            raise _TemporaryError(
                f"the server answers {status} {response.reason or ''}".rstrip(), _wait(response)
            )
        raise DownloadFailed(f"{url}: the server answers {status} {response.reason or ''}. Try again later.")


_NETWORK = "Check the network, and the proxy in HTTPS_PROXY if there is one, then rerun."


class _TemporaryError(aiohttp.ClientError):
    """A failure after which the transfer is tried again after `wait` seconds; 0 is the usual pause."""

    def __init__(self, reason: str, wait: float) -> None:
        super().__init__(reason)
        self.wait = wait


def new_session() -> aiohttp.ClientSession:
    """Return a session that decompresses nothing, and reads no passwords from ~/.netrc."""
    return aiohttp.ClientSession(auto_decompress=False)


def _reason(url: str, wrong: Exception) -> str:
    if isinstance(wrong, TimeoutError):
        return f"{url}: the server sends too slowly or not at all"
    return f"{url}: {wrong or type(wrong).__name__}"


def _wait(response: aiohttp.ClientResponse) -> float:
    given = response.headers.get("Retry-After", "")
    return float(given) if given.isdecimal() else 0.0
