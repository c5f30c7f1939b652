"""Names of the report's data files. app/src/data.js computes the same names.

A name is safe as a path on every file system and as a URL without further encoding.
"""

import string

from memflow.errors import BadInput

SAFE = frozenset(f"{string.ascii_lowercase}{string.digits}_~-".encode())
LONGEST = 100
"""Maximum number of characters of an encoded part."""
PREFIX = 90
"""Characters of a longer part that its name keeps; the rest is a hash."""
_OFFSET, _PRIME = 0x811C9DC5, 0x01000193


def encode_name(text: str) -> str:
    """Return a part of a name as lower-case letters, digits, `_`, `~`, `-`, and `=xx` for every other UTF-8 byte.

    Upper case is encoded too, since some file systems ignore case. A long part ends with `==` and its FNV-1a hash.
    """
    written = text.encode("utf-8", "surrogatepass")
    name = "".join(chr(byte) if byte in SAFE else f"={byte:02x}" for byte in written)
    if len(name) <= LONGEST:
        return name
    value = _OFFSET
    for byte in written:
        value = ((value ^ byte) * _PRIME) & 0xFFFFFFFF
    return f"{name[:PREFIX]}=={value:08x}"


def data_name(kind: str, *parts: str) -> str:
    """Return the name of a data file: its kind and encoded parts, such as `results/DOMAIN/full/0`.

    Raises BadInput for an empty part.
    """
    if not all(parts):
        raise BadInput(
            f"a part of the name of the report's file {kind} is empty. Name the domain or assistant."
        )
    return "/".join((kind, *map(encode_name, parts)))
