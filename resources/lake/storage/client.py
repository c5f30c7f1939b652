"""The address of a lake in an object store, and the sentences for failed requests.

Credentials and the server's address are in the environment (AWS_*, GOOGLE_*, AZURE_*), never in the settings.
obstore_client.py sends the requests.
"""

import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from memflow.errors import BadSettings

ADDRESSES = ("s3", "gs", "az", "memory")
"""The schemes of addresses: Amazon S3 and compatible servers, Google Cloud Storage, Azure Blob Storage, tests."""
CREDENTIALS = {
    "s3": "AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, AWS_REGION and AWS_ENDPOINT_URL",
    "gs": "GOOGLE_APPLICATION_CREDENTIALS or GOOGLE_SERVICE_ACCOUNT",
    "az": "AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY",
}
"""The environment variables that configure the access to each kind of store."""


@dataclass(frozen=True)
class StoredObject:
    """The content of an object, or its last bytes, and the tag and size of this version."""

    content: bytes
    tag: str
    size: int


@dataclass(frozen=True)
class ListedObject:
    """An object in a list: its key, its size in bytes, and the tag of its version."""

    key: str
    bytes: int
    tag: str


def check_address(address: str) -> None:
    """Raise BadSettings for an address of an unknown kind, without a bucket, or with credentials."""
    found = urlsplit(address)
    if "@" in found.netloc or found.query or found.fragment:
        # The address is not repeated, since it may contain a secret.
        raise BadSettings(
            f"the lake's address {found.scheme}://... contains credentials, ? or #. Write only "
            f"{found.scheme}://bucket/path, and set the credentials in the environment "
            f"({CREDENTIALS.get(found.scheme, CREDENTIALS['s3'])})."
        )
    if found.scheme not in ADDRESSES:
        raise BadSettings(
            f"the lake's address {address} is of an unknown kind. Use a folder, s3://bucket/path, gs://bucket/path or "
            "az://container/path."
        )
    if not found.netloc:
        raise BadSettings(f"the lake's address {address} has no bucket. Use {found.scheme}://bucket/path.")


METADATA_SERVER = "169.254.169.254"
_REFUSED = (
    "ExpiredToken",
    "InvalidAccessKeyId",
    "SignatureDoesNotMatch",
    "TokenRefreshRequired",
    "InvalidToken",
)


def sentence(address: str, error: Exception) -> str:
    """Return what happened to a request and what to do. The error itself may contain a signed request."""
    scheme = address.partition(":")[0]
    text, variables = str(error), CREDENTIALS.get(scheme, "")
    code = re.search(r"<Code>(\w+)</Code>", text)
    status = re.search(r"\b([45]\d\d) ([A-Z][A-Za-z ]+)", text)
    detail = " ".join(part for part in (status[1] if status else "", code[1] if code else "") if part)
    name = type(error).__name__
    if METADATA_SERVER in text:  # where credentials are looked up if the environment has none
        code, status, detail, name = None, None, "no credentials", "UnauthenticatedError"
    if "NoSuchBucket" in text:
        return (
            f"the bucket of {address} does not exist. Create it, or fix `lake` in memflow.toml, then rerun."
        )
    is_refused = name in ("PermissionDeniedError", "UnauthenticatedError") or (
        status is not None and status[1] in ("401", "403")
    )
    if is_refused or (code is not None and code[1] in _REFUSED) or "credential" in text.lower():
        return (
            f"{address} refuses access ({detail or 'no valid credentials'}). Set valid credentials in the "
            f"environment ({variables}) with rights to read, list, write and delete, then rerun."
        )
    if detail:
        return f"{address} answered {detail}, also after retries. Rerun when the store works again."
    timed_out = re.search("kind: Timeout|timed out|TimedOut", text)
    reason = "it does not answer in time" if timed_out else "no connection"
    return f"{address} cannot be reached ({reason}). Check the network and {variables}, then rerun."
