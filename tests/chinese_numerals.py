"""Chinese numerals of numbers below 10**12, for texts of tests."""

_PLAIN = ("零一二三四五六七八九", "十百千", "万亿")
_FORMAL = ("零壹贰叁肆伍陆柒捌玖", "拾佰仟", "万亿")


def format_numeral(value: int, *, formal: bool = False) -> str:
    """Return the plain or formal Chinese numeral of a number."""
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
