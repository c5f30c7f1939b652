"""Articles of the Criminal Law (刑法) that a text cites, as numbers: "264", and "133-1" for 第一百三十三条之一.

An inserted article (之一) is an article of its own: 133 is causing a traffic accident, 133-1 is dangerous driving.
Other laws, amendments and interpretations are not the Criminal Law; paragraphs and items are not told apart.
"""

import re

from memflow.metrics.legal.numerals import NUMERAL, number

# A list of articles goes on until another law is named or the sentence is over.
_CITED = re.compile(
    r"(?:《(?:中华人民共和国)?刑法(?:（[^（）]{1,12}）)?》|(?<!《)刑法)"
    r"(?P<articles>[^《。；]{1,500}?)(?=[《。；]|规定|最高|解释|诉讼法|判决如下|$)"
)
_ARTICLE = re.compile(rf"(?P<numbers>{NUMERAL}(?:、{NUMERAL})*)条(?:之(?P<inserted>{NUMERAL}))?")


def articles(text: str) -> frozenset[str]:
    """The articles of the Criminal Law cited in cleaned text."""
    return frozenset(
        _named(one, article["inserted"] if one == numbers[-1] else None)
        for cited in _CITED.finditer(text)
        for article in _ARTICLE.finditer(cited["articles"])
        for numbers in (article["numbers"].split("、"),)
        for one in numbers
    )


def _named(numeral: str, inserted: str | None) -> str:
    return str(number(numeral)) + (f"-{number(inserted)}" if inserted else "")
