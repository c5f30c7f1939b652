import pytest
from legal_judgments import Convicted, decided, judgment

from memflow.metrics.legal.sections import clean_text, split_sections


def test_announcement_separates_reasoning_and_decision() -> None:
    parts = split_sections(judgment())
    assert parts.reasoning.startswith("本院认为，被告人周小舟")
    assert parts.reasoning.endswith("判决如下：")
    assert parts.judgment == clean_text(decided([Convicted()]))
    assert "附：" not in parts.body
    assert "审判员" not in parts.body


def test_markup_white_space_and_width_are_ignored() -> None:
    plain = judgment()
    marked = (
        plain.replace("本院认为", "**本院认为**").replace("，", ",").replace("（", " (").replace("2", "２")
    )
    assert split_sections(f"# <p>{marked}</p>\u3000") == split_sections(plain)


@pytest.mark.parametrize("heading", ["裁判理由：", "理由：", "本院经审查认为，"])
def test_alternative_heading_starts_reasoning(heading: str) -> None:
    assert split_sections(f"甲。{heading}乙。判决如下：丙。").reasoning == f"{heading}乙。判决如下："


@pytest.mark.parametrize("heading", ["判决结果", "裁判主文：", "判决："])
def test_alternative_heading_starts_decision(heading: str) -> None:
    assert split_sections(f"本院认为，甲。\n{heading}\n乙。").judgment == "乙。"


def test_unannounced_decision_starts_at_first_sentence() -> None:
    parts = split_sections("本院认为，甲。被告人乙犯盗窃罪，判处拘役一个月。书面上诉的")
    assert (parts.reasoning, parts.judgment) == ("本院认为，甲。", "被告人乙犯盗窃罪，判处拘役一个月。")


def test_decision_of_lower_court_is_ignored() -> None:
    parts = split_sections("原审法院判决如下：甲。本院认为，乙。判决如下：丙。本判决为终审判决。")
    assert parts.judgment == "丙。"


@pytest.mark.parametrize(
    "end",
    [
        "如不服本判决",
        "如对方不服判决",
        "本判决为终审判决",
        "审 判 长",
        "代理审判员",
        "附录",
        "附相关法律条文",
    ],
)
def test_decision_ends_at_first_end_marker(end: str) -> None:
    assert split_sections(f"本院认为，甲。判决如下：乙。{end}丙。附：丁").judgment == "乙。"


@pytest.mark.parametrize("text", ["", "没有判决", "000"])
def test_other_text_has_no_sections(text: str) -> None:
    assert (split_sections(text).reasoning, split_sections(text).judgment) == ("", "")


def test_civil_suit_is_not_an_appendix() -> None:
    decision = "一、甲。二、被告人赔偿附带民事诉讼原告人依法律应得的损失。"
    assert split_sections(f"本院认为，甲。判决如下：{decision}如不服本判决").judgment == decision
