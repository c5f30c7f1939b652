"""Syllable counts from both formats of the CMU Pronouncing Dictionary."""

from pathlib import Path

import pytest

from memflow.errors import BadInput, MissingData
from memflow.resources.metric_backends.pronunciations import syllables

OURS = """syllable S IH1 L AH0 B AH0 L
record R AH0 K AO1 R D
record(2) R EH1 K ER0 D # the noun
d'artagnan D AH0 R T AE1 NG Y AH0 N # foreign

read R EH1 D
hm HH M
"""
NLTKS = """SYLLABLE 1 S IH1 L AH0 B AH0 L
RECORD 1 R AH0 K AO1 R D
RECORD 2 R EH1 K ER0 D
D'ARTAGNAN 1 D AH0 R T AE1 NG Y AH0 N
READ 1 R EH1 D
HM 1 HH M
"""


@pytest.mark.parametrize("text", [OURS, NLTKS, ";;; an older file\n" + OURS.upper()])
def test_syllables_counts_the_first_pronunciation_of_a_word(tmp_path: Path, text: str) -> None:
    file = tmp_path / "cmudict.dict"
    file.write_text(text)
    assert syllables(file) == {"syllable": 3, "record": 2, "d'artagnan": 3, "read": 1, "hm": 0}


def test_syllables_reports_a_missing_or_invalid_dictionary(tmp_path: Path) -> None:
    with pytest.raises(MissingData, match=r"the file .* does not exist"):
        syllables(tmp_path / "none")
    (tmp_path / "other").write_text("syllable one two three\n")
    with pytest.raises(BadInput, match="not a CMU pronouncing dictionary"):
        syllables(tmp_path / "other")
