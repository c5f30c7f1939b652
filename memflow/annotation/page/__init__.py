"""A sheet as one HTML file: it works from disk, asks no network, and runs no script but its own.

The sheet lies in it as data, never as markup: JSON in which no character can end the element that holds it; the
script writes texts as texts only, and a content security policy names the digests of the page's own style and script.
"""

import base64
import hashlib
import html
import json
import re
from importlib.resources import files

from memflow.annotation.sheet import Sheet


def page_of(sheet: Sheet) -> str:
    """The annotation page of a sheet. The key is no part of it."""
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
    """JSON for a script element: without the characters that HTML reads as markup."""
    text = json.dumps(sheet.model_dump(mode="json"), ensure_ascii=False)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text
