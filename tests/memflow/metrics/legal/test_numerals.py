import re

import pytest
from chinese_numerals import format_numeral
from hypothesis import given
from hypothesis import strategies as st

from memflow.errors import BadInput
from memflow.metrics.legal.numerals import NUMERAL, parse_numeral

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
    with pytest.raises(BadInput, match="is not a numeral"):
        parse_numeral(text)


@given(st.integers(0, 10**12 - 1), st.booleans())
def test_parse_numeral_inverts_format_numeral(value: int, formal: bool) -> None:
    assert parse_numeral(format_numeral(value, formal=formal)) == value
