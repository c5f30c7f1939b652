"""Sentences in a decision: charges, prison term and fine of each convicted person.

Terms are in months: 无期徒刑 is LIFE, 死刑 is DEATH, 免予刑事处罚 and 无罪 are 0; days are dropped. A total (决定执行)
replaces single terms. Probation (缓刑) changes nothing; revoked (撤销) and earlier (前罪, 原犯) decisions do not count.
"""

import re
from dataclasses import dataclass, field

from memflow.metrics.legal.charges import NAMES, parse_charges
from memflow.metrics.legal.numerals import NUMERAL, parse_numeral

LIFE = 240
DEATH = 10_001
NONE = -1
"""The months or fine of a decision that sets none."""

_DEEPEST = 3
_BRACKETED = re.compile(r"（[^（）]*）")
_ITEM = re.compile(r"(?:^|(?<=[。；：]))(?:[一二三四五六七八九十]{1,3}、|\d{1,2}[、．.](?!\d))")
_REVOKED = re.compile(r"^撤销[^。；]*[。；]?")
_ROLE = re.compile(r"被告人|上诉人|被告单位|罪犯")
_EARLIER = re.compile(r"曾(?:因|经|于.*|在.*)?$|^[与和]?原$|^与?前(?:罪|次|判)?|(?:之|以)前(?:因|所)?$")

_EVENT = re.compile(
    rf"(?P<who>[^，。；：]{{0,80}}?)(?<![侵罪])犯(?!罪)(?P<names>{NAMES})(?!所得)"
    r"|(?P<aside>前罪|前判)"
    r"|(?P<total>决定(?:合并)?执行|合并执行|总和刑期)"
    rf"|(?:有期徒刑|拘役|管制)(?:(?P<years>{NUMERAL})年(?P<half>半)?(?:[零又]?(?P<months>{NUMERAL})个?月)?"
    rf"|(?P<only>{NUMERAL})个?月)"
    r"|(?P<life>无期徒刑)|(?P<death>死刑)|(?P<free>免[予于]刑事处[罚分]|无罪)"
    rf"|(?<!上述)(?<!上列)(?<!以上)罚金(?:人民币?|共?计|款|各|为|：)*(?P<fine>{NUMERAL})[元圆]"
)


@dataclass(slots=True)
class Sentence:
    """The sentence of a convicted person. `months` of prison and `fine` (yuan) are NONE if not imposed."""

    charges: list[str] = field(default_factory=list)
    months: int = NONE
    fine: int = NONE


@dataclass(slots=True)
class _Person:
    single: Sentence = field(default_factory=Sentence)
    total: Sentence | None = None

    def sentence(self) -> Sentence:
        total = self.total or Sentence()
        return Sentence(
            self.single.charges,
            total.months if total.months != NONE else self.single.months,
            total.fine if total.fine != NONE else self.single.fine,
        )


def operative_part(judgment: str) -> str:
    """Return a decision without bracketed text (up to three levels) and without items that revoke earlier decisions."""
    for _ in range(_DEEPEST):
        judgment = _BRACKETED.sub("", judgment)
    opening, *items = _ITEM.split(judgment)
    return "。".join((_REVOKED.sub("", opening), *(item for item in items if not item.startswith("撤销"))))


def parse_sentences(judgment: str) -> list[Sentence]:
    """Return the sentence of each convicted person, in order, from the cleaned text of a decision."""
    person = _Person()
    people = {"": person}
    in_this_decision = True  # and no earlier decision
    for event in _EVENT.finditer(operative_part(judgment)):
        if event["names"]:
            in_this_decision = not _EARLIER.search(event["who"])
            if in_this_decision:
                name = _ROLE.split(event["who"])[-1].lstrip("又另并且")
                person = people.setdefault(name, _Person()) if name else person
                person.single.charges += parse_charges(event["names"])
        elif event["aside"]:
            in_this_decision = False
        elif event["total"]:
            in_this_decision, person.total = True, Sentence()
        elif in_this_decision:
            _sentence(person.total or person.single, event)
    sentences = [convict.sentence() for convict in people.values()]
    return [convict for convict in sentences if convict != Sentence()]


def _sentence(sentence: Sentence, event: re.Match[str]) -> None:
    if event["fine"]:
        sentence.fine = max(sentence.fine, 0) + parse_numeral(event["fine"])
    else:
        sentence.months = max(sentence.months, 0) + _months(event)


def _months(event: re.Match[str]) -> int:
    """Return the months of a term that `_EVENT` has matched; 0 for an acquittal or a sentence without punishment."""
    if event["life"]:
        return LIFE
    if event["death"]:
        return DEATH
    if event["free"]:
        return 0
    if event["only"]:
        return parse_numeral(event["only"])
    months = parse_numeral(event["years"]) * 12 + (6 if event["half"] else 0)
    return months + (parse_numeral(event["months"]) if event["months"] else 0)


def total(values: list[int]) -> int:
    """Return the sum of several terms in months, or of several fines; NONE if all values are NONE."""
    return sum(value for value in values if value != NONE) if any(value != NONE for value in values) else NONE
