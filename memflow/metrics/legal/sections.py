"""Sections of a criminal judgment of first instance: reasoning and decision.

The order is: heading, charges, evidence, 本院认为 (reasoning, up to 判决如下), decision, appeal, signatures, appendix.
"""

import re
from dataclasses import dataclass

_TAG = re.compile(r"</?[A-Za-z][^<>]*>")
_PLAIN = str.maketrans(
    "０１２３４５６７８９():;,[]",
    "0123456789（）：；，［］",
    "*#`_\ufffd\u200b\ufeff",  # marks of Markdown, and characters that nobody sees
)

_COURT = re.compile(r"本院认为")
_REASONS = re.compile(r"本院(?:经[^，。]{0,6})?认为|(?:裁判|判决)?理由：")
_ANNOUNCED = re.compile(r"(?:判决|裁定)如下[：，]?")
_HEADED = re.compile(r"(?:判决|裁判)(?:结果|结论|主文)：?|(?:判决|裁定)：")
_CONVICTED = re.compile(r"(?:被告人|上诉人|被告单位)[^，。；：]{1,40}罪，(?=判处|单处|免[予于]|处)")
_OVER = re.compile(
    r"（?如[^，。]{0,6}不服(?:本|判)|本(?:判决|裁定)为终审|书面上诉|(?:代理)?审判[长员]|人民陪审员|如?未按本判决指定的期间"
    r"|附(?![带加])(?:录|：|[^，。；]{0,15}(?:法律|法条|条文))"
)


@dataclass(frozen=True, slots=True)
class Sections:
    """Cleaned text of reasoning and decision ("" if missing), and of all text up to the decision's end (`body`)."""

    reasoning: str
    judgment: str
    body: str


def clean_text(document: str) -> str:
    """Return the text without white space, tags and Markdown, with ASCII digits and Chinese punctuation."""
    return "".join(_TAG.sub("", document).translate(_PLAIN).split())


def split_sections(document: str) -> Sections:
    """Return the reasoning and the decision of a judgment.

    The reasoning runs from the first 本院认为 (or another heading) through the announcement of the decision. The
    decision ends at the first sign of another section (appeal, signatures, appendix). Without an announcement, the
    decision starts at the first sentence that convicts.
    """
    text = clean_text(document)
    court_opinion = _COURT.search(text) or _REASONS.search(text)
    start, search_start = court_opinion.span() if court_opinion else (0, 0)
    if announcement := _ANNOUNCED.search(text, search_start) or _HEADED.search(text, search_start):
        decision_start = announcement.end()
    elif conviction := _CONVICTED.search(text, search_start):
        decision_start = conviction.start()
    else:
        decision_start = len(text)
    ending = _OVER.search(text, decision_start if decision_start < len(text) else start)
    end = ending.start() if ending else len(text)
    return Sections(
        reasoning=text[start : min(decision_start, end)] if court_opinion else "",
        judgment=text[decision_start:end] if decision_start < len(text) else "",
        body=text[:end],
    )
