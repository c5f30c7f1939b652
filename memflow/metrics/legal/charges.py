"""Extraction of criminal charges (罪名) and of cited articles of the Criminal Law, with canonical charge names.

A selective charge such as 走私、贩卖、运输、制造毒品罪 lists alternatives; a name with some of them is the same
charge. A grammar finds the names; the list below only contains the alternatives of selective charges.
"""

import re
from functools import lru_cache

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
    found = set()
    for cited in _CITED.finditer(text):
        for article in _ARTICLE.finditer(cited["articles"]):
            *others, last = (str(parse_numeral(numeral)) for numeral in article["numbers"].split("、"))
            found.update(others)
            found.add(f"{last}-{parse_numeral(article['inserted'])}" if article["inserted"] else last)
    return frozenset(found)


NAME = r"(?:犯罪|侵犯|[^罪犯，。；：（）]){1,40}罪"
"""Regular expression of a charge's name: it ends in 罪, except in 犯罪 (掩饰、隐瞒犯罪所得罪)."""

NAMES = rf"{NAME}(?:[、和及与]{NAME}){{0,20}}"

_ONE = re.compile(NAME)
_NOT_IN_IT = re.compile(r"^[有了、和及与]+|[“”‘’\"']")
_FOUND = re.compile(rf"(?P<before>[^，。；]{{0,6}})构成了?(?P<names>{NAMES})")
_DENIED = re.compile(r"[不未否]|非$")

# What may be chosen from stands in brackets.
_SELECTIVE = (
    "[走私、贩卖、运输、制造]毒品罪",
    "非法[生产、买卖、运输]制毒物品罪",
    "[窝藏、转移、隐瞒][毒品、毒赃]罪",
    "[引诱、教唆、欺骗]他人吸毒罪",
    "非法[买卖、运输、携带、持有]毒品原植物[种子、幼苗]罪",
    "[生产、销售]伪劣产品罪",
    "[生产、销售、提供]假药罪",
    "[生产、销售、提供]劣药罪",
    "[生产、销售]不符合安全标准的食品罪",
    "[生产、销售][有毒、有害]食品罪",
    "[生产、销售]不符合标准的医用器材罪",
    "[生产、销售]不符合安全标准的产品罪",
    "[生产、销售]伪劣[农药、兽药、化肥、种子]罪",
    "[掩饰、隐瞒][犯罪所得、犯罪所得收益]罪",
    "[窝藏、包庇]罪",
    "帮助[毁灭、伪造]证据罪",
    "拒不执行[判决、裁定]罪",
    "[出售、购买、运输]假币罪",
    "[持有、使用]假币罪",
    "[窃取、收买、非法提供]信用卡信息罪",
    "虚开[增值税专用发票、用于骗取出口退税、抵扣税款发票]罪",
    "[非法制造、出售非法制造的]发票罪",
    "[伪造、变造]金融票证罪",
    "[伪造、变造、买卖]国家机关[公文、证件、印章]罪",
    "[盗窃、抢夺、毁灭]国家机关[公文、证件、印章]罪",
    "[伪造、变造、买卖]身份证件罪",
    "非法[制造、买卖、运输、邮寄、储存][枪支、弹药、爆炸物]罪",
    "非法[制造、买卖、运输、储存]危险物质罪",
    "非法[持有、私藏][枪支、弹药]罪",
    "[盗窃、抢夺][枪支、弹药、爆炸物、危险物质]罪",
    "走私[武器、弹药]罪",
    "走私[普通货物、物品]罪",
    "走私国家禁止进出口的[货物、物品]罪",
    "走私[珍贵动物、珍贵动物制品]罪",
    "提供[侵入、非法控制]计算机信息系统[程序、工具]罪",
    "[非法获取计算机信息系统数据、非法控制计算机信息系统]罪",
    "[编造、故意传播]虚假恐怖信息罪",
    "[组织、领导]传销活动罪",
    "[组织、领导、参加]黑社会性质组织罪",
    "[包庇、纵容]黑社会性质组织罪",
    "[引诱、容留、介绍]卖淫罪",
    "[制作、复制、出版、贩卖、传播]淫秽物品牟利罪",
    "强制[猥亵、侮辱]罪",
    "拐卖[妇女、儿童]罪",
    "收买被拐卖的[妇女、儿童]罪",
    "危害[珍贵、濒危]野生动物罪",
    "非法[收购、运输][盗伐、滥伐]的林木罪",
    "[非法制造、销售非法制造的]注册商标标识罪",
)
# Names that the law no longer uses, and their charge's name now.
_RENAMED = {
    "强制[猥亵、侮辱]妇女罪": "强制猥亵、侮辱罪",
    "[伪造、变造]居民身份证罪": "伪造、变造、买卖身份证件罪",
    "[伪造、变造、买卖]国家机关的[公文、证件、印章]罪": "伪造、变造、买卖国家机关公文、证件、印章罪",
    "非法[猎捕、杀害][珍贵、濒危]野生动物罪": "危害珍贵、濒危野生动物罪",
    "非法[收购、运输、出售][珍贵、濒危]野生动物罪": "危害珍贵、濒危野生动物罪",
}


def _choices(name: str) -> str:
    """Return a regular expression that matches every allowed name of a selective charge."""

    def some(found: re.Match[str]) -> str:
        one = f"(?:{'|'.join(map(re.escape, found[1].split('、')))})"
        return f"{one}(?:、?{one})*"

    return re.sub(r"\[(.*?)\]", some, name)


def _whole(name: str) -> str:
    return name.replace("[", "").replace("]", "")


_CHARGES = tuple(
    (re.compile(_choices(name)), canonical_charge)
    for name, canonical_charge in (*((name, _whole(name)) for name in _SELECTIVE), *_RENAMED.items())
)


@lru_cache(maxsize=5_000)
def canonical_charge(name: str) -> str:
    """Return the canonical name of a charge: the name in the current law, with all alternatives."""
    return next((whole for pattern, whole in _CHARGES if pattern.fullmatch(name)), name)


def parse_charges(names: str) -> list[str]:
    """Return the canonical charges in a text that `NAMES` has matched, such as 抢劫罪、强奸罪."""
    return [canonical_charge(_NOT_IN_IT.sub("", name)) for name in _ONE.findall(names)]


def convicted_charges(reasoning: str) -> frozenset[str]:
    """Return the charges that a court's reasoning affirms (构成盗窃罪), without the denied charges."""
    return frozenset(
        charge
        for found in _FOUND.finditer(reasoning)
        if not _DENIED.search(found["before"])
        for charge in parse_charges(found["names"])
    )
