import pytest

from memflow.metrics.legal.charges import canonical_charge, cited_articles, convicted_charges, parse_charges

DRUGS = "走私、贩卖、运输、制造毒品罪"


@pytest.mark.parametrize(
    ("name", "whole"),
    [
        ("贩卖毒品罪", DRUGS),
        ("贩卖、运输毒品罪", DRUGS),
        ("贩卖运输毒品罪", DRUGS),
        (DRUGS, DRUGS),
        ("非法持有毒品罪", "非法持有毒品罪"),
        ("销售有害食品罪", "生产、销售有毒、有害食品罪"),
        ("掩饰、隐瞒犯罪所得罪", "掩饰、隐瞒犯罪所得、犯罪所得收益罪"),
        ("窝藏罪", "窝藏、包庇罪"),
        ("帮助伪造证据罪", "帮助毁灭、伪造证据罪"),
        ("强制猥亵罪", "强制猥亵、侮辱罪"),
        ("强制猥亵妇女罪", "强制猥亵、侮辱罪"),
        ("伪造居民身份证罪", "伪造、变造、买卖身份证件罪"),
        ("盗窃罪", "盗窃罪"),
        ("毒品罪", "毒品罪"),
    ],
)
def test_canonical_charge_replaces_a_partial_charge_name_by_the_full_name(name: str, whole: str) -> None:
    assert canonical_charge(name) == whole
    assert canonical_charge(whole) == whole


def test_parse_charges_splits_only_between_charges() -> None:
    assert parse_charges("抢劫罪、强奸罪和拒不执行判决、裁定罪") == [
        "抢劫罪",
        "强奸罪",
        "拒不执行判决、裁定罪",
    ]
    assert parse_charges("有“侵犯著作权罪”") == ["侵犯著作权罪"]


def test_convicted_charges_excludes_charges_that_the_text_denies() -> None:
    assert convicted_charges("其行为已构成诈骗罪、盗窃罪，不构成抢夺罪，尚未构成抢劫罪；又构成赌博罪") == {
        "诈骗罪",
        "盗窃罪",
        "赌博罪",
    }


@pytest.mark.parametrize(
    ("text", "cited"),
    [
        ("依照《中华人民共和国刑法》第二百六十四条、第六十七条第三款之规定", {"264", "67"}),
        ("根据刑法第264条", {"264"}),
        ("《刑法》第一百三十三条之一第一款第（二）项，第七十二条第一、三款", {"133-1", "72"}),
        ("《中华人民共和国刑法》第二十五、二十六、二十七条及六十四条", {"25", "26", "27", "64"}),
        ("《中华人民共和国刑法》第四十二条拘役的期限、第五十二条（罚金）", {"42", "52"}),
        ("《中华人民共和国刑法（2017年修正）》第二十条", {"20"}),
        ("《中华人民共和国刑法》第五条，最高人民法院《解释》第七条", {"5"}),
        ("《中华人民共和国刑法》第五条，刑事诉讼法第七条", {"5"}),
        ("《中华人民共和国刑法》第五条的规定，根据合同第七条", {"5"}),
        ("《中华人民共和国刑法修正案（八）》第七条、《中华人民共和国刑事诉讼法》第八条", set()),
        ("依照第二百六十四条", set()),
    ],
)
def test_cited_articles_excludes_articles_of_other_laws(text: str, cited: set[str]) -> None:
    assert cited_articles(text) == cited
