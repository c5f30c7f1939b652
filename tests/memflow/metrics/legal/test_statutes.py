import pytest
from hypothesis import given
from hypothesis import strategies as st
from legal_judgments import format_articles

from memflow.metrics.legal.statutes import cited_articles


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
def test_only_articles_of_criminal_law_are_cited(text: str, cited: set[str]) -> None:
    assert cited_articles(text) == cited


ARTICLE = st.integers(1, 452).map(str)


@given(st.lists(ARTICLE | ARTICLE.map("{}-1".format), min_size=1, max_size=12))
def test_formatted_articles_are_found_again(names: list[str]) -> None:
    assert cited_articles(f"依照《中华人民共和国刑法》{format_articles(*names)}之规定") == set(names)
