"""Transfer of one file over HTTPS: redirects, time limits, retries, and resumption of a partial file by byte range.

A partial file has a sidecar with the address, the validator (ETag or date) and the size of the published file, so that
parts of two versions of a file are never joined.
"""

import asyncio
import errno
import json
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urljoin, urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp

from memflow.errors import DownloadFailed

MOST_REDIRECTS = 10
REDIRECTS = frozenset({301, 302, 303, 307, 308})
CHUNK = 1 << 18
FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
AGENT = "memflow (data get)"


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
class Validator:
    """What identifies a version of a published file, as stored beside its partial file."""

    url: str
    etag: str = ""
    modified: str = ""
    size: int | None = None

    @property
    def condition(self) -> str:
        """The value of `If-Range`: a strong ETag or a date; empty if the server sent neither."""
        return self.etag if self.etag and not self.etag.startswith("W/") else self.modified


@dataclass(frozen=True)
class RemoteSize:
    """The size of a published file before its download; None if the server does not report the size."""

    url: str
    size: int | None


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
                content = await response.content.read(most)
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
            before = _length(partial)
            try:
                await self._attempt(url, partial, size, verified)
                return
            except (aiohttp.ClientError, TimeoutError, _TemporaryError) as wrong:
                done = _length(partial)
                if attempt == self.limits.attempts:
                    at = f"after {done:,} bytes" + (f" of {size:,}" if size else "")
                    raise DownloadFailed(
                        f"{_reason(url, wrong)}: interrupted {at}, {attempt} attempts. Rerun the command to continue."
                    ) from wrong
                waited = wrong.wait if isinstance(wrong, _TemporaryError) and wrong.wait else pause
                await asyncio.sleep(min(waited, self.limits.most_pause))
                pause = self.limits.pause if done > before else pause * 2

    async def _attempt(self, url: str, partial: Path, size: int | None, verified: bool) -> None:
        known = _read_validator(partial, url)
        have = _length(partial)
        resumable = have and known is not None and (known.condition or verified)
        headers = {}
        if known is not None and resumable:
            headers["Range"] = f"bytes={have}-"
            if known.condition:
                headers["If-Range"] = known.condition
        async with self._response(url, headers) as response:
            if response.status == 416 and known is not None and resumable:
                if _total(response) == have and known.size == have:
                    return  # the former run ended between the last byte and the rename
                _remove(partial)
                raise _TemporaryError("the partial file is not a part of the published file", 0.0)
            if response.status == 206:
                if known is None or not resumable or not _continues(response, known, have):
                    _remove(partial)
                    raise _TemporaryError("the server sent another part than requested", 0.0)
                await self._write(response, url, partial, known.size, append=True)
                return
            self._check(response, url)
            encoding = response.headers.get("Content-Encoding", "identity")
            if encoding != "identity":
                raise DownloadFailed(f"{url} is sent with the encoding {encoding}, which was not requested.")
            # Status 200 to a range: the server ignores ranges, or the file has changed. Start from the first byte.
            total = response.content_length
            if size is not None and total is not None and total != size:
                _remove(partial)
                raise DownloadFailed(
                    f"{url} has {total:,} bytes, but the published file has {size:,}. The file at the origin has "
                    "changed; report this to memflow, or get the published version by hand."
                )
            if total is not None and total > self.limits.most_bytes:
                raise DownloadFailed(
                    f"{url} has {total:,} bytes, more than the limit of {self.limits.most_bytes:,}. Get it by hand."
                )
            _write_validator(partial, _validator(response, url))
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
                        _remove(partial)
                        most = self.limits.most_bytes if total is None else total
                        raise DownloadFailed(f"{url} sends more than {most:,} bytes. Get it by hand.")
                    self.progress(url, done, total)
        except OSError as wrong:
            if wrong.errno in FULL:
                raise DownloadFailed(
                    f"{url}: the disk of {partial.parent} is full after {_length(partial):,} bytes. Free space, then "
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
            if self.token and _host(target) == _host(url):
                sent["Authorization"] = f"Bearer {self.token}"
            async with self.session.request(
                method, target, headers=sent, allow_redirects=False, timeout=timeout, proxy=_proxy(target)
            ) as response:
                if response.status not in REDIRECTS:
                    yield response
                    return
                target = urljoin(target, response.headers.get("Location", ""))
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
                "by hand (`memflow data list`)."
            )
        if status in (408, 425, 429) or status >= 500:
            raise _TemporaryError(
                f"the server answers {status} {response.reason or ''}".rstrip(), _wait(response)
            )
        raise DownloadFailed(f"{url}: the server answers {status} {response.reason or ''}. Try again later.")


_NETWORK = "Check the network, and the proxy in HTTPS_PROXY if there is one, then rerun"


class _TemporaryError(aiohttp.ClientError):
    """A failure after which the transfer is tried again after `wait` seconds; 0 is the usual pause."""

    def __init__(self, reason: str, wait: float) -> None:
        super().__init__(reason)
        self.wait = wait


def new_session() -> aiohttp.ClientSession:
    """Return a session that decompresses nothing, and reads no passwords from ~/.netrc."""
    return aiohttp.ClientSession(auto_decompress=False)


def check_address(url: str, before: str = "") -> bool:
    """Return whether an address is of this machine. Raises DownloadFailed unless it is https, or of this machine."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    local = host == "localhost"
    with suppress(ValueError):
        local = local or ip_address(host).is_loopback
    if parts.scheme == "https" or (parts.scheme == "http" and local):
        return local
    raise DownloadFailed(f"{before}{url}, which is not an https address. memflow downloads over https only.")


def validator_path(partial: Path) -> Path:
    """Return the path of the sidecar of a partial file."""
    return partial.with_name(f"{partial.name}.json")


def discard(partial: Path) -> None:
    """Remove a partial file and its sidecar."""
    _remove(partial)


def _remove(partial: Path) -> None:
    partial.unlink(missing_ok=True)
    validator_path(partial).unlink(missing_ok=True)


def _length(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def _read_validator(partial: Path, url: str) -> Validator | None:
    """Return the sidecar of a partial file; None if it is missing, damaged or of another address."""
    try:
        read = Validator(**json.loads(validator_path(partial).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None
    return read if read.url == url else None


def _write_validator(partial: Path, validator: Validator) -> None:
    """Write the sidecar before the first byte, and remove the bytes of another version."""
    partial.unlink(missing_ok=True)
    path = validator_path(partial)
    written = path.with_name(f"{path.name}.new")
    written.write_text(json.dumps(asdict(validator)), encoding="utf-8")
    written.replace(path)


def _validator(response: aiohttp.ClientResponse, url: str) -> Validator:
    found = Validator(url, size=response.content_length)
    return replace(
        found, etag=response.headers.get("ETag", ""), modified=response.headers.get("Last-Modified", "")
    )


def _continues(response: aiohttp.ClientResponse, known: Validator, have: int) -> bool:
    """Return whether a partial response continues the partial file: same version, next byte, same total size."""
    given = response.headers.get("Content-Range", "")
    unit, _, rest = given.partition(" ")
    first = rest.partition("-")[0]
    if unit != "bytes" or first != str(have) or _total(response) not in (known.size, None):
        return False
    current = _validator(response, known.url)
    return (not current.etag or current.etag == known.etag) and (
        not current.modified or current.modified == known.modified
    )


def _total(response: aiohttp.ClientResponse) -> int | None:
    """Return the size of the whole file in `Content-Range`."""
    total = response.headers.get("Content-Range", "").rpartition("/")[2]
    return int(total) if total.isdecimal() else None


def _wait(response: aiohttp.ClientResponse) -> float:
    given = response.headers.get("Retry-After", "")
    return float(given) if given.isdecimal() else 0.0


def _proxy(url: str) -> str | None:
    """Return the proxy of the environment for an address; None if there is none, or NO_PROXY excludes the host."""
    parts = urlsplit(url)
    if proxy_bypass(parts.netloc.rpartition("@")[2]):
        return None
    proxies = getproxies()
    return proxies.get(parts.scheme) or proxies.get("all")


def _host(url: str) -> tuple[str, int | None]:
    parts = urlsplit(url)
    return parts.hostname or "", parts.port


def _reason(url: str, wrong: Exception) -> str:
    if isinstance(wrong, TimeoutError):
        return f"{url}: the server sends too slowly or not at all"
    return f"{url}: {wrong or type(wrong).__name__}"
