import pytest

from memflow.metrics.legal.charges import canonical_charge, convicted_charges, parse_charges

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
def test_selective_charge_has_one_canonical_name(name: str, whole: str) -> None:
    assert canonical_charge(name) == whole
    assert canonical_charge(whole) == whole


def test_charge_list_is_split_but_not_inside_names() -> None:
    assert parse_charges("抢劫罪、强奸罪和拒不执行判决、裁定罪") == [
        "抢劫罪",
        "强奸罪",
        "拒不执行判决、裁定罪",
    ]
    assert parse_charges("有“侵犯著作权罪”") == ["侵犯著作权罪"]


def test_reasoning_affirms_charges_but_not_denied_ones() -> None:
    assert convicted_charges("其行为已构成诈骗罪、盗窃罪，不构成抢夺罪，尚未构成抢劫罪；又构成赌博罪") == {
        "诈骗罪",
        "盗窃罪",
        "赌博罪",
    }
