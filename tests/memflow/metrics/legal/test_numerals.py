import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memflow.errors import BadInput
from memflow.metrics.legal.numerals import NUMERAL, format_numeral, parse_numeral

WRITTEN = {
    "零": 0, "十": 10, "十五": 15, "二十": 20, "两百": 200, "三百四十七": 347, "一千零五": 1_005,
    "二千二百零八": 2_208, "二万二千": 22_000, "十万": 100_000, "一亿零一万": 100_010_000, "一万亿": 10**12,
    "壹仟": 1_000, "贰万叁仟伍佰": 23_500, "二〇一八": 2_018, "二○一八": 2_018, "六": 6, "零六": 6,
    "2000": 2_000, "30,000": 30_000, "30，000": 30_000, "3万": 30_000, "1.5万": 15_000, "5,000.80": 5_000,
}  # fmt: skip


@pytest.mark.parametrize(("numeral", "value"), WRITTEN.items())
def test_parse_numeral_accepts_every_chinese_notation(numeral: str, value: int) -> None:
    assert parse_numeral(numeral) == value
    assert re.fullmatch(NUMERAL, numeral)


@pytest.mark.parametrize("text", ["", "元", "三个", "1.2.3", "-5", "十.五"])
def test_parse_numeral_rejects_an_invalid_numeral(text: str) -> None:
    with pytest.raises(BadInput, match="not a Chinese numeral"):
        parse_numeral(text)


@pytest.mark.parametrize(
    ("value", "plain", "formal"),
    [
        (0, "零", "零"),
        (12, "十二", "壹拾贰"),
        (264, "二百六十四", "贰佰陆拾肆"),
        (10_050, "一万零五十", "壹万零伍拾"),
        (100_000_001, "一亿零一", "壹亿零壹"),
    ],
)
def test_format_numeral_writes_plain_and_formal_notation(value: int, plain: str, formal: str) -> None:
    assert (format_numeral(value), format_numeral(value, formal=True)) == (plain, formal)


@pytest.mark.parametrize("value", [-1, 10**12])
def test_format_numeral_rejects_a_number_out_of_range(value: int) -> None:
    with pytest.raises(BadInput):
        format_numeral(value)


@given(st.integers(0, 10**12 - 1), st.booleans())
def test_parse_numeral_inverts_format_numeral(value: int, formal: bool) -> None:
    assert parse_numeral(format_numeral(value, formal=formal)) == value


@given(st.from_regex(NUMERAL, fullmatch=True))
def test_parse_numeral_accepts_every_match_of_the_numeral_pattern(numeral: str) -> None:
    assert parse_numeral(numeral) >= 0
