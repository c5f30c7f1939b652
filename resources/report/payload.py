"""Data files of the report: scripts that pass a value to the page, so that they load from file:// too.

Small values are JSON literals. Others are base64 of gzip-compressed JSON, or of Parquet.
"""

import base64
import gzip
import json
from typing import Any

LEVEL = 6


def json_script(name: str, value: Any) -> bytes:
    """Return JavaScript that passes a value to the page under a name, as JSON safe inside an HTML script element."""
    return _call(name, _literal(value))


def gzip_script(name: str, value: Any) -> bytes:
    """Return JavaScript that passes a value to the page under a name, as base64 of gzip-compressed JSON in UTF-8.

    Equal values have equal bytes. A lone surrogate, which UTF-8 cannot represent, is written as a JSON escape.
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return binary_script(name, gzip.compress(text.encode("utf-8", "backslashreplace"), LEVEL, mtime=0))


def binary_script(name: str, content: bytes) -> bytes:
    """Return a script that passes bytes as base64."""
    return _call(name, f'"{base64.b64encode(content).decode("ascii")}"')


def _call(name: str, argument: str) -> bytes:
    return f"memflow.take({_literal(name)},{argument});\n".encode("ascii")


def _literal(value: Any) -> str:
    """Return ASCII JSON without `<`, so that no text ends the script element or opens a comment in it."""
    return json.dumps(value, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
