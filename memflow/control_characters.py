"""Control characters in texts for people: shown as visible symbols, so that a terminal or a page cannot obey them.

Data from models and data sets may contain escape sequences, which move the cursor or change the terminal's title, and
marks that reverse the direction of writing. Files for programs (JSON, CSV, Parquet) contain texts unchanged.
"""

import re

_CONTROL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)
"""Characters with an effect instead of a glyph, except tab and line feed: C0 and C1 controls, marks and overrides of
direction, invisible format characters, tags, and surrogates. Joiners stay, because scripts and emoji need them."""
PICTURES = 0x2400
"""The first of Unicode's symbols for the 32 C0 controls, such as U+241B for the escape character."""
DELETE = 0x7F


def visible(text: str) -> str:
    """Return `text` with control characters replaced by symbols, such as `␛`, or by `<U+202E>`.

    Tabs and line feeds are unchanged, and a carriage return before a line feed is removed.
    """
    return _CONTROL.sub(_symbol, text.replace("\r\n", "\n"))


def json_escaped(document: str) -> str:
    """Return a JSON document with the control characters in its strings as escapes, which change no value."""
    return _CONTROL.sub(_escape, document)


def _escape(found: re.Match[str]) -> str:
    units = found.group().encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))


def _symbol(found: re.Match[str]) -> str:
    code = ord(found.group())
    if code < ord(" "):
        return chr(PICTURES + code)
    if code == DELETE:
        return "\u2421"
    return f"<U+{code:04X}>"
