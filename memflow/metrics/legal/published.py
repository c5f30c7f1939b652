"""A parser of judgments that gives the same results as the published evaluation of JuDGE, including its errors.

If the decision lacks an item, the whole document is searched. Identical wordings of sentences and fines count once.
Only charges are parsed differently: by memflow's grammar, since memflow does not ship the published list.
"""

import re
from collections.abc import Callable
from html import unescape

from memflow.metrics.legal.charges import NAMES
from memflow.metrics.legal.charges import parse_charges as named
from memflow.metrics.legal.decision import DEATH, LIFE, NONE
from memflow.metrics.legal.numerals import NUMERAL, parse_numeral
from memflow.metrics.legal.sections import Sections

_HAN = "[\u4e00-\u9fa5]"
_HEADING = (re.compile(rf"审理终结{_HAN}{{0,10}}。"), re.compile(rf"公开开庭审理{_HAN}{{0,10}}。"))
_CHARGED = re.compile(rf"{_HAN}{{0,10}}(?:公诉|抗诉)机关[\u4e00-\u9fa5，、]{{0,30}}(?:认为|指控)")
_COURT = re.compile("本院认为")
_ANNOUNCED = (re.compile(r"判决如下[:：,，\n]"), re.compile("判决如下"), re.compile(r"裁定(?:如下)?[:：\n]"))
# The first of these that occurs anywhere ends the decision, wherever the others are.
_OVER = tuple(
    map(
        re.compile,
        (
            rf"如{_HAN}{{0,3}}不服本判决",
            r"\n\s*本判决为终审判决",
            rf"如{_HAN}{{0,5}}未按本判决指定的期间{_HAN}{{0,5}}给付金钱义务",
            r"\n\s*(?:代理)?审\s{0,3}判\s{0,3}长",
            r"\n\s*(?:代理)?审\s{0,3}判\s{0,3}员",
            "附录",
            "附：",
            rf"附{_HAN}{{0,10}}法律",
            rf"附{_HAN}{{0,10}}：",
            r"\n\s*本案[^\n]{0,10}法律",
            r"\n《",
        ),
    )
)
_COMMA = re.compile(r"(?<!\d),(?!\d)")
_TAG = re.compile(r"<[/!A-Za-z][^<>]*>")
_GONE = ("<p>", "</p>", "<br>", "&#xD;", "\ufffd")

_CITED = tuple(
    re.compile(rf"{law}.*?[。《判附规]")
    for law in (
        "《中华人民共和国刑法》第",
        "《刑法》第",
        r"《中华人民共和国刑法》\s?[零一二三四五六七八九十]",
    )
)
_ARTICLE = re.compile("第([零一二三四五六七八九十百]+)条")
_TERMS = tuple(re.compile(rf"{kind}.{{1,7}}[年月]") for kind in ("管制", "拘役", "有期徒刑"))
_TERM_ENDS = re.compile("[,;，。！？、；：（以缓至]")
_OTHERS = re.compile("无期徒刑|死刑|无罪|免予刑事处罚|免于刑事处罚|免予刑事处分")
_FINE = re.compile("罚金.{1,15}元")
_FINE_ENDS = re.compile("[，。！？、；：以已至（]")
_NUMERAL = re.compile(NUMERAL)
_CONVICTED = re.compile(rf"(?<!侵)犯({NAMES})")


def _clean(document: str) -> str:
    text = document.replace(":", "：").replace(" ", "").replace("(", "（").replace(")", "）")
    text = text.replace("\u3000", " ").replace("\xa0", " ")
    for gone in _GONE:
        text = text.replace(gone, "")
    text = _COMMA.sub("，", text)
    strings = (unescape(string).strip() for string in _TAG.split(text))
    return " ".join(string for string in strings if string)


def _first(patterns: tuple[re.Pattern[str], ...], text: str) -> re.Match[str] | None:
    return next((found for pattern in patterns if (found := pattern.search(text))), None)


def sections(document: str) -> Sections:
    """Return reasoning and decision as the published code splits them, also for texts without 本院认为."""
    rest = _clean(document)
    if heading := _first(_HEADING, rest):
        rest = _without(rest, rest[: heading.end()])
    elif charged := _CHARGED.search(rest):
        rest = _without(rest, rest[: charged.start()])
    if court := _COURT.search(rest):
        rest = _without(rest, rest[: court.start()])
    announced = _first(_ANNOUNCED, rest)
    reasoning = rest[: announced.end()] if announced else rest
    body, rest = rest, _without(rest, reasoning)
    over = _first(_OVER, rest)
    judgment = (rest[: over.start()] if over else rest) or rest
    return Sections(reasoning, judgment, body)


def _without(text: str, part: str) -> str:
    # Wherever it occurs, as published: a document written down twice loses both.
    return text.replace(part, "") if part.strip() else text


def _searched(find: Callable[[str], list[str]], part: str, document: str) -> list[str]:
    return find(part) or find(document)


def charges(document: str) -> frozenset[str]:
    """Return the charges in the decision; if it contains none, the charges in the whole document."""
    found = _searched(_CONVICTED.findall, sections(document).judgment, document)
    return frozenset(one for names in found for one in named(names))


def statutes(document: str) -> frozenset[str]:
    """Return the numbers of the cited articles of the Criminal Law, without suffixes such as 之一."""

    def cited(text: str) -> list[str]:
        return [found for pattern in _CITED for found in pattern.findall(text)]

    lists = _searched(cited, sections(document).reasoning, document)
    return frozenset(str(parse_numeral(article)) for one in lists for article in _ARTICLE.findall(one))


def months(document: str) -> int:
    """Return the sum of all distinctly worded prison terms in months; -1 without prison terms."""

    def terms(text: str) -> list[str]:
        found = [_cut(term, _TERM_ENDS) for pattern in _TERMS for term in pattern.findall(text)]
        return found + _OTHERS.findall(text)

    found = set(_searched(terms, sections(document).judgment, document))
    return sum(map(_months, found)) if found else NONE


def _cut(text: str, ends: re.Pattern[str]) -> str:
    end = ends.search(text)
    return text[: end.start()] if end else text


def _months(term: str) -> int:
    numbers = [parse_numeral(one) for one in _NUMERAL.findall(term)]
    years, rest = "年" in term, "月" in term
    match numbers:
        case [many, more]:
            return many * 12 + more if years and rest else many
        case [many]:
            return many * 12 if years else many if rest else 0
        case []:
            return LIFE if "无期徒刑" in term else DEATH if "死刑" in term else 0
    return 0


def fine(document: str) -> int:
    """Return the sum of all distinctly worded fines in yuan; -1 without fines."""
    found = set(_searched(_fines, sections(document).judgment, document))
    return sum(map(_yuan, found)) if found else NONE


def _fines(text: str) -> list[str]:
    found = [_cut(one, _FINE_ENDS) for one in _FINE.findall(text)]
    # Removed while walked over: what follows a string without 元 is not looked at, and stays.
    for one in found:
        if "元" not in one:
            found.remove(one)
    return [one.replace(",", "") for one in found]


def _yuan(wording: str) -> int:
    numbers = _NUMERAL.findall(wording)
    return parse_numeral(numbers[0]) if len(numbers) == 1 else 0
