"""The annotation page: one HTML file that works from disk, makes no network request, and runs only its own script.

The sheet is embedded as JSON data, in which `<`, `>` and `&` are escaped, so no text of the sheet becomes markup. The
script inserts texts only as text. A content security policy allows the page's own style and script, by their digests.
"""

import base64
import hashlib
import html
import json
import re
from importlib.resources import files

from memflow.annotation.sheet import Sheet


def page_of(sheet: Sheet) -> str:
    """Return the annotation page of a sheet as HTML. The page does not contain the correct labels."""
    style, script = _part("page.css"), _part("page.js")
    policy = (
        f"default-src 'none'; style-src '{_sum(style)}'; script-src '{_sum(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    filled = {
        "policy": policy,
        "title": html.escape(f"{sheet.header.title}: {sheet.header.domain}"),
        "style": style,
        "script": script,
        "sheet": _data(sheet),
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda place: filled[place[1]], _part("page.html"))


def _part(name: str) -> str:
    return files("memflow.annotation.page").joinpath(name).read_text(encoding="utf-8")


def _sum(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _data(sheet: Sheet) -> str:
    """Return the sheet as JSON for an HTML script element; `<`, `>` and `&` are escaped."""
    text = json.dumps(sheet.model_dump(mode="json"), ensure_ascii=False)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text
