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
    """Return the text with Chinese punctuation, without tags and spaces between them, as the published code has it."""
    text = document.replace(":", "：").replace(" ", "").replace("(", "（").replace(")", "）")
    text = text.replace("\u3000", " ").replace("\xa0", " ")
    for removed_text in _GONE:
        text = text.replace(removed_text, "")
    text = _COMMA.sub("，", text)
    strings = (unescape(string).strip() for string in _TAG.split(text))
    return " ".join(string for string in strings if string)


def _first(patterns: tuple[re.Pattern[str], ...], text: str) -> re.Match[str] | None:
    return next((match for pattern in patterns if (match := pattern.search(text))), None)


def sections(document: str) -> Sections:
    """Return reasoning and decision as the published code splits them, also for texts without 本院认为."""
    remaining_text = _clean(document)
    if heading := _first(_HEADING, remaining_text):
        remaining_text = _without(remaining_text, remaining_text[: heading.end()])
    elif accusation := _CHARGED.search(remaining_text):
        remaining_text = _without(remaining_text, remaining_text[: accusation.start()])
    if court_opinion := _COURT.search(remaining_text):
        remaining_text = _without(remaining_text, remaining_text[: court_opinion.start()])
    announcement = _first(_ANNOUNCED, remaining_text)
    reasoning = remaining_text[: announcement.end()] if announcement else remaining_text
    body, remaining_text = remaining_text, _without(remaining_text, reasoning)
    ending = _first(_OVER, remaining_text)
    judgment = (remaining_text[: ending.start()] if ending else remaining_text) or remaining_text
    return Sections(reasoning, judgment, body)


def _without(text: str, part: str) -> str:
    # Wherever it occurs, as published: a document written down twice loses both.
    return text.replace(part, "") if part.strip() else text


def _searched(find: Callable[[str], list[str]], part: str, document: str) -> list[str]:
    return find(part) or find(document)


def charges(document: str) -> frozenset[str]:
    """Return the charges in the decision; if it contains none, the charges in the whole document."""
    wordings = _searched(_CONVICTED.findall, sections(document).judgment, document)
    return frozenset(charge for names in wordings for charge in named(names))


def statutes(document: str) -> frozenset[str]:
    """Return the numbers of the cited articles of the Criminal Law, without suffixes such as 之一."""

    def cited(part: str) -> list[str]:
        return [citation for pattern in _CITED for citation in pattern.findall(part)]

    lists = _searched(cited, sections(document).reasoning, document)
    return frozenset(
        str(parse_numeral(article)) for citation in lists for article in _ARTICLE.findall(citation)
    )


def months(document: str) -> int:
    """Return the sum of all distinctly worded prison terms in months; -1 without prison terms."""

    def terms(text: str) -> list[str]:
        wordings = [_cut(term, _TERM_ENDS) for pattern in _TERMS for term in pattern.findall(text)]
        return wordings + _OTHERS.findall(text)

    wordings = set(_searched(terms, sections(document).judgment, document))
    return sum(map(_months, wordings)) if wordings else NONE


def _cut(text: str, end_pattern: re.Pattern[str]) -> str:
    end = end_pattern.search(text)
    return text[: end.start()] if end else text


def _months(term: str) -> int:
    """Return the months of a prison term; LIFE or DEATH for these, 0 for a term that cannot be parsed."""
    numbers = [parse_numeral(numeral) for numeral in _NUMERAL.findall(term)]
    has_years, has_months = "年" in term, "月" in term
    match numbers:
        case [number, months]:
            return number * 12 + months if has_years and has_months else number
        case [number]:
            return number * 12 if has_years else number if has_months else 0
        case []:
            return LIFE if "无期徒刑" in term else DEATH if "死刑" in term else 0
    return 0


def fine(document: str) -> int:
    """Return the sum of all distinctly worded fines in yuan; -1 without fines."""
    wordings = set(_searched(_fines, sections(document).judgment, document))
    return sum(map(_yuan, wordings)) if wordings else NONE


def _fines(text: str) -> list[str]:
    wordings = [_cut(wording, _FINE_ENDS) for wording in _FINE.findall(text)]
    # As published, the list changes during the iteration: the wording after one without 元 is skipped, and stays.
    for wording in wordings:
        if "元" not in wording:
            wordings.remove(wording)
    return [wording.replace(",", "") for wording in wordings]


def _yuan(wording: str) -> int:
    numbers = _NUMERAL.findall(wording)
    return parse_numeral(numbers[0]) if len(numbers) == 1 else 0
