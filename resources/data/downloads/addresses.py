"""Addresses that may be downloaded, their hosts, and the proxies of the environment."""

from contextlib import suppress
from ipaddress import ip_address
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from memflow.errors import DownloadFailed


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


def proxy_of(url: str) -> str | None:
    """Return the proxy of the environment for an address; None if there is none, or NO_PROXY excludes the host."""
    parts = urlsplit(url)
    if proxy_bypass(parts.netloc.rpartition("@")[2]):
        return None
    proxies = getproxies()
    return proxies.get(parts.scheme) or proxies.get("all")


def host_of(url: str) -> tuple[str, int | None]:
    parts = urlsplit(url)
    return parts.hostname or "", parts.port
