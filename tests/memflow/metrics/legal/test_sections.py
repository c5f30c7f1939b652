import pytest
from legal_judgments import Convicted, decided, judgment

from memflow.metrics.legal.sections import clean_text, split_sections

REASONS = ("裁判理由：", "理由：", "本院经审查认为，")
DECISIONS = ("判决结果", "裁判主文：", "判决：")
CONVICTED = "被告人乙犯盗窃罪，判处拘役一个月。"


def test_split_sections_separates_reasoning_and_decision_at_the_announcement() -> None:
    parts = split_sections(judgment())
    assert parts.reasoning.startswith("本院认为，被告人周小舟")
    assert parts.reasoning.endswith("判决如下：")
    assert parts.judgment == clean_text(decided([Convicted()]))
    assert "附：" not in parts.body
    assert "审判员" not in parts.body


def test_split_sections_ignores_markup_white_space_and_character_width() -> None:
    plain = judgment()
    marked = (
        plain.replace("本院认为", "**本院认为**").replace("，", ",").replace("（", " (").replace("2", "２")
    )
    assert split_sections(f"# <p>{marked}</p>\u3000") == split_sections(plain)


@pytest.mark.parametrize(
    ("text", "reasoning", "judgment"),
    [
        *((f"甲。{each}乙。判决如下：丙。", f"{each}乙。判决如下：", "丙。") for each in REASONS),
        *((f"本院认为，甲。\n{each}\n乙。", f"本院认为，甲。{each}", "乙。") for each in DECISIONS),
        # An unannounced decision starts at the first sentence that convicts.
        (f"本院认为，甲。{CONVICTED}书面上诉的", "本院认为，甲。", CONVICTED),
        # The decision of the lower court is ignored.
        (
            "原审法院判决如下：甲。本院认为，乙。判决如下：丙。本判决为终审判决。",
            "本院认为，乙。判决如下：",
            "丙。",
        ),
        *((text, "", "") for text in ("", "没有判决", "000")),
    ],
)
def test_split_sections_returns_reasoning_and_decision(text: str, reasoning: str, judgment: str) -> None:
    parts = split_sections(text)
    assert (parts.reasoning, parts.judgment) == (reasoning, judgment)


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
def test_split_sections_ends_the_decision_at_the_first_end_marker(end: str) -> None:
    assert split_sections(f"本院认为，甲。判决如下：乙。{end}丙。附：丁").judgment == "乙。"


def test_split_sections_does_not_end_the_decision_at_a_mention_of_a_civil_suit() -> None:
    decision = "一、甲。二、被告人赔偿附带民事诉讼原告人依法律应得的损失。"
    assert split_sections(f"本院认为，甲。判决如下：{decision}如不服本判决").judgment == decision
