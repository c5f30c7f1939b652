import pytest

from memflow.metrics.legal.decision import NONE, Sentence, parse_sentences


@pytest.mark.parametrize(
    ("term", "months"),
    [
        ("有期徒刑三年", 36),
        ("有期徒刑三年零六个月", 42),
        ("有期徒刑一年又六个月", 18),
        ("有期徒刑一年半", 18),
        ("有期徒刑十一年十一个月", 143),
        ("有期徒刑1年2个月", 14),
        ("拘役四个月", 4),
        ("管制二年", 24),
        ("无期徒刑", 240),
        ("死刑，缓期二年执行", 10_001),
        ("有期徒刑六个月，缓刑一年，剥夺政治权利二年", 6),
        ("拘役一个月（刑期自2020年1月1日起，有期徒刑九年）", 1),
    ],
)
def test_parse_sentences_returns_the_prison_term_in_months(term: str, months: int) -> None:
    assert parse_sentences(f"被告人甲犯盗窃罪，判处{term}。") == [Sentence(["盗窃罪"], months)]


@pytest.mark.parametrize(
    ("fine", "yuan"),
    [
        ("罚金人民币二万二千元", 22_000),
        ("罚金3万元", 30_000),
        ("罚金人民币30，000元", 30_000),
        ("罚金人民4000元", 4_000),
        ("罚金人民币壹仟元", 1_000),
        ("罚金人民币五千元（罚金五千元已缴纳）。罚金限于十日内缴纳。上述罚金五千元上缴", 5_000),
        ("没收个人财产三千元，追缴违法所得五百元", NONE),
        ("罚金（数额待定）", NONE),
    ],
)
def test_parse_sentences_returns_the_fine_in_yuan(fine: str, yuan: int) -> None:
    assert [one.fine for one in parse_sentences(f"被告人甲犯盗窃罪，单处{fine}。")] == [yuan]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "被告人甲犯抢劫罪，判处有期徒刑三年，并处罚金三千元；被告人甲犯强奸罪，判处有期徒刑一年。"
            "决定执行有期徒刑三年六个月，并处罚金三千元。",
            Sentence(["抢劫罪", "强奸罪"], 42, 3_000),
        ),
        (  # an unreadable total keeps the single terms
            "被告人甲犯贪污罪，免予刑事处罚；犯受贿罪，判处有期徒刑六个月，决定执行有期徒刑六个；",
            Sentence(["贪污罪", "受贿罪"], 6),
        ),
        (  # a total without a fine keeps the single fines
            "被告人甲犯赌博罪，判处拘役一个月，并处罚金二千元；犯盗窃罪，判处拘役二个月，并处罚金一千元；"
            "决定执行拘役二个月",
            Sentence(["赌博罪", "盗窃罪"], 2, 3_000),
        ),
        (  # an upheld conviction with a new term is one person
            "一、维持某院判决的罚金部分，即被告人甲犯盗窃罪，并处罚金一万元。"
            "二、撤销有期徒刑的部分，即被告人甲犯盗窃罪，判处有期徒刑三年。三、原审被告人甲犯盗窃罪，判处有期徒刑二年。",
            Sentence(["盗窃罪", "盗窃罪"], 24, 10_000),
        ),
    ],
)
def test_parse_sentences_prefers_total_sentence_to_charge_sentences(text: str, sentence: Sentence) -> None:
    assert parse_sentences(text) == [sentence]


def test_parse_sentences_counts_equal_sentences_of_two_people_separately() -> None:
    people = parse_sentences(
        "一、被告人甲犯赌博罪，判处拘役五个月，并处罚金一千元。二、被告人乙犯赌博罪，判处拘役五个月，并处罚金一千元。"
    )
    assert [(one.months, one.fine) for one in people] == [(5, 1_000), (5, 1_000)]


@pytest.mark.parametrize(
    "text",
    [
        "一、撤销某院刑事判决，即：被告人甲犯赌博罪，判处拘役九个月；罚金一千元。二、上诉人（原审被告人）甲犯盗窃罪，判处拘役一个月。",
        "撤销某院刑事判决；被告人甲犯盗窃罪，判处拘役一个月。",
        "被告人甲犯盗窃罪，判处拘役一个月；与原犯赌博罪，判处有期徒刑二年，并罚，决定执行拘役一个月。",
        "被告人甲犯盗窃罪，判处拘役一个月。其曾因犯赌博罪被判处有期徒刑二年。",
        "被告人甲犯盗窃罪，判处拘役一个月，前罪有期徒刑二年已执行完毕。",
        "一、被告人甲犯盗窃罪，判处拘役一个月。二、被告人甲犯罪所得人民币三千元予以追缴。",
    ],
)
def test_parse_sentences_ignores_sentences_of_earlier_decisions(text: str) -> None:
    assert parse_sentences(text) == [Sentence(["盗窃罪"], 1)]


def test_parse_sentences_does_not_mistake_a_surname_for_an_earlier_conviction() -> None:
    people = parse_sentences("被告人曾某犯盗窃罪，判处拘役一个月。被告人原某犯盗窃罪，判处拘役二个月。")
    assert [one.months for one in people] == [1, 2]
