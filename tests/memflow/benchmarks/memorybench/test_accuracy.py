import pytest

from memflow.benchmarks.memorybench.accuracy import exact


@pytest.mark.parametrize(
    ("answer", "gold", "same"),
    [
        ("Chandler", "chandler", True),
        (" Chandler. ", "Chandler", True),
        ("Chandler", "Chandler.", False),
        ("Chandler Bing", "Chandler", False),
        ("", "Chandler", False),
    ],
)
def test_exact_words_may_differ_in_case_and_a_full_stop(answer: str, gold: str, same: bool) -> None:
    assert exact(answer, gold) == same
