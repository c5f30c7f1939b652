"""Articles of the Criminal Law (刑法) cited in a text, as numbers: "264", and "133-1" for 第一百三十三条之一.

An inserted article (之一) is an article of its own. Other laws, amendments, paragraphs and items are ignored.
"""

import re

from memflow.metrics.legal.numerals import NUMERAL, parse_numeral

# A list of articles goes on until another law is named or the sentence is over.
_CITED = re.compile(
    r"(?:《(?:中华人民共和国)?刑法(?:（[^（）]{1,12}）)?》|刑法(?!》|修正))"
    r"(?P<articles>[^《。；]{1,500}?)(?=[《。；]|规定|最高|解释|诉讼法|判决如下|$)"
)
_ARTICLE = re.compile(
    rf"(?:^|第|(?<=[、，；和及与]))(?P<numbers>{NUMERAL}(?:、{NUMERAL})*)条(?:之(?P<inserted>{NUMERAL}))?"
)


def cited_articles(text: str) -> frozenset[str]:
    """Return the articles of the Criminal Law cited in cleaned text."""
    found = set()
    for cited in _CITED.finditer(text):
        for article in _ARTICLE.finditer(cited["articles"]):
            *others, last = (str(parse_numeral(numeral)) for numeral in article["numbers"].split("、"))
            found.update(others)
            found.add(f"{last}-{parse_numeral(article['inserted'])}" if article["inserted"] else last)
    return frozenset(found)
