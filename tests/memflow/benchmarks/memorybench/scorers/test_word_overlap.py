import pytest

STORY = "the hound ran home"


async def test_meteor_score_counts_synonyms_as_matches(probe_of, marks_of, synonyms) -> None:
    probe = probe_of("writingprompts", "the dog ran home")
    found = await marks_of(probe, STORY, synonyms=synonyms)
    # All four words match, in one run: 1 - 0.5 * (1/4)**3.
    assert {row: mark.value for row, mark in found.items()} == {
        ("meteor", "standard"): pytest.approx(1 - 0.5 / 64)
    }
    both = await marks_of(probe, STORY, synonyms=synonyms, published=True)
    assert set(both) == {("meteor", "standard"), ("meteor", "published_code")}


async def test_meteor_score_without_wordnet_has_a_separate_metric_name(probe_of, marks_of) -> None:
    for published in (False, True):
        found = await marks_of(probe_of("writingprompts", "the dog ran home"), STORY, published=published)
        assert set(found) == {("meteor", "standard"), ("meteor_nowordnet", "standard")}
        assert "WordNet" in found["meteor", "standard"].reason
        # Three words of four, in two runs: 0.75 * (1 - 0.5 * (2/3)**3).
        assert found["meteor_nowordnet", "standard"].value == pytest.approx(0.75 * (1 - 0.5 * 8 / 27))


async def test_published_code_variant_of_rouge_l_exists_for_lexeval_only(probe_of, marks_of) -> None:
    found = await marks_of(probe_of("lexeval_qa", "管辖权错误"), "管辖错误", published=True)
    assert found["rouge_l", "published_code"].value == pytest.approx(0.499999995, abs=1e-9)
    assert found["rouge_l", "standard"].value == pytest.approx(0.5, abs=0.2)
    assert set(await marks_of(probe_of("lexeval_qa", "管辖权错误"), "管辖错误")) == {("rouge_l", "standard")}
    assert set(await marks_of(probe_of("sample_open", "a b"), "a b", published=True)) == {
        ("rouge_l", "standard")
    }
