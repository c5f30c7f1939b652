import pytest

GOLD = {
    "title": "On kites", "abstract": "Kites fly.", "pr_title": "Fly!",
    "pr_summary": "Kites fly well when the wind is warm. Children like them.",
}  # fmt: skip
ANSWER = "Kites fly high when the wind is warm. Many children like to see them."
MEASURES = ("rouge_l", "bertscore", "cli", "fkgl", "dcrs")
SYLLABLES = {"children": 2, "many": 2}


async def test_article_merge_prompt_contains_all_measures(judge, probe_of, marks_of, encoders) -> None:
    chat = judge(merge_article={"score": 8})
    found = await marks_of(
        probe_of("scitechnews", GOLD, "Report on kites"),
        ANSWER,
        chat,
        encoders=encoders,
        syllables=SYLLABLES,
    )
    assert list(found) != [] and set(found) == {
        (name, "standard") for name in ("integrated", "rouge_l", "bertscore[words,L1]", "cli", "fkgl", "dcrs")
    }
    assert found["integrated", "standard"].value == 8
    # "kites fly when the wind is warm children like them" is common: 10 of 14 words said, 10 of 11 wanted.
    assert found["rouge_l", "standard"].value == pytest.approx(2 * 10 / (14 + 11))
    [shown] = chat.fields("merge_article")
    assert shown["source"] == "Report on kites" and shown["gold"] == GOLD["pr_summary"]
    for name in MEASURES:
        value = next(mark.value for mark in found.values() if mark.metric.partition("[")[0] == name)
        assert shown[name] == f"{value:.2f}"
