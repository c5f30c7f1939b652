"""Addresses of endpoints: how messages show them, and the proxy of each."""

from ipaddress import ip_address
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from memflow.errors import BadSettings

ADDRESS_FORM = "http:// or https://, a host and a path, such as http://127.0.0.1:8000/v1"


def display_address(url: str) -> str:
    """Return an address for messages: without user, password and query, all of which may be secrets."""
    address = url.partition("?")[0].partition("#")[0]
    scheme, separator, rest = address.partition("://")
    if not separator:
        return address.rpartition("@")[2]
    host, slash, path = rest.partition("/")
    return f"{scheme}://{host.rpartition('@')[2]}{slash}{path}"


def is_address(url: str) -> bool:
    """Return whether a text is an http or https address with a host."""
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        return False


def check_address(option: str, url: str) -> None:
    """Raise BadSettings unless `url`, the value of a command's option, is an http or https address with a host."""
    if not is_address(url):
        raise BadSettings(f"{option} is {display_address(url)!r}, which is no address. Write {ADDRESS_FORM}.")


def has_credentials(url: str) -> bool:
    """Return whether an address contains a user or a password."""
    return "@" in url.partition("://")[2].partition("/")[0]


def reaches_loopback(url: str) -> bool:
    """Return whether a server at an address runs on this machine, so that it can use the proxy and may have its key."""
    host = urlsplit(url).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def proxy_of(url: str) -> str | None:
    """Return the proxy that the environment sets for an address; None for an address on this machine.

    A client calls this once, because aiohttp's own lookup costs two thread switches per request.
    """
    if not is_address(url) or reaches_loopback(url):  # the request reports an invalid address
        return None
    parts, proxies = urlsplit(url), getproxies()
    if proxy_bypass(parts.hostname or ""):
        return None
    proxy = proxies.get(parts.scheme) or proxies.get("all")
    return proxy if proxy is None or "://" in proxy else f"http://{proxy}"
