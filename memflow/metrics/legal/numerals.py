"""Find and parse Chinese and Arabic numerals in Chinese legal texts: 二千三百, 贰仟叁佰, 二〇一八, 1.5万, 30,000."""

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


def parse_numeral(numeral: str) -> int:
    """Return the integer value of a Chinese or Arabic numeral; fractions are dropped.

    The numeral has plain or formal (壹贰叁) characters, single digits (二〇一八), Arabic digits with commas, or Arabic
    digits before a unit (3万). Raises BadInput for other text.
    """
    characters = _COMMA.sub("", numeral)
    parts = _PART.findall(characters)
    if not parts or "".join(parts) != characters:
        raise BadInput(f"{numeral!r} is not a numeral. Pass a number such as 二千三百, 3万 or 30,000.")
    if _SPELT.fullmatch(characters):
        return int("".join(str(_DIGITS[character]) for character in characters))
    value = group = Decimal(0)
    digit: Decimal | None = None
    for part in parts:
        if part in _UNITS:
            group += (1 if digit is None else digit) * _UNITS[part]
            digit = None
        elif part in _GROUPS:
            group += digit or 0
            if value < _GROUPS[part]:  # 一万亿: ten thousand times 亿
                value = (value + group) * _GROUPS[part]
            else:  # 一亿零一万
                value += group * _GROUPS[part]
            group, digit = Decimal(0), None
        else:
            digit = Decimal(_DIGITS[part]) if part in _DIGITS else Decimal(part)
    return int(value + group + (digit or 0))
