"""Extraction of criminal charges (罪名) and of cited articles of the Criminal Law, with canonical charge names.

A selective charge such as 走私、贩卖、运输、制造毒品罪 lists alternatives; a name with some of them is the same
charge. A grammar finds the names; charges.toml only contains the alternatives of selective charges.
"""

import re
import tomllib
from functools import lru_cache
from importlib.resources import files

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
    """Return the articles of the Criminal Law (刑法) cited in cleaned text: "264", and "133-1" for 第一百三十三条之一.

    Other laws, amendments, paragraphs and items are ignored.
    """
    articles = set()
    for citation in _CITED.finditer(text):
        for article in _ARTICLE.finditer(citation["articles"]):
            *leading, final = (str(parse_numeral(numeral)) for numeral in article["numbers"].split("、"))
            articles.update(leading)
            articles.add(f"{final}-{parse_numeral(article['inserted'])}" if article["inserted"] else final)
    return frozenset(articles)


NAME = r"(?:犯罪|侵犯|[^罪犯，。；：（）]){1,40}罪"
"""Regular expression of a charge's name: it ends in 罪, except in 犯罪 (掩饰、隐瞒犯罪所得罪)."""

NAMES = rf"{NAME}(?:[、和及与]{NAME}){{0,20}}"

_ONE = re.compile(NAME)
_NOT_IN_IT = re.compile(r"^[有了、和及与]+|[“”‘’\"']")
_FOUND = re.compile(rf"(?P<before>[^，。；]{{0,6}})构成了?(?P<names>{NAMES})")
_DENIED = re.compile(r"[不未否]|非$")

_TABLE = tomllib.loads(files(__package__).joinpath("charges.toml").read_text(encoding="utf-8"))


def _choices(name: str) -> str:
    """Return a regular expression that matches every allowed name of a selective charge."""

    def some(brackets: re.Match[str]) -> str:
        alternative = f"(?:{'|'.join(map(re.escape, brackets[1].split('、')))})"
        return f"{alternative}(?:、?{alternative})*"

    return re.sub(r"\[(.*?)\]", some, name)


def _whole(name: str) -> str:
    return name.replace("[", "").replace("]", "")


_CHARGES = tuple(
    (re.compile(_choices(name)), canonical_charge)
    for name, canonical_charge in (
        *((name, _whole(name)) for name in _TABLE["selective"]),
        *_TABLE["renamed"].items(),
    )
)


@lru_cache(maxsize=5_000)
def canonical_charge(name: str) -> str:
    """Return the canonical name of a charge: the name in the current law, with all alternatives."""
    return next((canonical for pattern, canonical in _CHARGES if pattern.fullmatch(name)), name)


def parse_charges(names: str) -> list[str]:
    """Return the canonical charges in a text that `NAMES` has matched, such as 抢劫罪、强奸罪."""
    return [canonical_charge(_NOT_IN_IT.sub("", name)) for name in _ONE.findall(names)]


def convicted_charges(reasoning: str) -> frozenset[str]:
    """Return the charges that a court's reasoning affirms (构成盗窃罪), without the denied charges."""
    return frozenset(
        charge
        for match in _FOUND.finditer(reasoning)
        if not _DENIED.search(match["before"])
        for charge in parse_charges(match["names"])
    )
