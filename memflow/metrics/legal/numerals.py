"""Chinese numerals: 二千三百, 贰仟叁佰, 二〇一八, 3万, 1.5万, 30,000."""

import re
from decimal import Decimal

from memflow.errors import BadInput

_DIGITS = {
    character: value
    for value, characters in enumerate(
        ("零〇○", "一壹", "二贰两", "三叁", "四肆", "五伍", "六陆", "七柒", "八捌", "九玖")
    )
    for character in characters
}
_UNITS = {"十": 10, "拾": 10, "百": 100, "佰": 100, "千": 1_000, "仟": 1_000}
_GROUPS = {"万": 10_000, "萬": 10_000, "亿": 100_000_000, "億": 100_000_000}
_CHINESE = "".join((*_DIGITS, *_UNITS, *_GROUPS))

NUMERAL = rf"(?:\d{{1,15}}(?:[,，]\d{{1,15}}){{0,5}}(?:\.\d{{1,5}})?|[{_CHINESE}])[\d{_CHINESE}]{{0,20}}"
"""Regular expression of a numeral in running text; `parse_numeral` accepts every match."""

_SPELT = re.compile(f"[{''.join(_DIGITS)}]+")
_PART = re.compile(rf"\d+(?:\.\d+)?|[{_CHINESE}]")
_COMMA = re.compile(r"[,，]")

_PLAIN = ("零一二三四五六七八九", "十百千", "万亿")
_FORMAL = ("零壹贰叁肆伍陆柒捌玖", "拾佰仟", "万亿")
_LIMIT = 10**12


def parse_numeral(numeral: str) -> int:
    """Return the integer value of a Chinese or Arabic numeral; fractions are dropped.

    The numeral has plain or formal (壹贰叁) characters, single digits (二〇一八), Arabic digits with commas, or Arabic
    digits before a unit (3万). Raises BadInput for other text.
    """
    plain = _COMMA.sub("", numeral)
    parts = _PART.findall(plain)
    if not parts or "".join(parts) != plain:
        raise BadInput(f"{numeral!r} is not a Chinese numeral. Pass a number such as 二千三百 or 3万.")
    if _SPELT.fullmatch(plain):
        return int("".join(str(_DIGITS[character]) for character in plain))
    whole = group = Decimal(0)
    digit: Decimal | None = None
    for part in parts:
        if part in _UNITS:
            group += (1 if digit is None else digit) * _UNITS[part]
            digit = None
        elif part in _GROUPS:
            group += digit or 0
            if whole < _GROUPS[part]:  # 一万亿: ten thousand times 亿
                whole = (whole + group) * _GROUPS[part]
            else:  # 一亿零一万
                whole += group * _GROUPS[part]
            group, digit = Decimal(0), None
        else:
            digit = Decimal(_DIGITS[part]) if part in _DIGITS else Decimal(part)
    return int(whole + group + (digit or 0))


def format_numeral(value: int, *, formal: bool = False) -> str:
    """Return the plain or formal Chinese numeral of a number. Raises BadInput unless 0 <= value < 10**12."""
    if not 0 <= value < _LIMIT:
        raise BadInput(f"{value} cannot be a Chinese numeral. Pass a number from 0 to {_LIMIT - 1}.")
    digits, units, groups = _FORMAL if formal else _PLAIN
    if value == 0:
        return digits[0]
    said = ""
    for power, group in ((10**8, groups[1]), (10**4, groups[0]), (1, "")):
        count, value = divmod(value, power)
        if count:
            gap = digits[0] if said and count < 1_000 else ""
            said += gap + _below_10_000(count, digits, units) + group
    if not formal and said.startswith("一十"):
        said = said[1:]
    return said


def _below_10_000(count: int, digits: str, units: str) -> str:
    said, gap = "", False
    for power, unit in ((1_000, units[2]), (100, units[1]), (10, units[0]), (1, "")):
        digit, count = divmod(count, power)
        if digit:
            said += (digits[0] if gap and said else "") + digits[digit] + unit
        gap = not digit
    return said
