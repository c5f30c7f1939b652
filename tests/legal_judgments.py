"""Invented Chinese criminal judgments in the form of published ones."""

from collections.abc import Sequence
from dataclasses import dataclass

from chinese_numerals import format_numeral


@dataclass(frozen=True)
class Convicted:
    """A convicted person: (charge, term, fine) per charge, and the `total` sentence if there is one."""

    name: str = "周小舟"
    charges: Sequence[tuple[str, str, int | None]] = (("盗窃罪", "有期徒刑八个月", 2_000),)
    total: tuple[str, int | None] | None = None


def format_articles(*names: str) -> str:
    """Return 第二百六十四条、第一百三十三条之一 for "264", "133-1"."""
    parts = (name.partition("-") for name in names)
    return "、".join(
        f"第{format_numeral(int(main))}条{f'之{format_numeral(int(inserted))}' if inserted else ''}"
        for main, _, inserted in parts
    )


def decided(people: Sequence[Convicted]) -> str:
    """Return the decision, one item per person."""
    return "\n".join(
        f"{format_numeral(number)}、被告人{person.name}" + "；".join(_sentence(*one) for one in person.charges)
        + (f"。{_sentence('', *person.total)}" if person.total else "")
        + "。\n（刑期从判决执行之日起计算，即自2020年3月1日起至2021年3月1日止。）"
        for number, person in enumerate(people, start=1)
    )  # fmt: skip


def _sentence(charge: str, term: str, fine: int | None) -> str:
    said = f"犯{charge}，判处{term}" if charge else f"决定执行{term}"
    return said + (f"，并处罚金人民币{format_numeral(fine)}元" if fine is not None else "")


def judgment(
    *people: Convicted,
    statutes: Sequence[str] = ("264", "52"),
    facts: str = "取走他人手机一部",
    decision: str = "",
) -> str:
    """Return a judgment of first instance; `decision` replaces the one built from people and statutes."""
    people = people or (Convicted(),)
    names = "、".join(person.name for person in people)
    charges = "、".join(dict.fromkeys(charge for person in people for charge, *_ in person.charges))
    return f"""河湾县人民法院
刑事判决书
（2020）河刑初1号
公诉机关河湾县人民检察院。
被告人{names}，曾因犯赌博罪被判处有期徒刑三年，并处罚金九千元。
河湾县人民检察院指控被告人{names}犯抢夺罪，向本院提起公诉。本案现已审理终结。
经审理查明，被告人{names}于2020年3月1日{facts}。
本院认为，被告人{names}{facts}，其行为已构成{charges}，不构成抢夺罪。依照《中华人民共和国刑法》{format_articles(*statutes)}、\
《中华人民共和国刑事诉讼法》第二百零一条之规定，判决如下：
{decision or decided(people)}
如不服本判决，可在接到判决书的第二日起十日内，向河湾市中级人民法院提出上诉。
审判员 吴一
二〇二〇年六月一日
附：相关法律条文
《中华人民共和国刑法》第三百零三条 以营利为目的，聚众赌博的，处三年以下有期徒刑、拘役或者管制，并处罚金。
"""
